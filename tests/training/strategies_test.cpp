// Communication strategies between several ranks. Run below mpirun; every rank runs every test.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <thread>

#include "gradwatt/planning/collectives/one_bit.hpp"
#include "gradwatt/planning/collectives/ring.hpp"
#include "gradwatt/planning/collectives/two_level.hpp"
#include "gradwatt/training/strategies/strategy.hpp"
#include "tests/training/below_mpirun.hpp"

namespace gradwatt::training {
namespace {

torch::Tensor random_of(int rank, int step, std::int64_t count, at::ScalarType type) {
  auto generator = at::detail::createCPUGenerator(static_cast<std::uint64_t>(1000 * step + rank));
  return at::randn({count}, generator, at::TensorOptions(type));
}

/// Parameters whose gradients the test makes itself, and a training around them.
struct Training {
  NamedTensors parameters;
  OptimizerSpec rule{.name = "sgd", .momentum = 0.9, .weight_decay = 0.01};
  std::unique_ptr<Optimizer> optimizer;
  LossScaler scaler{{.enabled = false}};
  std::unique_ptr<Strategy> strategy;
  StepPlace place{.updates_in_epoch = 8, .rate = 0.1};

  explicit Training(const StrategySpec& spec, at::ScalarType type = at::kDouble, double momentum = 0.9) {
    rule.momentum = momentum;
    for (const std::int64_t count : {300, 7, 1000, 64, 1})
      parameters.emplace_back(std::to_string(count), at::linspace(-1, 1, count, at::TensorOptions(type)));
    for (auto& [name, parameter] : parameters) {
      parameter.requires_grad_(true);
      parameter.mutable_grad() = at::zeros_like(parameter);
    }
    optimizer = make_optimizer(rule, parameters).value();
    strategy =
        make_strategy(
            *ranks, spec,
            {.parameters = parameters, .options = {.overlap = false}, .optimizer = rule, .stepped = optimizer.get()})
            .value();
  }

  static constexpr std::int64_t kElements = 300 + 7 + 1000 + 64 + 1;

  /// One update with `gradient(rank)` as this rank's gradients, flat.
  bool step(const torch::Tensor& gradient) {
    const torch::NoGradGuard no_grad;
    std::int64_t at = 0;
    for (auto& [name, parameter] : parameters) {
      parameter.mutable_grad().copy_(gradient.narrow(0, at, parameter.numel()));
      at += parameter.numel();
    }
    strategy->begin_step(place);
    soundness = strategy->finish();
    UpdateGuard guard;
    if (soundness.agreed) guard.overflow = soundness.bad_rank >= 0;
    const bool applied = strategy->update({*optimizer, scaler, guard, place.rate});
    ++place.updates_before;
    if (++place.update == place.updates_in_epoch) place.update = 0, ++place.epoch;
    return applied;
  }

  [[nodiscard]] torch::Tensor gradients() const {
    std::vector<torch::Tensor> all;
    for (const auto& [name, parameter] : parameters) all.push_back(parameter.grad().clone());
    return at::cat(all);
  }
  [[nodiscard]] torch::Tensor values() const {
    std::vector<torch::Tensor> all;
    for (const auto& [name, parameter] : parameters) all.push_back(parameter.detach().clone());
    return at::cat(all);
  }
  Soundness soundness;
};

/// Pulls on the parameters like a loss would: g = w − target of that rank and step.
torch::Tensor pull(const Training& training, int step, int rank) {
  const auto values = training.values();
  return values - random_of(rank, step, values.numel(), values.scalar_type());
}
torch::Tensor pull(const Training& training, int step) { return pull(training, step, ranks->rank()); }

torch::Tensor mean_over_ranks(const torch::Tensor& own) {
  auto sum = own.to(at::kDouble).contiguous().clone();
  ranks->all_reduce(std::span(sum.data_ptr<double>(), static_cast<std::size_t>(sum.numel())), Sum::sum);
  return sum / ranks->size();
}

bool same_on_all_ranks(const torch::Tensor& own) {
  const auto zero = own.clone().contiguous();
  ranks->broadcast({static_cast<std::byte*>(zero.data_ptr()), zero.nbytes()}, 0);
  return ranks->least(own.equal(zero) ? 1 : 0) == 1;
}

double worst(const torch::Tensor& a, const torch::Tensor& b) { return (a - b).abs().max().item<double>(); }

/// All ranks on one host, hosts of one and of two ranks.
std::vector<std::int64_t> ways_to_share_hosts() {
  std::vector<std::int64_t> ways{1, ranks->size()};
  if (ranks->size() == 4) ways.push_back(2);
  return ways;
}

/// Mean over the ranks of what they sent in `updates` updates is what the cost model says, to the byte.
void expect_as_planned(const Counters& own, const planning::CollectiveCost& an_update, double updates) {
  std::vector<std::int64_t> sent{own.node.messages, own.node.bytes, own.network.messages, own.network.bytes};
  ranks->all_reduce(std::span(sent), Sum::sum);
  const std::vector<double> planned{an_update.node.messages, an_update.node.bytes, an_update.network.messages,
                                    an_update.network.bytes};
  for (std::size_t i = 0; i < sent.size(); ++i)
    EXPECT_NEAR(static_cast<double>(sent[i]), planned[i] * updates * ranks->size(), 1e-6) << i;
}

TEST(AllReduceStrategy, IsTheMeanGradient) {
  Training training({});
  for (int step = 0; step < 3; ++step) {
    const auto gradient = pull(training, step);
    const auto mean = mean_over_ranks(gradient);
    EXPECT_FALSE(training.strategy->counters().has_value()) << "a library sends";
    training.step(gradient);
    EXPECT_LE(worst(training.gradients(), mean), 1e-14);
  }
  EXPECT_TRUE(same_on_all_ranks(training.values()));
}

TEST(TwoLevel, OnWholeNumbersIsBitwiseTheFlatSum) {
  for (const auto ranks_per_host : ways_to_share_hosts())
    for (const auto type : {at::kFloat, at::kDouble}) {
      Training training({.name = StrategyName::two_level, .ranks_per_host = ranks_per_host}, type);
      const auto gradient = random_of(ranks->rank(), 1, Training::kElements, type).mul(1000).round();
      training.step(gradient);
      const auto sum = mean_over_ranks(gradient * ranks->size()).to(type);
      EXPECT_TRUE(training.gradients().equal(sum * (1.0 / ranks->size()))) << ranks_per_host;
    }
}

TEST(TwoLevel, IsTheMeanToRoundingAndBitwiseTheSameOnAllRanks) {
  for (const auto ranks_per_host : ways_to_share_hosts()) {
    Training training({.name = StrategyName::two_level, .ranks_per_host = ranks_per_host});
    for (int step = 0; step < 3; ++step) {
      const auto gradient = pull(training, step);
      training.step(gradient);
      EXPECT_LE(worst(training.gradients(), mean_over_ranks(gradient)), 1e-14);
      EXPECT_TRUE(same_on_all_ranks(training.gradients()));
    }
  }
}

TEST(TwoLevel, SendsWhatItsCostModelSays) {
  for (const auto ranks_per_host : ways_to_share_hosts()) {
    Training training({.name = StrategyName::two_level, .ranks_per_host = ranks_per_host});
    for (int step = 0; step < 3; ++step) training.step(pull(training, step));
    const planning::Shape shape{.nodes = static_cast<int>(ranks->size() / ranks_per_host),
                                .gpus_per_node = static_cast<int>(ranks_per_host)};
    expect_as_planned(*training.strategy->counters(),
                      planning::two_level_sharded(shape, 8 * Training::kElements, {}, {}), 3);
    expect_as_planned(*training.strategy->counters(), training.strategy->cost({}, {}), 3);
  }
}

TEST(TwoLevel, HostsOfDifferentSizeAreRefusedWithTheReason) {
  if (ranks->size() % 2 == 0 && ranks->size() < 4) GTEST_SKIP() << "two ranks make equal hosts";
  Training any({});
  const auto made = make_strategy(*ranks, {.name = StrategyName::two_level, .ranks_per_host = ranks->size() - 1},
                                  {.parameters = any.parameters});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("as many ranks on each host"), std::string::npos) << made.error().message;
}

StrategySpec one_bit(std::int64_t plain_updates = 0, std::int64_t ranks_per_host = 0) {
  return {.name = StrategyName::one_bit, .ranks_per_host = ranks_per_host, .plain_updates = plain_updates};
}

/// mean of worker residuals + the servers' residuals, flat in the order of the bucket.
torch::Tensor residuals_of(const Training& training) {
  const auto state = training.strategy->state();
  auto held = mean_over_ranks(state[1].second);
  auto server = at::zeros_like(held);
  const auto& own = state[2].second;
  const auto block = 8 * ranks->size();
  const auto chunk = (held.numel() + block - 1) / block * block / ranks->size();
  server.narrow(0, std::min(ranks->rank() * chunk, held.numel()), own.numel()).copy_(own);
  return held + mean_over_ranks(server) * ranks->size();
}

/// The bucket holds the parameters last first.
torch::Tensor in_bucket_order(const Training& training, const torch::Tensor& flat) {
  std::vector<torch::Tensor> pieces;
  std::int64_t at = 0;
  for (const auto& [name, parameter] : training.parameters) {
    pieces.push_back(flat.narrow(0, at, parameter.numel()));
    at += parameter.numel();
  }
  std::ranges::reverse(pieces);
  return at::cat(pieces);
}

TEST(OneBit, WhatIsAppliedAndWhatIsHeldBackAreAllMeanGradients) {
  Training training(one_bit());
  auto applied = at::zeros({Training::kElements}, at::kDouble), given = applied.clone();
  for (int step = 0; step < 20; ++step) {
    const auto gradient = random_of(ranks->rank(), step, Training::kElements, at::kDouble);
    given += mean_over_ranks(gradient);
    training.step(gradient);
    applied += training.gradients();
    EXPECT_LE(worst(in_bucket_order(training, applied) + residuals_of(training), in_bucket_order(training, given)),
              1e-13)
        << step;
  }
  EXPECT_TRUE(same_on_all_ranks(training.values()));
}

TEST(OneBit, SendsWhatItsCostModelSays) {
  for (const auto ranks_per_host : ways_to_share_hosts())
    for (const auto type : {at::kFloat, at::kDouble}) {
      Training training(one_bit(0, ranks_per_host), type);
      for (int step = 0; step < 3; ++step) training.step(pull(training, step));
      expect_as_planned(*training.strategy->counters(), training.strategy->cost({}, {}), 3);
      if (type != at::kFloat) continue;
      const planning::Shape shape{.nodes = static_cast<int>(ranks->size() / ranks_per_host),
                                  .gpus_per_node = static_cast<int>(ranks_per_host)};
      expect_as_planned(*training.strategy->counters(),
                        planning::one_bit_all_reduce(shape, 4 * Training::kElements, {}, {}), 3);
    }
}

TEST(OneBit, ItsFirstUpdatesAreThePlainMeanAndCostARing) {
  Training training(one_bit(2));
  for (int step = 0; step < 2; ++step) {
    const auto gradient = pull(training, step);
    training.step(gradient);
    EXPECT_LE(worst(training.gradients(), mean_over_ranks(gradient)), 1e-14);
  }
  const planning::CollectiveCost ring{.node = planning::ring_all_reduce(ranks->size(), 8 * Training::kElements, {})};
  expect_as_planned(*training.strategy->counters(), ring, 2);
  training.step(pull(training, 2));
  EXPECT_GT(training.strategy->state()[1].second.abs().sum().item<double>(), 0);
}

TEST(OneBit, AValueThatIsNotFiniteIsNamedEverywhereAndLeavesResidualsAndWeightsAlone) {
  Training training(one_bit());
  training.step(pull(training, 0));
  const auto values = training.values();
  const auto held = residuals_of(training);
  const auto sent = *training.strategy->counters();
  auto gradient = pull(training, 1);
  const int culprit = ranks->size() - 1;
  if (ranks->rank() == culprit) gradient[42] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(training.step(gradient));
  EXPECT_EQ(training.soundness.bad_rank, culprit);
  EXPECT_TRUE(training.values().equal(values));
  EXPECT_TRUE(residuals_of(training).equal(held));
  EXPECT_EQ(*training.strategy->counters(), sent) << "nothing was sent";
  EXPECT_TRUE(training.step(pull(training, 2)));
}

TEST(OneBit, ResidualsKeepTheirLengthAsAStepWhenTheRateChanges) {
  Training training(one_bit());
  training.step(pull(training, 0));
  const auto held = residuals_of(training);
  training.place.rate = 0.05;
  const auto gradient = random_of(ranks->rank(), 1, Training::kElements, at::kDouble);
  training.step(gradient);
  const auto applied = in_bucket_order(training, training.gradients());
  const auto given = in_bucket_order(training, mean_over_ranks(gradient)) + held * 2;
  EXPECT_LE(worst(applied + residuals_of(training), given), 1e-13);
}

TEST(OneBit, GoesWhereThePlainMeanGoes) {
  Training training(one_bit(), at::kDouble, 0);
  auto target = at::zeros({Training::kElements}, at::kDouble);
  for (int r = 0; r < ranks->size(); ++r) target += random_of(r, 7, Training::kElements, at::kDouble) / ranks->size();
  const double before = (training.values() - target).norm().item<double>();
  training.place.rate = 0.03;  // what is held back moves the parameters around their goal by so much
  for (int step = 0; step < 200; ++step) training.step(pull(training, 7));
  EXPECT_LT((training.values() - target).norm().item<double>(), 0.1 * before);
}

StrategySpec local_sgd(std::int64_t period, std::int64_t plain_updates = 0) {
  return {.name = StrategyName::local_sgd, .plain_updates = plain_updates, .period = period};
}

/// Both go the same way under the same pulls, momentum and weight decay included.
void expect_synchronous(Training& training, double tolerance) {
  Training synchronous({});
  for (int step = 0; step < 25; ++step) {
    training.step(pull(training, step));
    synchronous.step(pull(synchronous, step));
    EXPECT_LE(worst(training.values(), synchronous.values()), tolerance) << step;
  }
}

TEST(LocalSgd, ThatMeetsAfterEveryUpdateIsSynchronousSgd) {
  Training training(local_sgd(1));
  expect_synchronous(training, 1e-13);
}

TEST(LocalSgd, PostLocalIsSynchronousUntilItsFirstUpdatesAreDone) {
  Training training(local_sgd(4, 25));
  expect_synchronous(training, 1e-13);
  training.step(pull(training, 25));
  EXPECT_FALSE(same_on_all_ranks(training.values()));
}

TEST(LocalSgd, RanksPartAndMeetAtTheMeanOfTheirParameters) {
  Training training(local_sgd(3));
  for (int step = 0; step < 6; ++step) {
    EXPECT_EQ(training.strategy->keeps_ranks_equal(), step % 3 == 0);
    training.step(pull(training, step));
    EXPECT_EQ(same_on_all_ranks(training.values()), step % 3 == 2);
  }
  training.step(pull(training, 6));
  const auto mean = mean_over_ranks(training.values());
  ASSERT_TRUE(training.strategy->settle());
  EXPECT_LE(worst(training.values(), mean), 1e-15);
  EXPECT_TRUE(same_on_all_ranks(training.values()));
}

TEST(LocalSgd, SendsWhatItsCostModelSays) {
  for (const std::int64_t period : {1, 4}) {
    Training training(local_sgd(period));
    for (int step = 0; step < 8; ++step) training.step(pull(training, step));
    expect_as_planned(*training.strategy->counters(), training.strategy->cost({}, {}), 8);
    ASSERT_TRUE(training.strategy->settle());
    expect_as_planned(*training.strategy->counters(), training.strategy->cost({}, {}), 8);
  }
}

TEST(LocalSgd, ARankThatWentToWhatIsNotFiniteIsNamedOnAllBeforeItIsSent) {
  Training training(local_sgd(2));
  auto gradient = pull(training, 0);
  if (ranks->rank() == 1) gradient[3] = std::numeric_limits<double>::infinity();
  training.step(gradient);
  const auto sent = *training.strategy->counters();
  const auto settled = training.strategy->settle();
  ASSERT_FALSE(settled);
  EXPECT_NE(settled.error().message.find("rank 1"), std::string::npos) << settled.error().message;
  EXPECT_EQ(*training.strategy->counters(), sent);
}

StrategySpec stale(std::int64_t staleness, std::int64_t ranks_per_host = 0) {
  return {.name = StrategyName::stale_synchronous, .ranks_per_host = ranks_per_host, .staleness = staleness};
}

TEST(StaleSynchronous, WithoutStalenessIsSynchronousSgd) {
  Training training(stale(0));
  expect_synchronous(training, 1e-13);
  EXPECT_TRUE(same_on_all_ranks(training.values()));
}

TEST(StaleSynchronous, AsksNobodyToWaitWhileItMayBeAheadAndMeetsAtTheEnd) {
  Training training(stale(2));
  for (int step = 0; step < 10; ++step) {
    if (ranks->rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    training.step(pull(training, step));
  }
  ASSERT_TRUE(training.strategy->settle());
  EXPECT_TRUE(same_on_all_ranks(training.values()));
}

TEST(StaleSynchronous, GoesWhereTheMeanGoesAlsoWhenItsGradientsAreOld) {
  Training training(stale(2), at::kDouble, 0);
  auto target = at::zeros({Training::kElements}, at::kDouble);
  for (int r = 0; r < ranks->size(); ++r) target += random_of(r, 7, Training::kElements, at::kDouble) / ranks->size();
  for (int step = 0; step < 150; ++step) training.step(pull(training, 7));
  ASSERT_TRUE(training.strategy->settle());
  EXPECT_LT(worst(training.values(), target), 0.1);
}

TEST(StaleSynchronous, SendsWhatItsCostModelSays) {
  for (const auto ranks_per_host : ways_to_share_hosts())
    for (const std::int64_t staleness : {0, 2}) {
      Training training(stale(staleness, ranks_per_host));
      for (int step = 0; step < 4; ++step) training.step(pull(training, step));
      ranks->barrier();  // a server counts when it answers
      expect_as_planned(*training.strategy->counters(), training.strategy->cost({}, {}), 4);
      ASSERT_TRUE(training.strategy->settle());
    }
}

TEST(StaleSynchronous, AnUpdateThatOneRankFoundUnsoundIsLeftOutOnAll) {
  Training training(stale(0));
  training.step(pull(training, 0));
  const auto before = training.values();
  auto gradient = pull(training, 1);
  if (ranks->rank() == 1) gradient[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(training.step(gradient));
  EXPECT_TRUE(training.values().equal(before));
  EXPECT_TRUE(training.step(pull(training, 2)));
  EXPECT_FALSE(training.values().equal(before));
  ASSERT_TRUE(training.strategy->settle());
}

StrategySpec daso(std::int64_t ranks_per_host, std::int64_t warmup_epochs) {
  return {.name = StrategyName::daso,
          .ranks_per_host = ranks_per_host,
          .warmup_epochs = warmup_epochs,
          .cooldown_epochs = 0};
}

TEST(Daso, ThatExchangesEveryBatchAndWaitsIsSynchronousSgd) {
  for (const auto ranks_per_host : ways_to_share_hosts()) {
    Training training(daso(ranks_per_host, 1000));
    training.place.epochs = 1000;
    expect_synchronous(training, 1e-13);
    EXPECT_TRUE(training.strategy->keeps_ranks_equal());
    EXPECT_TRUE(same_on_all_ranks(training.values()));
  }
}

TEST(Daso, BetweenExchangesHostsPartTheirRanksDoNotAndTheLastBatchBringsAllTogether) {
  for (const auto ranks_per_host : ways_to_share_hosts()) {
    Training training(daso(ranks_per_host, 0));
    training.place.epochs = 100;
    const bool many_hosts = ranks_per_host < ranks->size();
    for (int step = 0; step < 16; ++step) {
      training.step(pull(training, step));
      EXPECT_EQ(same_on_all_ranks(training.values()), step % 8 == 7 || !many_hosts) << step;
      const auto all = ranks->all_gather(std::to_string(training.values().sum().item<double>()));
      const auto first = static_cast<std::size_t>(ranks->rank() / ranks_per_host * ranks_per_host);
      EXPECT_EQ(all[first], all[static_cast<std::size_t>(ranks->rank())]) << "ranks of a host";
    }
  }
}

TEST(Daso, SendsWhatItsCostModelSays) {
  for (const auto ranks_per_host : ways_to_share_hosts())
    for (const std::int64_t warmup_epochs : {0, 1}) {
      Training training(daso(ranks_per_host, warmup_epochs));
      training.place.updates_in_epoch = 100;
      training.place.epochs = 2;
      for (int step = 0; step < 8; ++step) training.step(pull(training, step));
      expect_as_planned(*training.strategy->counters(), training.strategy->cost({}, {}), 8);
      ASSERT_TRUE(training.strategy->settle());
      EXPECT_TRUE(same_on_all_ranks(training.values()));
    }
}

TEST(Daso, WhatIsNotFiniteIsNamedOnAllBeforeItLeavesItsHost) {
  Training training(daso(1, 1000));
  training.place.epochs = 1000;
  const auto before = training.values();
  auto gradient = pull(training, 0);
  if (ranks->rank() == 1) gradient[3] = std::numeric_limits<double>::quiet_NaN();
  training.step(gradient);
  EXPECT_EQ(training.soundness.bad_rank, 1);
  EXPECT_LE(worst(training.values(), before), 1e-15) << "left out by all";
}

TEST(Daso, HostsOfDifferentSizeAreRefusedWithTheReason) {
  if (ranks->size() == 2) GTEST_SKIP() << "two ranks make equal hosts";
  Training any({});
  const auto made = make_strategy(*ranks, daso(ranks->size() - 1, 0), {.parameters = any.parameters});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("as many ranks on each host"), std::string::npos) << made.error().message;
}

}  // namespace
}  // namespace gradwatt::training

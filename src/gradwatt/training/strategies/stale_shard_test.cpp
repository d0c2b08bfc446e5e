#include "gradwatt/training/strategies/stale_shard.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace gradwatt::training {
namespace {

const OptimizerSpec kRule{.name = "sgd", .momentum = 0.9, .weight_decay = 0.01};

NamedTensors start() { return {{"w", at::linspace(-1, 1, 5, at::kDouble)}, {"b", at::ones({2}, at::kDouble)}}; }

StaleShard shard_of(int workers, std::int64_t staleness, const OptimizerSpec& rule = kRule) {
  return std::move(StaleShard::create(start(), rule, workers, staleness).value());
}

/// Pull of a worker's data in an update.
torch::Tensor gradient(const torch::Tensor& seen, int worker, std::int64_t update) {
  return seen - 0.1 * static_cast<double>(worker) - 0.01 * static_cast<double>(update);
}

/// Workers on a made schedule: in each turn one of those that may go on, drawn by weight, computes an update on what it
/// read last, pushes it and, as soon as it may, reads again.
struct Workers {
  StaleShard shard;
  std::vector<std::int64_t> done;
  std::vector<torch::Tensor> seen;
  std::vector<std::int64_t> seen_version;
  std::map<std::int64_t, int> staleness;  // of the updates: how many

  Workers(StaleShard s, int count)
      : shard(std::move(s)),
        done(static_cast<std::size_t>(count), 0),
        seen(static_cast<std::size_t>(count), shard.values().clone()),
        seen_version(static_cast<std::size_t>(count), 0) {}

  bool turn(std::size_t worker) {
    if (!shard.may_compute(done[worker])) return false;
    seen[worker] = shard.values().clone();
    seen_version[worker] = shard.version();
    ++staleness[done[worker] - seen_version[worker]];
    shard.push(static_cast<int>(worker),
               {.rate = 0.1, .gradient = gradient(seen[worker], static_cast<int>(worker), done[worker])});
    ++done[worker];
    return true;
  }

  void run(const std::vector<double>& speeds, int turns) {
    std::mt19937 random(5);
    std::discrete_distribution<std::size_t> next(speeds.begin(), speeds.end());
    for (int t = 0; t < turns; ++t) {
      turn(next(random));
      const auto [least, most] = std::ranges::minmax_element(done);
      EXPECT_EQ(shard.version(), *least) << "whole updates, in order, at once";
      largest_lead = std::max(largest_lead, *most - *least);
    }
  }
  std::int64_t largest_lead = 0;
};

TEST(StaleShard, WithoutStalenessIsSynchronousSgdWhateverTheOrderOfTheWorkers) {
  Workers workers(shard_of(3, 0), 3);
  workers.run({8, 2, 1}, 400);
  const auto updates = workers.shard.version();
  ASSERT_GT(updates, 20);

  NamedTensors alone{{"all", at::cat({start()[0].second, start()[1].second})}};
  auto optimizer = make_optimizer(kRule, alone).value();
  alone[0].second.set_requires_grad(true);
  const torch::NoGradGuard no_grad;
  for (std::int64_t update = 0; update < updates; ++update) {
    auto mean = at::zeros({7}, at::kDouble);
    for (int worker = 0; worker < 3; ++worker) mean += gradient(alone[0].second, worker, update);
    alone[0].second.mutable_grad() = mean * (1.0 / 3);
    optimizer->step(0.1);
  }
  EXPECT_TRUE(workers.shard.values().equal(alone[0].second));
  EXPECT_EQ(workers.staleness.size(), 1U) << "every update saw all before it";
}

TEST(StaleShard, NoWorkerIsFurtherAheadOfWhatItReadThanAllowed) {
  for (const std::int64_t staleness : {1, 3}) {
    Workers workers(shard_of(4, staleness), 4);
    workers.run({20, 5, 5, 1}, 2000);
    for (const auto& [tau, count] : workers.staleness) {
      EXPECT_GE(tau, 0);
      EXPECT_LE(tau, staleness);
    }
    EXPECT_GT(workers.staleness[staleness], 0) << "the fast one used what it may";
    EXPECT_EQ(workers.largest_lead, staleness + 1) << "its last update may wait for the others";
  }
}

TEST(StaleShard, OneWorkerIsPlainSgdHoweverStaleItMayBe) {
  Workers stale(shard_of(1, 5), 1), fresh(shard_of(1, 0), 1);
  for (int update = 0; update < 30; ++update) EXPECT_TRUE(stale.turn(0) && fresh.turn(0));
  EXPECT_TRUE(stale.shard.values().equal(fresh.shard.values()));
}

TEST(StaleShard, AnUpdateThatOneWorkerFoundUnsoundIsLeftOutAndTheNextIsNot) {
  auto shard = shard_of(2, 0);
  const auto before = shard.values().clone();
  shard.push(0, {.rate = 0.1, .gradient = at::ones({7}, at::kDouble)});
  shard.push(1, {.rate = 0.1, .sound = false, .gradient = at::ones({7}, at::kDouble)});
  EXPECT_TRUE(shard.values().equal(before));
  EXPECT_EQ(shard.left_out(), 1);
  EXPECT_EQ(shard.version(), 1);
  for (const int worker : {1, 0}) shard.push(worker, {.rate = 0.1, .gradient = at::ones({7}, at::kDouble)});
  EXPECT_FALSE(shard.values().equal(before));
}

}  // namespace
}  // namespace gradwatt::training

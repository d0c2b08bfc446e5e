// A stale-synchronous parameter server on the ranks themselves: each serves whole parameters, about as many values as
// the others, on a thread of its own (stale_shard.hpp), and trains. A rank pushes its gradients to all shards and goes
// on with what they answer, at once while it is at most s updates ahead, else when the others have caught up.
//
// s = 0 is synchronous SGD with the optimizer divided over the ranks. With s > 0 no two runs are the same.
// Cost: sharded_parameter_server_update() in planning/collectives/asynchronous.hpp.
#include <ATen/ATen.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "gradwatt/planning/collectives/asynchronous.hpp"
#include "gradwatt/training/strategies/agreement.hpp"
#include "gradwatt/training/strategies/makers.hpp"
#include "gradwatt/training/strategies/rings.hpp"
#include "gradwatt/training/strategies/stale_shard.hpp"
#include "gradwatt/training/strategies/statistics.hpp"

namespace gradwatt::training {
namespace {

using namespace std::chrono_literals;

constexpr int kPushLane = 0, kAnswerLane = 1, kSettleLane = 2;
constexpr auto kServerSleep = 100us;  // between two looks of an idle server: about what a small message takes

struct PushHeader {
  double rate = 0;
  std::int64_t sound = 1;
};
struct AnswerHeader {
  std::int64_t version = 0, left_out = 0;
};
static_assert(sizeof(PushHeader) == planning::kServerHeaderBytes);
static_assert(sizeof(AnswerHeader) == planning::kServerHeaderBytes);

using Bytes = std::vector<std::byte>;

template <class Header>
void write(Bytes& message, const Header& header, const torch::Tensor& flat) {
  const auto data = bytes_of(flat);
  message.resize(sizeof header + data.size());
  std::memcpy(message.data(), &header, sizeof header);
  std::ranges::copy(data, message.begin() + sizeof header);
}
template <class Header>
Header read(const Bytes& message, const torch::Tensor& flat) {
  Header header;
  std::memcpy(&header, message.data(), sizeof header);
  std::copy(message.begin() + sizeof header, message.end(), bytes_of(flat).begin());
  return header;
}

/// This rank's shard and the thread that serves it.
class Server {
 public:
  Server(Communicator& ranks, const HostLayout& layout, StaleShard shard)
      : ranks_(ranks),
        courier_(ranks, layout, kAnswerLane),
        shard_(std::move(shard)),
        thread_([this](auto stop) { serve(stop); }) {}

  /// This rank's own push.
  void push_own(const PushHeader& header, const torch::Tensor& gradient) {
    const std::lock_guard lock(mutex_);
    take(ranks_.rank(), header, gradient);
  }
  /// Its answer, as soon as it may go on with update `next`.
  AnswerHeader wait_own(std::int64_t next, const torch::Tensor& values) {
    std::unique_lock lock(mutex_);
    advanced_.wait(lock, [&] { return shard_.may_compute(next); });
    values.copy_(shard_.values());
    return {shard_.version(), shard_.left_out()};
  }

  /// Nothing is under way.
  StaleShard& shard() { return shard_; }
  [[nodiscard]] Counters counters() const {
    const std::lock_guard lock(mutex_);
    return courier_.counters();
  }

 private:
  void serve(const std::stop_token& stop) {
    try {
      while (!stop.stop_requested())
        if (!receive_one() && !answer_one()) std::this_thread::sleep_for(kServerSleep);
      while (answer_one()) {  // this rank has what it needs, others may still wait
      }
    } catch (const std::exception& error) {  // would end the process without a word
      ranks_.fail(error.what());
    }
  }

  bool receive_one() {
    const auto worker = ranks_.sender_waiting(kPushLane);
    if (!worker) return false;
    auto gradient = at::empty({shard_.numel()}, shard_.type());
    message_.resize(sizeof(PushHeader) + gradient.nbytes());
    const Message in{*worker, message_};
    ranks_.exchange(kPushLane, {}, {&in, 1});
    const auto header = read<PushHeader>(message_, gradient);
    const std::lock_guard lock(mutex_);
    next_[*worker] = ++pushed_[*worker];
    take(*worker, header, gradient);
    return true;
  }

  /// To a worker that waits and may go on.
  bool answer_one() {
    std::unique_lock lock(mutex_);
    const auto found = std::ranges::find_if(next_, [&](const auto& entry) { return shard_.may_compute(entry.second); });
    if (found == next_.end()) return false;
    const int worker = found->first;
    next_.erase(found);
    write(message_, AnswerHeader{shard_.version(), shard_.left_out()}, shard_.values());
    courier_.count({worker, message_});
    lock.unlock();  // this rank's own worker need not wait for the other one's network
    const Message out{worker, message_};
    ranks_.exchange(kAnswerLane, {&out, 1}, {});
    return true;
  }

  void take(int worker, const PushHeader& header, const torch::Tensor& gradient) {
    shard_.push(worker, {.rate = header.rate, .sound = header.sound != 0, .gradient = gradient});
    advanced_.notify_all();
  }

  Communicator& ranks_;
  mutable std::mutex mutex_;  // guards the five below
  Courier courier_;
  StaleShard shard_;
  std::map<int, std::int64_t> next_;    // by waiting worker: the update it wants to compute
  std::map<int, std::int64_t> pushed_;  // by worker
  std::condition_variable advanced_;
  Bytes message_;  // of the thread
  std::jthread thread_;
};

/// Parameters by shard: the largest first, each to the shard that has least.
std::vector<NamedTensors> shards_of(const NamedTensors& parameters, int count) {
  std::vector<std::size_t> order(parameters.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater{}, [&](auto i) { return parameters[i].second.numel(); });
  std::vector<NamedTensors> shards(static_cast<std::size_t>(count));
  std::vector<std::int64_t> filled(shards.size(), 0);
  for (const auto i : order) {
    const auto least = std::ranges::min_element(filled) - filled.begin();
    shards[static_cast<std::size_t>(least)].push_back(parameters[i]);
    filled[static_cast<std::size_t>(least)] += parameters[i].second.numel();
  }
  return shards;
}

class StaleSynchronous final : public Strategy {
 public:
  StaleSynchronous(Communicator& ranks, const StrategySpec& spec, const StrategyParts& parts, StaleShard own)
      : ranks_(ranks),
        staleness_(spec.staleness),
        layout_(layout_of(ranks.peers(), spec.ranks_per_host)),
        courier_(ranks, layout_, kPushLane),
        settling_(ranks, layout_, kSettleLane),
        statistics_(parts.statistics),
        server_(ranks, layout_, std::move(own)) {
    for (const auto& shard : shards_of(parts.parameters, ranks.size())) shards_.emplace_back(shard);
  }

  void begin_step(const StepPlace& /*place*/) override {}

  /// Each rank for itself: the servers leave the update out when one of them says so.
  Soundness finish() override {
    bool finite = true;
    for (auto& shard : shards_) finite = all_finite(shard.take_gradients()) && finite;
    last_.exposed = last_.busy = core::Duration(0);
    return {.agreed = true, .bad_rank = finite ? -1 : ranks_.rank()};
  }

  bool update(const Updating& with) override {
    const torch::NoGradGuard no_grad;
    const auto begin = std::chrono::steady_clock::now();
    const PushHeader header{.rate = with.rate, .sound = with.guard.overflow.value_or(false) ? 0 : 1};
    const auto own = static_cast<std::size_t>(ranks_.rank());
    ++done_;
    server_.push_own(header, shards_[own].flat().clone());
    auto answer = exchange(header);
    const auto at_home = server_.wait_own(done_, shards_[own].flat());
    answer = {std::min(answer.version, at_home.version), std::max(answer.left_out, at_home.left_out)};
    for (auto& shard : shards_) shard.give_values();
    const bool applied = answer.left_out == left_out_;
    left_out_ = answer.left_out;
    last_.exposed = last_.busy = std::chrono::steady_clock::now() - begin;
    return applied;
  }

  /// Who has its answers has been heard by all servers: when all have, the shards hold all updates.
  core::Result<void> settle() override {
    const torch::NoGradGuard no_grad;
    ranks_.least(0);
    std::vector<int> all(shards_.size());
    std::iota(all.begin(), all.end(), 0);
    for (std::size_t k = 0; k < shards_.size(); ++k) {
      auto& flat = shards_[k].flat();
      if (static_cast<int>(k) == ranks_.rank()) server_.wait_own(done_ + staleness_, flat);
      if (staleness_ > 0 && flat.numel() > 0) binomial_broadcast(settling_, all, k, flat);
      if (staleness_ > 0) shards_[k].give_values();
    }
    average_statistics(ranks_, statistics_);
    return {};
  }
  [[nodiscard]] bool keeps_ranks_equal() const override { return staleness_ == 0; }

  [[nodiscard]] NamedTensors state() override { return state_ = server_.shard().optimizer().state(); }
  core::Result<void> resumed() override {
    auto& shard = server_.shard();
    shard.set_values(shards_[static_cast<std::size_t>(ranks_.rank())].take_values());
    return shard.optimizer().load(state_);
  }

  [[nodiscard]] GradientSync::Costs costs() const override { return with_counters(last_, *counters()); }
  [[nodiscard]] std::optional<Counters> counters() const override {
    auto sum = courier_.counters();
    sum += server_.counters();
    sum += settling_.counters();
    return sum;
  }
  [[nodiscard]] planning::CollectiveCost cost(const planning::Level& node, const planning::Level& rail) const override {
    double bytes = 0;
    for (const auto& shard : shards_) bytes += shard.bytes();
    return planning::sharded_parameter_server_update(layout_.shape(), bytes, node, rail);
  }

 private:
  /// Pushes and answers of all other shards at once: a server that answers never waits for one that pushes.
  AnswerHeader exchange(const PushHeader& header) {
    std::vector<Message> out, in;
    pushes_.resize(shards_.size());
    answers_.resize(shards_.size());
    for (std::size_t k = 0; k < shards_.size(); ++k) {
      const auto peer = static_cast<int>(k);
      if (peer == ranks_.rank()) continue;
      write(pushes_[k], header, shards_[k].flat());
      answers_[k].resize(pushes_[k].size());
      out.push_back({peer, pushes_[k]});
      in.push_back({peer, answers_[k]});
    }
    for (const auto& message : out) courier_.count(message);
    ranks_.exchange(kPushLane, out, in, kAnswerLane);
    AnswerHeader all{done_, 0};
    for (const auto& message : in) {
      const auto k = static_cast<std::size_t>(message.peer);
      const auto one = read<AnswerHeader>(answers_[k], shards_[k].flat());
      all = {std::min(all.version, one.version), std::max(all.left_out, one.left_out)};
    }
    return all;
  }

  Communicator& ranks_;
  std::int64_t staleness_;
  HostLayout layout_;
  Courier courier_, settling_;
  NamedTensors statistics_;
  std::vector<FlatTensors> shards_;  // by rank that serves them
  std::vector<Bytes> pushes_, answers_;
  std::int64_t done_ = 0, left_out_ = 0;
  NamedTensors state_;
  GradientSync::Costs last_;
  Server server_;  // last: its thread ends first
};

}  // namespace

Made make_stale_synchronous(Communicator& ranks, const StrategySpec& spec, StrategyParts parts) {
  const auto shards = shards_of(parts.parameters, ranks.size());
  if (std::ranges::any_of(shards, &NamedTensors::empty))
    return core::fail(
        core::Errc::wrong_use,
        "sync.strategy = \"stale-synchronous\" gives each rank some parameters to serve, and this model has "
        "fewer parameters than there are ranks");
  auto own =
      StaleShard::create(shards[static_cast<std::size_t>(ranks.rank())], parts.optimizer, ranks.size(), spec.staleness);
  if (!own) return core::fail(own.error());
  return std::make_unique<StaleSynchronous>(ranks, spec, parts, std::move(*own));
}

}  // namespace gradwatt::training

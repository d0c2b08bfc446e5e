// DASO: ranks of a host average gradients, hosts exchange parameters now and then (daso_schedule.hpp), one rank of each
// host at a time, in turn, and go on meanwhile. B = 1, S = 0 (the first epochs) is synchronous SGD to rounding, also
// with momentum and weight decay.
//
// Unlike the public code: all parameters that are trained travel, of any size, in the same form in both phases; batch-
// norm statistics are averaged when the ranks meet; each rank's momentum is part of the checkpoint; what is not finite
// is agreed on before anything is sent; one rank a host works. Cost: planning/collectives/daso.hpp.
#include <ATen/ATen.h>

#include <future>

#include "gradwatt/planning/collectives/daso.hpp"
#include "gradwatt/training/gradient_sync/flat_tensors.hpp"
#include "gradwatt/training/strategies/agreement.hpp"
#include "gradwatt/training/strategies/daso_schedule.hpp"
#include "gradwatt/training/strategies/makers.hpp"
#include "gradwatt/training/strategies/rings.hpp"
#include "gradwatt/training/strategies/statistics.hpp"

namespace gradwatt::training {
namespace {

using Exchange = DasoSchedule::Exchange;

std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }

class Daso final : public Strategy {
 public:
  Daso(Communicator& ranks, const StrategySpec& spec, HostLayout layout, StrategyParts parts)
      : ranks_(ranks),
        layout_(std::move(layout)),
        courier_(ranks, layout_, 0),
        between_(ranks, layout_, 1),
        host_(layout_.hosts[layout_.host_of(ranks.rank())]),
        place_in_host_(layout_.place_of(ranks.rank())),
        rail_(layout_.rail(place_in_host_)),
        parts_(std::move(parts)),
        flat_(parts_.parameters),
        schedule_({.warmup_epochs = spec.warmup_epochs,
                   .cooldown_epochs = spec.cooldown_epochs,
                   .most_skips = spec.most_skips}) {}

  ~Daso() override {
    if (under_way_.valid()) under_way_.wait();
  }

  void begin_step(const StepPlace& place) override {
    place_ = place;
    if (since_begin_ >= 0) ++since_begin_;
    decision_ = schedule_.decide(place.epoch, place.epochs, place.update, place.updates_in_epoch, since_begin_);
    if (hosts() == 1) decision_.exchange = Exchange::none;
  }

  Soundness finish() override {
    const torch::NoGradGuard no_grad;
    const auto begin = now();
    auto& flat = flat_.take_gradients();
    if (decision_.average_in_host && host_.size() > 1) {
      ring_all_reduce(courier_, host_, flat);
      flat.mul_(1.0 / static_cast<double>(host_.size()));
      flat_.give_gradients();
    }
    sound_ = sound_ && all_finite(flat);
    Soundness soundness;
    if (parts_.agree_each_step || decision_.exchange != Exchange::none) {
      soundness = agree(ranks_, sound_);
      sound_ = true;
    }
    last_.exposed = last_.busy = now() - begin;
    return soundness;
  }

  bool update(const Updating& with) override {
    const torch::NoGradGuard no_grad;
    const bool applied = Strategy::update(with);
    const auto begin = now();
    met_ = decision_.exchange == Exchange::wait || (hosts() == 1 && host_equal());
    if (decision_.merge) merge();
    if (decision_.exchange == Exchange::wait) meet();
    if (decision_.exchange == Exchange::begin) begin_exchange();
    last_.exposed += now() - begin;
    last_.busy = last_.exposed;
    return applied;
  }

  core::Result<void> settle() override {
    const torch::NoGradGuard no_grad;
    if (!met_) {
      if (const auto bad = agree(ranks_, sound_).bad_rank; bad >= 0) return not_finite(bad);
      if (since_begin_ >= 0) merge();
      meet();
      met_ = true;
    }
    average_statistics(ranks_, parts_.statistics);
    return {};
  }
  void epoch_ended(double mean_loss) override { schedule_.epoch_ended(place_.epoch, place_.epochs, mean_loss); }
  [[nodiscard]] bool keeps_ranks_equal() const override { return met_; }

  [[nodiscard]] NamedTensors state() override {
    numbers_ = at::cat({schedule_.state(), at::full({1}, static_cast<double>(exchanges_), at::kDouble)});
    auto state = parts_.stepped->state();
    state.emplace_back("daso", numbers_);
    return state;
  }
  core::Result<void> resumed() override {
    schedule_.set_state(numbers_);
    exchanges_ = static_cast<std::int64_t>(numbers_[numbers_.numel() - 1].item<double>());
    return {};
  }

  [[nodiscard]] GradientSync::Costs costs() const override { return with_counters(last_, *counters()); }
  [[nodiscard]] std::optional<Counters> counters() const override {
    auto sum = courier_.counters();
    sum += arrived_;
    return sum;
  }
  /// Of a batch of this epoch, its last one apart.
  [[nodiscard]] planning::CollectiveCost cost(const planning::Level& node, const planning::Level& rail) const override {
    return planning::daso_cost(layout_.shape(), flat_.bytes(), flat_.bytes(), node, rail,
                               schedule_.plan(place_.epoch, place_.epochs));
  }

 private:
  [[nodiscard]] std::size_t hosts() const { return layout_.hosts.size(); }
  [[nodiscard]] bool host_equal() const { return schedule_.plan(place_.epoch, place_.epochs).local_skips == 1; }
  [[nodiscard]] std::size_t active() const { return static_cast<std::size_t>(exchanges_) % host_.size(); }
  [[nodiscard]] bool is_active() const { return place_in_host_ == active(); }

  /// Parameters of the active ranks become their mean, and those of their hosts.
  void meet() {
    auto& flat = flat_.take_values();
    if (is_active()) {
      ring_all_reduce(courier_, rail_, flat);
      flat.mul_(1.0 / static_cast<double>(hosts()));
    }
    hand_out(flat);
  }

  void begin_exchange() {
    since_begin_ = 0;
    if (!is_active()) return;
    sum_ = flat_.take_values().clone();
    under_way_ = std::async(std::launch::async, [this] {
      const torch::NoGradGuard on_this_thread_too;
      ring_all_reduce(between_, rail_, sum_);
      return between_.counters();
    });
  }

  void merge() {
    auto& flat = flat_.take_values();
    if (is_active()) {
      arrived_ = under_way_.get();
      merge_stale(flat, sum_, since_begin_, static_cast<std::int64_t>(hosts()));
    }
    since_begin_ = -1;
    hand_out(flat);
  }

  void hand_out(const torch::Tensor& flat) {
    binomial_broadcast(courier_, host_, active(), flat);
    flat_.give_values(flat);
    ++exchanges_;
  }

  Communicator& ranks_;
  HostLayout layout_;
  Courier courier_, between_;  // `between_`: of the thread that exchanges meanwhile
  std::vector<int> host_;
  std::size_t place_in_host_;
  std::vector<int> rail_;
  StrategyParts parts_;
  FlatTensors flat_;
  DasoSchedule schedule_;
  DasoSchedule::Decision decision_;
  StepPlace place_;
  torch::Tensor sum_;  // under way
  std::future<Counters> under_way_;
  Counters arrived_;               // of the thread's courier
  std::int64_t since_begin_ = -1;  // batches since what is under way began; below 0: nothing is
  std::int64_t exchanges_ = 0;     // done: the ranks of a host take turns
  bool sound_ = true, met_ = true;
  torch::Tensor numbers_;
  GradientSync::Costs last_;
};

}  // namespace

Made make_daso(Communicator& ranks, const StrategySpec& spec, StrategyParts parts) {
  auto layout = layout_of(ranks.peers(), spec.ranks_per_host);
  if (auto equal = check_equal_hosts(layout, ranks.peers(), word_of(spec.name)); !equal)
    return core::fail(equal.error());
  return std::make_unique<Daso>(ranks, spec, std::move(layout), std::move(parts));
}

}  // namespace gradwatt::training

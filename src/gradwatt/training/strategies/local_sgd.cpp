// Local SGD: each rank updates on its own gradients; every H updates parameters become their mean. The first
// `plain_updates` average gradients instead (post-local SGD). H = 1 is synchronous SGD, to rounding, also with momentum
// and weight decay; with other optimizers and with clipping (by the norm of a rank's own gradient) it is not. Momentum
// stays each rank's own.
//
// Source: Lin et al., "Don't Use Large Mini-Batches, Use Local SGD", 2018. Cost: planning/collectives/asynchronous.hpp
// with the ring as its all-reduce.
#include <ATen/ATen.h>

#include <numeric>

#include "gradwatt/planning/collectives/asynchronous.hpp"
#include "gradwatt/planning/collectives/ring.hpp"
#include "gradwatt/training/gradient_sync/flat_tensors.hpp"
#include "gradwatt/training/strategies/agreement.hpp"
#include "gradwatt/training/strategies/makers.hpp"
#include "gradwatt/training/strategies/rings.hpp"
#include "gradwatt/training/strategies/statistics.hpp"

namespace gradwatt::training {
namespace {

std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }

class LocalSgd final : public Strategy {
 public:
  LocalSgd(Communicator& ranks, const StrategySpec& spec, StrategyParts parts)
      : ranks_(ranks),
        spec_(spec),
        layout_(layout_of(ranks.peers(), spec.ranks_per_host)),
        courier_(ranks, layout_, 0),
        all_(static_cast<std::size_t>(ranks.size())),
        parts_(std::move(parts)),
        flat_(parts_.parameters) {
    std::iota(all_.begin(), all_.end(), 0);
  }

  void begin_step(const StepPlace& place) override { plain_ = place.updates_before < spec_.plain_updates; }

  Soundness finish() override {
    const torch::NoGradGuard no_grad;
    const auto begin = now();
    last_.exposed = last_.busy = core::Duration(0);
    auto& flat = flat_.take_gradients();
    sound_ = sound_ && (plain_ || all_finite(flat));
    Soundness soundness;
    if (plain_) {
      average(flat);
      flat_.give_gradients();
    } else if (parts_.agree_each_step || since_ + 1 == spec_.period) {
      soundness = agree(ranks_, sound_);
      sound_ = true;
    }
    last_.exposed += now() - begin;
    return soundness;
  }

  bool update(const Updating& with) override {
    const bool applied = Strategy::update(with);
    if (plain_) return applied;
    if (++since_ == spec_.period) average_parameters();
    return applied;
  }

  core::Result<void> settle() override {
    if (since_ > 0) {
      if (const auto bad = agree(ranks_, sound_).bad_rank; bad >= 0) return not_finite(bad);
      average_parameters();
    }
    average_statistics(ranks_, parts_.statistics);
    return {};
  }
  [[nodiscard]] bool keeps_ranks_equal() const override { return since_ == 0; }

  [[nodiscard]] NamedTensors state() override { return parts_.stepped->state(); }
  [[nodiscard]] GradientSync::Costs costs() const override { return with_counters(last_, courier_.counters()); }
  [[nodiscard]] std::optional<Counters> counters() const override { return courier_.counters(); }
  /// Of an update after the plain ones.
  [[nodiscard]] planning::CollectiveCost cost(const planning::Level& node, const planning::Level& rail) const override {
    return planning::local_sgd_cost(planning::ring_over_nodes(layout_.shape(), flat_.bytes(), node, rail),
                                    static_cast<int>(spec_.period));
  }

 private:
  void average(const torch::Tensor& flat) {
    ring_all_reduce(courier_, all_, flat);
    flat.mul_(1.0 / ranks_.size());
  }

  void average_parameters() {
    const torch::NoGradGuard no_grad;
    const auto begin = now();
    average(flat_.take_values());
    flat_.give_values();
    since_ = 0;
    last_.exposed += now() - begin;
    last_.busy = last_.exposed;
  }

  Communicator& ranks_;
  StrategySpec spec_;
  HostLayout layout_;
  Courier courier_;
  std::vector<int> all_;
  StrategyParts parts_;
  FlatTensors flat_;
  bool plain_ = false, sound_ = true;
  std::int64_t since_ = 0;  // updates since the parameters were the same
  GradientSync::Costs last_;
};

}  // namespace

Made make_local_sgd(Communicator& ranks, const StrategySpec& spec, StrategyParts parts) {
  return std::make_unique<LocalSgd>(ranks, spec, std::move(parts));
}

}  // namespace gradwatt::training

// Average in two levels: reduce-scatter inside each host, all-reduce of a shard between hosts, every rank with those of
// its place on the others, all-gather inside. Only 1/g of the vector leaves the host through each rank. Bitwise the
// same on all ranks; on whole numbers also bitwise what a flat sum gives. Cost: planning/collectives/two_level.hpp.
#include <ATen/ATen.h>

#include "gradwatt/planning/collectives/two_level.hpp"
#include "gradwatt/training/gradient_sync/flat_tensors.hpp"
#include "gradwatt/training/strategies/agreement.hpp"
#include "gradwatt/training/strategies/makers.hpp"
#include "gradwatt/training/strategies/rings.hpp"

namespace gradwatt::training {
namespace {

class TwoLevel final : public Strategy {
 public:
  TwoLevel(Communicator& ranks, HostLayout layout, const StrategyParts& parts)
      : ranks_(ranks),
        layout_(std::move(layout)),
        courier_(ranks, layout_, 0),
        host_(layout_.hosts[layout_.host_of(ranks.rank())]),
        rail_(layout_.rail(layout_.place_of(ranks.rank()))),
        gradients_(parts.parameters) {}

  void begin_step(const StepPlace& /*place*/) override {}

  Soundness finish() override {
    const torch::NoGradGuard no_grad;
    const auto begin = std::chrono::steady_clock::now();
    auto& flat = gradients_.take_gradients();
    const auto shard = ring_reduce_scatter(courier_, host_, flat);
    ring_all_reduce(courier_, rail_, shard);
    shard.mul_(1.0 / ranks_.size());
    ring_all_gather(courier_, host_, flat);
    gradients_.give_gradients();
    last_.exposed = last_.busy = std::chrono::steady_clock::now() - begin;
    return {};  // a NaN reaches every rank in the sum
  }

  [[nodiscard]] GradientSync::Costs costs() const override { return with_counters(last_, courier_.counters()); }
  [[nodiscard]] std::optional<Counters> counters() const override { return courier_.counters(); }
  [[nodiscard]] planning::CollectiveCost cost(const planning::Level& node, const planning::Level& rail) const override {
    return planning::two_level_sharded(layout_.shape(), gradients_.bytes(), node, rail);
  }

 private:
  Communicator& ranks_;
  HostLayout layout_;
  Courier courier_;
  std::vector<int> host_, rail_;  // this rank's
  FlatTensors gradients_;
  GradientSync::Costs last_;
};

}  // namespace

Made make_two_level(Communicator& ranks, const StrategySpec& spec, StrategyParts parts) {
  auto layout = layout_of(ranks.peers(), spec.ranks_per_host);
  if (auto equal = check_equal_hosts(layout, ranks.peers(), word_of(spec.name)); !equal)
    return core::fail(equal.error());
  return std::make_unique<TwoLevel>(ranks, std::move(layout), parts);
}

}  // namespace gradwatt::training

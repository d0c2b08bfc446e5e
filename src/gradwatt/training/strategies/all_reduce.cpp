// Every update: gradients are averaged during the backward pass, through shared memory, MPI or NCCL (gradient_sync/).
// What is sent is the library's own choice; its cost is that of a ring.
#include "gradwatt/planning/collectives/ring.hpp"
#include "gradwatt/training/strategies/makers.hpp"

namespace gradwatt::training {
namespace {

class AllReduce final : public Strategy {
 public:
  AllReduce(std::unique_ptr<GradientSync> sync, const HostLayout& layout, double bytes)
      : sync_(std::move(sync)), layout_(layout), bytes_(bytes) {}

  void begin_step(const StepPlace& /*place*/) override { sync_->begin_step(); }
  void before_backward(const torch::Tensor& output) override { sync_->before_backward(output); }
  Soundness finish() override {
    sync_->finish();
    return {};
  }
  [[nodiscard]] GradientSync::Costs costs() const override { return sync_->costs(); }
  [[nodiscard]] planning::CollectiveCost cost(const planning::Level& node, const planning::Level& rail) const override {
    return planning::ring_over_nodes(layout_.shape(), bytes_, node, rail);
  }

 private:
  std::unique_ptr<GradientSync> sync_;
  HostLayout layout_;
  double bytes_;
};

}  // namespace

Made make_all_reduce(Communicator& ranks, const StrategySpec& spec, StrategyParts parts) {
  auto sync = make_gradient_sync(ranks, parts.parameters, parts.options);
  if (!sync) return core::fail(sync.error());
  double bytes = 0;
  for (const auto& [name, parameter] : parts.parameters) bytes += static_cast<double>(parameter.nbytes());
  return std::make_unique<AllReduce>(std::move(*sync), layout_of(ranks.peers(), spec.ranks_per_host), bytes);
}

}  // namespace gradwatt::training

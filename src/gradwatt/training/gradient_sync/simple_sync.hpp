// One average a bucket after the whole backward pass: no overlap. For comparison, and where c10d's Reducer is not
// there.
#pragma once

#include "gradwatt/training/gradient_sync/flat_tensors.hpp"
#include "gradwatt/training/gradient_sync/gradient_sync.hpp"

namespace gradwatt::training {

class SimpleSync final : public GradientSync {
 public:
  SimpleSync(std::unique_ptr<Averager> averager, NamedTensors parameters, const SyncOptions& options);
  void begin_step() override {}
  void before_backward(const torch::Tensor& /*output*/) override {}
  void finish() override;
  [[nodiscard]] Costs costs() const override;

 private:
  std::unique_ptr<Averager> averager_;
  std::vector<FlatTensors> buckets_;
  Costs last_;
};

}  // namespace gradwatt::training

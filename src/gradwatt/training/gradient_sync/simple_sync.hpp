// One average a bucket after the whole backward pass: no overlap. For comparison, and where c10d's Reducer is not
// there.
#pragma once

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
  NamedTensors parameters_;
  std::vector<std::vector<std::size_t>> buckets_;
  std::vector<torch::Tensor> flat_;  // a buffer a bucket
  Costs last_;
};

}  // namespace gradwatt::training

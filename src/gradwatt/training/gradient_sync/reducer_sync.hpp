// Gradients averaged while the backward pass goes on: c10d's Reducer finds out when a bucket is ready and hands it to
// the Averager's thread.
#pragma once

#include "gradwatt/training/gradient_sync/gradient_sync.hpp"

namespace c10d {
class Reducer;
}

namespace gradwatt::training {

class ReducerSync final : public GradientSync {
 public:
  ReducerSync(Communicator& ranks, std::unique_ptr<Averager> averager, const NamedTensors& parameters,
              const SyncOptions& options);
  ~ReducerSync() override;
  void begin_step() override;
  void before_backward(const torch::Tensor& output) override;
  void finish() override;
  [[nodiscard]] Costs costs() const override;

 private:
  std::unique_ptr<Averager> averager_;
  std::unique_ptr<c10d::Reducer> reducer_;
  core::Duration busy_before_{0};
  Costs last_;
};

}  // namespace gradwatt::training

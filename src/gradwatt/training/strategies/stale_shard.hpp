// A parameter server's part of the model under stale synchrony: it applies updates in the order of their numbers, each
// when the gradients of all workers for it are there, and lets a worker go on as long as it is at most s updates ahead
// of what it can read. No threads, no messages: the schedule of pushes and reads is the caller's.
//
//   A worker may compute its update c (from 0 on) on any version v ≥ c − s; version v holds the updates 0 … v − 1.
//
// s = 0 is synchronous SGD: gradients are added in the order of the workers. Source: Ho et al., "More Effective
// Distributed ML via a Stale Synchronous Parallel Parameter Server", 2013; here a version is always whole updates, so
// that momentum and decay are applied once an update.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "gradwatt/training/gradient_sync/flat_tensors.hpp"
#include "gradwatt/training/named_tensors.hpp"
#include "gradwatt/training/optimisation/optimizer.hpp"

namespace gradwatt::training {

class StaleShard {
 public:
  struct Push {
    double rate = 0;         ///< learning rate of that update, the same from all workers
    bool sound = true;       ///< false: the update is left out, because of what this worker found
    torch::Tensor gradient;  ///< flat
  };

  /// `parameters`: copied. Errors: those of make_optimizer.
  static core::Result<StaleShard> create(const NamedTensors& parameters, const OptimizerSpec& rule, int workers,
                                         std::int64_t staleness);

  /// The worker's gradient for its next update.
  void push(int worker, Push push);
  [[nodiscard]] bool may_compute(std::int64_t update) const { return update - version_ <= staleness_; }
  [[nodiscard]] std::int64_t version() const { return version_; }
  [[nodiscard]] std::int64_t left_out() const { return left_out_; }  ///< updates that were not sound

  /// Parameters of this version, flat.
  [[nodiscard]] const torch::Tensor& values() { return flat_.take_values(); }
  [[nodiscard]] std::int64_t numel() const { return flat_.numel(); }
  [[nodiscard]] at::ScalarType type() const { return flat_.type(); }
  void set_values(const torch::Tensor& flat) { flat_.give_values(flat); }
  [[nodiscard]] Optimizer& optimizer() { return *optimizer_; }

 private:
  StaleShard(NamedTensors own, std::unique_ptr<Optimizer> optimizer, int workers, std::int64_t staleness);
  void apply_next();

  FlatTensors flat_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<std::deque<Push>> waiting_;  // by worker
  std::int64_t staleness_, version_ = 0, left_out_ = 0;
};

}  // namespace gradwatt::training

// When DASO exchanges what: pure, one decision a batch.
//
// The first and the last epochs exchange every batch and wait for it; so does the last batch of every epoch. Between
// them hosts exchange every B batches and merge what came S batches later; inside a host gradients are averaged every
// L batches. B begins at 4 (L = S = 1); whenever the loss stalls B and L are halved and S falls by one, each to 1 at
// least; from B = 1 it jumps to the largest value, with L = S = a quarter of it.
//
// Source: Coquelin et al., "Accelerating neural network training with distributed asynchronous and selective
// optimization (DASO)", J. Big Data 9, 2022, and the constants of its public code.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "gradwatt/planning/collectives/daso.hpp"

namespace gradwatt::training {

class DasoSchedule {
 public:
  struct Options {
    std::int64_t warmup_epochs = 4, cooldown_epochs = 4;
    std::int64_t most_skips = 8;  ///< largest B
  };
  explicit DasoSchedule(Options options);

  enum class Exchange { none, wait, begin };  ///< between hosts, after the batch's update
  struct Decision {
    bool average_in_host = true;  ///< the batch's gradients
    Exchange exchange = Exchange::none;
    bool merge = false;  ///< what is under way, before the exchange
  };
  /// `since_begin`: batches since the exchange under way began; below 0: none is.
  [[nodiscard]] Decision decide(std::int64_t epoch, std::int64_t epochs, std::int64_t batch, std::int64_t batches,
                                std::int64_t since_begin) const;
  /// `mean_loss`: of all ranks' batches in that epoch.
  void epoch_ended(std::int64_t epoch, std::int64_t epochs, double mean_loss);

  /// B, S and L of the epochs that skip.
  [[nodiscard]] planning::Daso plan() const;
  /// Of an epoch: as above, or every batch.
  [[nodiscard]] planning::Daso plan(std::int64_t epoch, std::int64_t epochs) const;

  /// For a checkpoint: the numbers that change, in this tensor, which set_state() reads again.
  [[nodiscard]] torch::Tensor state() const;
  void set_state(const torch::Tensor& state);

 private:
  [[nodiscard]] bool skips(std::int64_t epoch, std::int64_t epochs) const;

  Options options_;
  std::int64_t skips_, wait_ = 1, local_ = 1;  // B, S, L
  double best_ = 0;
  std::int64_t bad_epochs_ = 0;
  bool any_ = false;
};

/// (2S·w + Σ)/(2S + N): own parameters weigh as much as 2S hosts' that are S batches old. In place.
void merge_stale(const torch::Tensor& own, const torch::Tensor& sum, std::int64_t batches_waited, std::int64_t hosts);

}  // namespace gradwatt::training

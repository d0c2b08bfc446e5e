// Which examples each rank reads, in which order. An order is drawn from (seed, epoch) alone, and a place in it is
// counted in examples that all ranks together have consumed: a run resumes at the exact example, also with another
// number of ranks or another batch size.
//
// The ranks share each global batch in consecutive pieces, so P ranks × b see the same global batches as 1 rank × P·b.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gradwatt/core/result.hpp"

namespace gradwatt::training {

/// What happens to the examples that do not fill a global batch.
enum class Remainder {
  drop,    ///< left out of this epoch (another order, other ones the next). For training: all local batches are
           ///< equal, so that the mean of the ranks' gradients is exactly the gradient of the global batch.
  spread,  ///< shared as evenly as possible in a last, smaller batch. For evaluation: every example exactly once and
           ///< none repeated; ranks' sizes differ by at most one, a rank may have one batch fewer.
};

struct SamplerSettings {
  std::size_t size = 0;  ///< examples in the data set
  int ranks = 1;
  int rank = 0;
  std::size_t local_batch = 1;
  std::uint64_t seed = 0;
  bool shuffle = true;
  Remainder remainder = Remainder::drop;
  /// "Data set grows with ranks": only the first samples_per_rank · ranks examples are used. Nothing: all are.
  std::optional<std::size_t> samples_per_rank = std::nullopt;
};

/// One rank's share of the rest of an epoch.
struct EpochPlan {
  struct Piece {
    std::size_t begin = 0, end = 0;    ///< in `indices`
    std::uint64_t position_after = 0;  ///< examples of the epoch that all ranks together have consumed after it
  };
  std::vector<std::size_t> indices;
  std::vector<Piece> batches;
};

/// Values only; any number of threads may ask.
class DistributedSampler {
 public:
  /// Errors: wrong_use (rank outside ranks, empty batch, data set smaller than a global batch when dropping, or smaller
  /// than samples_per_rank · ranks).
  [[nodiscard]] static core::Result<DistributedSampler> make(const SamplerSettings& settings);

  [[nodiscard]] const SamplerSettings& settings() const { return settings_; }
  /// Examples of the data set that epochs draw from.
  [[nodiscard]] std::size_t used() const { return used_; }
  /// local batch · ranks
  [[nodiscard]] std::size_t global_batch() const;
  /// Batches of an epoch from its start: updates per epoch.
  [[nodiscard]] std::size_t batches_per_epoch() const;

  /// The order of the whole epoch, the same on every rank.
  [[nodiscard]] std::vector<std::size_t> order(std::uint64_t epoch) const;
  /// What this rank reads from `position` on. Errors: wrong_use (position beyond the epoch).
  [[nodiscard]] core::Result<EpochPlan> plan(std::uint64_t epoch, std::uint64_t position = 0) const;

 private:
  explicit DistributedSampler(const SamplerSettings& settings, std::size_t used) : settings_(settings), used_(used) {}

  SamplerSettings settings_;
  std::size_t used_;
};

}  // namespace gradwatt::training

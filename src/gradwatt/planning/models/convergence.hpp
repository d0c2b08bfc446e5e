// How many samples a training needs to reach its target at a global batch, and at which batches it reaches it at all.
//
//   E(B) = E_min · (1 + B / B_crit)      samples to the target;  steps S(B) = E(B) / B
//
// Source: McCandlish et al. 2018 (arXiv 1812.06162); the same as Pollux's efficiency with φ = B_crit. B_crit comes from
// runs at several batches, or as the gradient noise scale tr(Σ)/|G|² of one; it grows as the loss falls, so it holds
// for one target. The form has two ends: a batch may be too small for the learning rate as well as too large, and where
// runs fail or need much more than the form says the batch is not admissible. All of it holds under the learning-rate
// rule of the runs: a retuned rate may admit larger batches (Shallue et al. 2019).
//
// Range: between the smallest and the largest batch at which the form held. Known error there, Zeus training traces:
// tests/corpus/convergence_test.cpp, 1 to 5 %. Epochs to a target are whole numbers: below ten of them that is ±5 %.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/planning/fit/least_squares.hpp"
#include "gradwatt/planning/models/throughput.hpp"

namespace gradwatt::planning {

/// One training run. Samples may be counted in any unit that all runs share, such as epochs of one data set.
struct TrainingOutcome {
  double global_batch = 0;
  std::optional<double> samples;  ///< nothing: ended without reaching the target
};

enum class BatchState {
  converges,         ///< as the form says
  out_of_form,       ///< reaches the target, but with far more samples than the form says
  unreliable,        ///< some runs did not reach the target
  does_not_converge  ///< at least half of the runs did not
};
[[nodiscard]] std::string_view name_of(BatchState state);

struct BatchVerdict {
  double global_batch = 0;
  std::size_t runs = 0, failed = 0;
  std::optional<double> samples;  ///< mean of the runs that reached the target
  BatchState state = BatchState::converges;
};

struct ConvergenceModel {
  Fit fit;                                       ///< E_min, B_crit
  double smallest_batch = 0, largest_batch = 0;  ///< between them the form held
  bool knows_batch = false;                      ///< two batches, or a noise scale: B_crit is more than a guess
  std::vector<BatchVerdict> batches;             ///< by size
};

/// With a noise scale one batch is enough. Unusable input when no run reached the target, or a batch is not above zero.
[[nodiscard]] core::Result<ConvergenceModel> fit_convergence(std::span<const TrainingOutcome> outcomes,
                                                             std::optional<Known> noise_scale = {});

[[nodiscard]] double critical_batch(const ConvergenceModel& model);
/// In the outcomes' unit.
[[nodiscard]] double samples_to_target(const ConvergenceModel& model, double global_batch);
[[nodiscard]] Figure samples_figure(const ConvergenceModel& model, double global_batch);

/// Why no figure can be given for this batch, with the failing one where one was seen; nothing when one can.
[[nodiscard]] std::optional<std::string> gap_of(const ConvergenceModel& model, double global_batch);

}  // namespace gradwatt::planning

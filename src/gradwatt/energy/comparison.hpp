// Two runs, or two groups of runs, side by side: what changed, and an interval that says what it contains.
//
// One run a side: each side's steady steps are resampled in blocks as long as their own correlation (moving block
// bootstrap; Künsch 1989), so that a slow drift does not pass for many independent steps. The interval then holds the
// spread between steps and nothing else; runs differ by more. Several runs a side: the interval is over runs. Where the
// times show that they were taken in turn, each run is compared with its neighbour (paired t on log ratios), which
// takes out what drifts with the hour; else Welch's t.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/record/run.hpp"

namespace gradwatt::energy {

/// What one run gives to a comparison, over its steady part.
struct RunFigures {
  std::string name;                      ///< for people
  std::optional<std::int64_t> begin_ns;  ///< wall clock, for the order of runs
  std::optional<double> ranks, gpus;
  std::optional<double> local_batch;                ///< samples of a rank in a step
  std::optional<double> samples_per_step;           ///< over all ranks
  std::vector<double> step_s;                       ///< lengths of the leading rank's steps
  std::vector<double> data_wait_s, comm_exposed_s;  ///< of the same steps; empty where a step did not tell
  std::vector<double> power_w;                      ///< of all measured devices, in equal slices
  std::optional<double> cause_metric;  ///< the figure of the cause that was changed, where one is in question
  std::optional<double> skew_share;    ///< how much longer the slowest rank works
};
[[nodiscard]] RunFigures figures_of(const record::Run& run);

enum class IntervalOf : std::uint8_t { runs, steps, none };
[[nodiscard]] std::string_view name_of(IntervalOf interval);

struct MetricChange {
  std::string_view name, unit;
  bool relative = true;                     ///< change, low and high are b/a − 1; false: the difference b − a
  std::optional<double> a, b;               ///< means over the runs of a side
  std::optional<double> change, low, high;  ///< 95 % interval
  IntervalOf interval = IntervalOf::none;
  int better = 0;  ///< +1: more is better, −1: less is, 0: neither
  [[nodiscard]] bool moved() const { return low && high && (*low > 0 || *high < 0); }
};

enum class Verdict : std::uint8_t { proven, likely, no_difference, not_comparable };
[[nodiscard]] std::string_view name_of(Verdict verdict);

/// Runs of unlike rank counts.
struct Scaling {
  double a_ranks = 0, b_ranks = 0;
  bool weak = true;       ///< the local batch stayed, so the work grew with the ranks
  double efficiency = 0;  ///< speed gained over ranks gained
  /// Parts of the step of the larger side that ideal scaling would not have, beyond those of the smaller side.
  std::optional<double> lost_input, lost_communication, lost_imbalance, lost_rest;
};

struct Comparison {
  std::vector<MetricChange> metrics;
  Verdict verdict = Verdict::not_comparable;
  std::vector<std::string> reasons;  ///< of the verdict, a sentence each
  std::optional<Scaling> scaling;
  std::size_t pairs = 0;              ///< runs taken in turn
  std::optional<MetricChange> cause;  ///< how the cause's own figure moved
  [[nodiscard]] const MetricChange* find(std::string_view name) const;
  /// Samples a second, or steps a second where no samples were told.
  [[nodiscard]] const MetricChange* speed() const;
};

/// Neither side is empty.
[[nodiscard]] Comparison compare(std::span<const RunFigures> a, std::span<const RunFigures> b);

}  // namespace gradwatt::energy

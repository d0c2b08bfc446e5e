// A good run as the yardstick of later ones: speed, power, energy a sample, scaling efficiency. Twenty per cent below
// the own yardstick is where a diagnosis starts; it says that something changed, not what.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/energy/comparison.hpp"

namespace gradwatt::diagnosis {

struct Baseline {
  std::string name, run_id, command;
  std::string origin;  ///< "measured", or the source of a published figure
  std::string gpu;     ///< model; empty without GPUs
  std::optional<double> ranks, gpus;
  std::optional<double> samples_per_s, steps_per_s, power_avg_w, energy_per_sample_j;
};
[[nodiscard]] Baseline baseline_of(const record::Run& run, std::string name);

/// One figure of a run beside that of the baseline.
struct BaselineFigure {
  std::string_view name, unit;
  double expected = 0, got = 0;
  double change = 0;   ///< got/expected − 1
  bool worse = false;  ///< by more than allowed, in the bad direction
};
struct BaselineCheck {
  std::vector<BaselineFigure> figures;
  std::optional<double> efficiency;      ///< speed a rank over that of the baseline, where rank counts differ
  std::vector<std::string> differences;  ///< what makes the two hard to compare: other GPU, other rank count
  [[nodiscard]] bool passed() const;
  /// There was something to compare.
  [[nodiscard]] bool comparable() const { return !figures.empty(); }
};

/// Below this the diagnosis starts (the articles that the project grew from; a trigger, not a verdict).
inline constexpr double kAllowedLoss = 0.20;

[[nodiscard]] BaselineCheck check(const Baseline& baseline, const Baseline& now, double allowed_loss = kAllowedLoss);

/// What vendors publish for well-known models: expectations with a source, never a verdict.
[[nodiscard]] const std::vector<Baseline>& published_baselines();

}  // namespace gradwatt::diagnosis

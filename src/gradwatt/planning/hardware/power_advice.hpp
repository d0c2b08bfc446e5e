// What the shape of a GPU's power says about caps and clocks: whether one can save energy at all, which to try, and
// what has to be repaired first.
//
// Facts behind the rules: power traces of Zeus (NSDI 2023; V100, A40, RTX 6000, P100), four GPUs and six workloads.
// Caps of 60–75 % of the maximum save 7–12 % of GPU energy in the median where 5 % more time is allowed; below 45–50 %
// energy rises again; loads that draw little do not respond; a cap above the draw does nothing; a job that waits for
// its data loses less than 3.5 % of speed at any cap and saves a fifth of its GPU's energy. Far below the limit, lower
// clocks save more than caps (arXiv 2607.00819, abstract). No such traces are public for newer GPUs: advice is a trial,
// interleaved runs are the proof. A node's base line shrinks every share: with 132 W of it a GPU, 27 % become 9 %.
//
// Never advised: a cap as a cure of swings, unequal caps for the ranks of one job, a limit above what the device
// allows, persistence mode for speed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gradwatt/catalog/gpu_table.hpp"
#include "gradwatt/energy/summary.hpp"

namespace gradwatt::planning {

struct PowerSituation {
  std::optional<energy::PowerProfile> profile;                ///< of one GPU; energy::power_profiles
  std::optional<double> utilization_share;                    ///< time with any kernel resident, 0–1
  std::optional<double> data_wait_share, comm_exposed_share;  ///< of a step
};

enum class PowerAdviceKind : std::uint8_t {
  unknown,      ///< power or limit was not measured
  none,         ///< nothing to gain
  repair_wait,  ///< waiting is what costs; lower clocks until it is repaired
  lower_clocks,
  try_caps,
};
struct PowerAdvice {
  PowerAdviceKind kind = PowerAdviceKind::unknown;
  std::vector<double> caps_w;  ///< to measure, highest first; the first is the limit of now
  double floor_w = 0;          ///< never below; 0 where no limit is known
  std::string finding;         ///< the shape, with its figures
  std::string advice;          ///< what to do, who can, what to expect and from where that is known
};
[[nodiscard]] PowerAdvice advise_power(const PowerSituation& situation, const catalog::GpuRow& gpu);

/// Lowest cap worth a trial: half of the highest limit, and never below what the device allows. Nothing without limits.
[[nodiscard]] std::optional<double> cap_floor_w(const catalog::GpuRow& gpu);

}  // namespace gradwatt::planning

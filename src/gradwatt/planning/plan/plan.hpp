// From a question to a plan: the front, the setting to take, why its neighbours lost, where speed gets dear; or, where
// nothing is possible, which limit binds and what is nearest.
//
//   const Plan plan = make_plan(question);
//   if (plan.chosen) use(plan.grid.candidates[*plan.chosen].setting);
//   else say(plan.impossible->sentence);
//
// Pure. The chosen setting is the one of least energy within the limits; among those within `kSameEnergy` of it, which
// no interval tells apart, the fastest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/planning/plan/candidate.hpp"

namespace gradwatt::planning {

/// Node power repeats to 1 to 3 % between runs of the same job, so a smaller difference is none.
inline constexpr double kSameEnergy = 0.02;

struct Rival {
  std::size_t candidate = 0;
  std::string reason;  ///< why it lost, with its figures
};

/// Nothing keeps all limits.
struct Impossible {
  std::vector<Limit> binding;          ///< giving up one of them would allow a plan; all of them where none suffices
  std::string sentence;                ///< which binds, and what is nearest
  std::optional<std::size_t> nearest;  ///< candidate that breaks least
};

struct Plan {
  Grid grid;
  std::vector<std::size_t> front;  ///< fastest first
  std::optional<std::size_t> chosen, knee;
  std::vector<Rival> rivals;
  std::optional<Impossible> impossible;
  std::vector<std::size_t> broken_by;  ///< one a Limit: candidates that it kept out

  [[nodiscard]] const Candidate& at(std::size_t i) const { return grid.candidates[i]; }
};

/// Wrong use: limits that exclude each other whatever the job is, an axis without a place.
[[nodiscard]] core::Result<Plan> make_plan(const Question& question);

/// "16 GPUs, local batch 64 (global 1024), cap 250 W": what tells a candidate from the others of its grid.
[[nodiscard]] std::string describe(const Question& question, const Candidate& candidate);
/// "1.23 kWh", or "4.56 GPU-hours" where energy is not known.
[[nodiscard]] std::string effort_text(const Candidate& candidate);
/// "2 h 10 min".
[[nodiscard]] std::string time_text(double seconds);

/// The profile run that would narrow the widest interval of this candidate; empty where none would.
[[nodiscard]] std::string next_profile(const Question& question, const Candidate& candidate);

}  // namespace gradwatt::planning

// The verdict: which causes the facts speak for, best first, each as an argument; or which measurement would decide.
// Pure: the same facts give the same verdict.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/diagnosis/causes/cause.hpp"
#include "gradwatt/diagnosis/fact_sheet.hpp"

namespace gradwatt::diagnosis {

/// The one rank that the others wait for, and what is wrong with it.
struct Culprit {
  std::int32_t rank = 0;
  const CauseInfo* cause = nullptr;  ///< null: not enough is known of that rank
  double confidence = 0;
  std::vector<Evidence> evidence;
};

struct Finding {
  const CauseInfo* info = nullptr;     ///< row of the cause table
  double confidence = 0;               ///< 0 to 1
  std::vector<Evidence> evidence;      ///< what speaks for it, strongest first
  std::vector<Evidence> contradicted;  ///< what speaks against it
  Advice advice;
  std::optional<double> ceiling;   ///< largest part of the step time that can go, 0 to 1; never a promise
  std::optional<Culprit> culprit;  ///< of a straggler
  std::string verify;              ///< how to prove that the change helped
};

/// A measurement that is not there and would decide.
struct Missing {
  std::string fact;                       ///< from the fact table
  std::string what;                       ///< its description
  std::string how;                        ///< what supplies it
  std::vector<std::string_view> decides;  ///< causes that it would support or drop, likeliest first
};

struct Diagnosis {
  std::vector<Finding> findings;  ///< confidence of at least kShown, best first
  std::vector<Finding>
      candidates;                ///< weaker ones that something speaks for: what the missing facts would decide between
  std::vector<Missing> missing;  ///< what would add most, first
  /// The first finding is worth acting on.
  [[nodiscard]] bool decided() const { return !findings.empty(); }
};

/// A finding is likelier than not.
inline constexpr double kShown = 0.5;

[[nodiscard]] Diagnosis diagnose(const FactSheet& facts);

/// What to run, attach or ask for so that this fact is known.
[[nodiscard]] std::string how_to_supply(std::string_view fact);

}  // namespace gradwatt::diagnosis

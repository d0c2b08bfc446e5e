// What one cause makes of the facts: figures for it, figures against it, and what it would have to know.
//
// Weights are natural-log odds, so that independent evidence adds up and the sum has a meaning: starting from the prior
// of the cause, confidence = 1 / (1 + exp(−sum)). One contradiction rules a cause out, whatever speaks for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gradwatt/diagnosis/fact_sheet.hpp"

namespace gradwatt::diagnosis {

/// Log odds of a piece of evidence: how many times likelier it is with the cause than without.
namespace weight {
inline constexpr double kDecisive = 5.0;  ///< 150 : 1, names the cause by itself
inline constexpr double kStrong = 3.0;    ///< 20 : 1
inline constexpr double kFair = 1.6;      ///< 5 : 1
inline constexpr double kWeak = 0.7;      ///< 2 : 1
}  // namespace weight

struct Evidence {
  double weight = 0;
  std::string text;                ///< one clause with its figures: "the step waits 38 % of its time for its batch"
  std::vector<std::string> facts;  ///< names of the facts that it rests on
  bool circumstance = false;       ///< goes with the cause, and holds nothing up by itself
};

/// A fact that is not there and would have decided.
struct Want {
  std::string fact;   ///< from the fact table
  double weight = 0;  ///< what it could add
};

class Opinion {
 public:
  Opinion& supports(double weight, std::string text, std::vector<std::string> facts);
  /// A circumstance: a setting, a kind of hardware. It adds its weight, but without a symptom the cause is not shown:
  /// a job may run well with it.
  Opinion& fits(double weight, std::string text, std::vector<std::string> facts);
  Opinion& speaks_against(double weight, std::string text, std::vector<std::string> facts);
  /// The cause cannot be, whatever speaks for it.
  Opinion& rules_out(std::string text, std::vector<std::string> facts);
  Opinion& wants(std::string_view fact, double weight);

  [[nodiscard]] const std::vector<Evidence>& evidence() const { return evidence_; }
  [[nodiscard]] const std::vector<Want>& wanted() const { return wanted_; }
  [[nodiscard]] const std::optional<Evidence>& ruled_out() const { return ruled_out_; }
  /// Sum of weights for and against.
  [[nodiscard]] double sum() const;
  /// Something speaks for it that is no mere circumstance.
  [[nodiscard]] bool has_support() const;

 private:
  std::vector<Evidence> evidence_;
  std::vector<Want> wanted_;
  std::optional<Evidence> ruled_out_;
};

}  // namespace gradwatt::diagnosis

// Two runs or groups of runs side by side on one screen, and as JSON ("gradwatt.comparison/1").
#pragma once

#include <string>

#include "gradwatt/energy/comparison.hpp"
#include "gradwatt/report/screen.hpp"

namespace gradwatt::report {

struct ComparisonNames {
  std::string a, b;    ///< of the sides, for people
  std::string cause;   ///< whose figure was looked at; empty: none
  std::string metric;  ///< that figure's fact
};

[[nodiscard]] std::string comparison_to_text(const energy::Comparison& comparison, const ComparisonNames& names,
                                             const Screen::Options& screen);
[[nodiscard]] std::string comparison_to_json(const energy::Comparison& comparison, const ComparisonNames& names);

}  // namespace gradwatt::report

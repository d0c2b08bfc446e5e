// The same job on more GPUs: whether they gain what they should. A trigger, not a diagnosis.
#pragma once

#include <optional>
#include <string>

#include "gradwatt/energy/comparison.hpp"

namespace gradwatt::diagnosis {

/// Part of the ideal gain below which more GPUs are called a poor trade (the articles: "less than 30 % gained").
inline constexpr double kLeastGain = 0.3;

/// A sentence where speed-up − 1 < 0.3 · (n/m − 1), n ranks now and m in `reference`. Nothing where the gain is larger,
/// where there are no more ranks than before, or where one of the speeds is not known.
[[nodiscard]] std::optional<std::string> poor_scaling(const energy::RunFigures& reference,
                                                      const energy::RunFigures& now);

}  // namespace gradwatt::diagnosis

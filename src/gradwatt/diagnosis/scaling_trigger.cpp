#include "gradwatt/diagnosis/scaling_trigger.hpp"

#include <fmt/format.h>

namespace gradwatt::diagnosis {

std::optional<std::string> poor_scaling(const energy::RunFigures& reference, const energy::RunFigures& now) {
  const auto comparison = energy::compare(std::span(&reference, 1), std::span(&now, 1));
  const auto* speed = comparison.find("samples_per_s");
  if (!reference.ranks || !now.ranks || *reference.ranks <= 0 || speed == nullptr || !speed->a || !speed->b ||
      *speed->a <= 0)
    return std::nullopt;
  const double more = *now.ranks / *reference.ranks, faster = *speed->b / *speed->a;
  if (more <= 1 || faster - 1 >= kLeastGain * (more - 1)) return std::nullopt;
  return fmt::format(
      "{:.0f} ranks are {:.2f} times as fast as {:.0f}: {:.0f} % of the gain that {:.1f} times the ranks could bring",
      *now.ranks, faster, *reference.ranks, 100 * (faster - 1) / (more - 1), more);
}

}  // namespace gradwatt::diagnosis

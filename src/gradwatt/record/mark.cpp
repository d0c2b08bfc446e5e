#include "gradwatt/record/mark.hpp"

#include <algorithm>

namespace gradwatt::record {
namespace {

constexpr std::array<std::string_view, 3> kKinds{"step", "epoch", "region"};
constexpr std::array<std::string_view, kPhases> kPhaseNames{"data_wait", "forward",    "backward",   "comm_exposed",
                                                            "optimizer", "checkpoint", "evaluation", "other"};

}  // namespace

std::string_view name_of(MarkKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }
std::string_view name_of(Phase phase) { return kPhaseNames.at(static_cast<std::size_t>(phase)); }

std::optional<MarkKind> mark_kind(std::string_view name) {
  const auto* it = std::ranges::find(kKinds, name);
  if (it == kKinds.end()) return std::nullopt;
  return static_cast<MarkKind>(it - kKinds.begin());
}

}  // namespace gradwatt::record

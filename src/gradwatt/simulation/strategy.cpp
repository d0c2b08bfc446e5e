#include "gradwatt/simulation/strategy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace gradwatt::simulation {
namespace {

using enum StrategyKind;

// Periods: DASO's B = 4 and S = 1 are what its code begins with; 8 local steps lie in the middle of the published
// range.
constexpr auto kStrategies = std::to_array<StrategyInfo>({
    {"two-level", "reduce-scatter in the node, rings between nodes, all-gather in the node", {two_level}},
    {"ring", "one ring through all GPUs", {ring}},
    {"tree", "reduce in the node, two pipelined binary trees over the nodes, broadcast in the node", {tree}},
    {"one-bit", "signs instead of gradients, all-to-all and all-gather", {one_bit}},
    {"daso", "gradients in the node each step, parameters between nodes every few, merged later", {daso, 4, 1}},
    {"local-sgd", "parameters of all every few steps", {local_sgd, 8, 0}},
    {"async", "gradients of all each step, applied a step later", {stale, 1, 1}},
});

}  // namespace

std::span<const StrategyInfo> strategies() { return kStrategies; }

std::string_view name_of(StrategyKind kind) {
  const auto* row = std::ranges::find(kStrategies, kind, [](const StrategyInfo& info) { return info.usual.kind; });
  return row->name;
}

core::Result<Strategy> strategy_by_name(std::string_view name) {
  if (name == "1-bit") name = "one-bit";
  const auto* row = std::ranges::find(kStrategies, name, &StrategyInfo::name);
  if (row != kStrategies.end()) return row->usual;
  std::string names;
  for (const auto& info : kStrategies) names += (names.empty() ? "" : ", ") + std::string(info.name);
  return core::fail(core::Errc::wrong_use, fmt::format("there is no strategy '{}'; there are {}", name, names));
}

}  // namespace gradwatt::simulation

#include "gradwatt/planning/plan/front.hpp"

#include <algorithm>
#include <array>

namespace gradwatt::planning {
namespace {

/// Smaller is better in each.
using Aims = std::array<double, 4>;

Aims aims_of(const Candidate& c) { return {c.time_s, effort_of(c), c.cost.value_or(0), c.risk.value_or(0)}; }

bool no_worse(const Aims& a, const Aims& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] > b[i]) return false;
  return true;
}

}  // namespace

double effort_of(const Candidate& candidate) { return candidate.energy_j.value_or(candidate.gpu_hours); }

std::vector<std::size_t> front_of(std::span<const Candidate> candidates) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].broken.none()) order.push_back(i);
  // In this order only an earlier one can beat a later one.
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return aims_of(candidates[i]); });
  std::vector<std::size_t> front;
  std::vector<Aims> aims;
  for (const auto i : order) {
    const auto mine = aims_of(candidates[i]);
    if (std::ranges::any_of(aims, [&](const Aims& other) { return no_worse(other, mine); })) continue;
    front.push_back(i);
    aims.push_back(mine);
  }
  return front;
}

std::optional<std::size_t> knee_of(std::span<const Candidate> candidates, std::span<const std::size_t> front) {
  // Of time and energy alone: settings that are on the front for their cost or risk are left out.
  std::vector<std::size_t> curve;
  for (const auto i : front)
    if (curve.empty() || effort_of(candidates[i]) < effort_of(candidates[curve.back()])) curve.push_back(i);
  if (curve.size() < 3) return std::nullopt;
  const auto product = [&](std::size_t i) { return effort_of(candidates[i]) * candidates[i].time_s; };
  const auto least = *std::ranges::min_element(curve, {}, product);
  if (least == curve.front() || least == curve.back()) return std::nullopt;
  return least;
}

}  // namespace gradwatt::planning

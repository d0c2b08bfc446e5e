#include "gradwatt/simulation/steady.hpp"

#include <algorithm>
#include <cmath>

namespace gradwatt::simulation {

void SteadyWatch::step_ended(int step, double end_s) {
  const auto index = static_cast<std::size_t>(step);
  if (steps_.size() <= index) steps_.resize(index + 1);
  ++steps_[index].ended;
  steps_[index].last_end_s = std::max(steps_[index].last_end_s, end_s);
}

bool SteadyWatch::steady() const {
  std::size_t complete = 0;
  while (complete < steps_.size() && steps_[complete].ended == nodes_) ++complete;
  const auto cycle = static_cast<std::size_t>(steps_a_cycle_);
  const auto cycles = complete / cycle;
  if (cycles < 2) return false;
  const auto end_of = [&](std::size_t k) { return k == 0 ? 0.0 : steps_[k * cycle - 1].last_end_s; };
  const double last = end_of(cycles) - end_of(cycles - 1), before = end_of(cycles - 1) - end_of(cycles - 2);
  return std::abs(last - before) <= kAgreement * before;
}

void repeat_last_cycle(Outcome& outcome, int steps, int steps_a_cycle) {
  const auto row = static_cast<std::size_t>(outcome.nodes), back = row * static_cast<std::size_t>(steps_a_cycle);
  outcome.steps.reserve(static_cast<std::size_t>(steps) * row);
  const auto before = [&](std::size_t i) { return i >= back ? outcome.steps[i - back] : NodeStep{}; };
  const auto wanted = static_cast<std::size_t>(steps) * row;
  for (auto i = outcome.steps.size(); i < wanted; ++i) {
    // What this step added in the last cycle, added again.
    const auto model = outcome.steps[i - back], previous = before(i - row), last = outcome.steps[i - row];
    auto step = model;
    step.end_s = last.end_s + model.end_s - previous.end_s;
    step.node_energy_j = last.node_energy_j + model.node_energy_j - previous.node_energy_j;
    step.link_energy_j = last.link_energy_j + model.link_energy_j - previous.link_energy_j;
    outcome.steps.push_back(step);
  }
}

}  // namespace gradwatt::simulation

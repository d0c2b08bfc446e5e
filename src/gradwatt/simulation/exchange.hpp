// What one exchange of a strategy is at each node: closed-form time in the node before and after, messages between
// nodes in the middle. Pure; private to this folder.
#pragma once

#include <optional>
#include <vector>

#include "gradwatt/simulation/simulate.hpp"

namespace gradwatt::simulation {

struct Exchange {
  std::vector<double> before_s, after_s;  ///< by kind of node
  Schedule schedule;                      ///< members are the nodes
  double latency_s = 0;                   ///< of one message between nodes
  double rate = -1;                       ///< highest bytes a second of one message; −1: the node's cards
};

/// Exchanges of a job. Either may be absent.
struct Exchanges {
  std::optional<Exchange> gradients;   ///< each step, before the optimizer
  std::optional<Exchange> parameters;  ///< every `period` steps, after it
};
[[nodiscard]] Exchanges exchanges_of(const planning::Cluster& cluster, const Job& job);

}  // namespace gradwatt::simulation

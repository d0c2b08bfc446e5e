// Trains a job on a cluster that may not exist: each node computes, exchanges and waits as activities of a
// discrete-event simulation, messages between nodes share the links of the cluster, and the energy plug-in adds up the
// watts of what each node does. Exchanges between the GPUs of a node take their closed-form time
// (planning/collectives).
//
//   const auto outcome = simulate({.cluster = *cluster, .job = job, .steps = 100});
//   const auto run = run_record_of(request, *outcome);      // what report, diagnose and plan read
//
// Assumptions: all GPUs of a node compute alike; computing and communicating do not slow each other; a node draws
// gpu_busy_w while its GPUs compute, gpu_comm_w while they wait for an exchange, gpu_idle_w while they wait for data.
// Nothing here is random: the same request gives the same outcome.
#pragma once

#include <cstdint>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/planning/cluster/cluster.hpp"
#include "gradwatt/simulation/schedule.hpp"
#include "gradwatt/simulation/strategy.hpp"

namespace gradwatt::simulation {

/// A step of one rank on a node of speed 1.
struct Job {
  double data_wait_s = 0;
  double forward_s = 0;
  double backward_s = 0;
  double optimizer_s = 0;     ///< and what else a step computes after the gradients have come
  double gradient_bytes = 0;  ///< that each rank holds, in the type in which they travel
  /// Share of the gradients that may travel while the backward pass still computes; nothing of them hides at 0.
  double overlap = 0;
  int pieces = 1;                   ///< gradients travel in so many messages a round: each has its latency
  double compress_bytes_per_s = 0;  ///< of one-bit: gradient bytes compressed a second; 0: takes no time
  Strategy strategy;
};

struct Request {
  planning::Cluster cluster;
  Job job;
  int steps = 1;
  /// Simulate each of them. Otherwise equal steps are simulated until two agree, and then repeated.
  bool every_step = false;
};

/// One step of one node. Times are seconds since the start; phases add up to end − begin up to rounding.
struct NodeStep {
  double end_s = 0;
  double data_wait_s = 0, forward_s = 0, backward_s = 0, exposed_s = 0, optimizer_s = 0;
  double node_energy_j = 0;  ///< since the start, of all that stands in the node
  double link_energy_j = 0;  ///< since the start, of its cable; 0 where the file does not say its watts
};

struct Outcome {
  int nodes = 0;
  int simulated_steps = 0;      ///< the others repeat the last cycle of these
  std::int64_t messages = 0;    ///< between nodes, simulated
  std::vector<NodeStep> steps;  ///< all steps of the request, node by node within a step

  [[nodiscard]] const NodeStep& at(int step, int node) const {
    return steps[static_cast<std::size_t>(step) * static_cast<std::size_t>(nodes) + static_cast<std::size_t>(node)];
  }
  [[nodiscard]] int step_count() const { return static_cast<int>(steps.size()) / nodes; }
};

/// Errors: wrong_use for a job without work or with contradicting numbers, not_supported when the simulation ends
/// without an answer (memory).
[[nodiscard]] core::Result<Outcome> simulate(const Request& request);

/// Seconds that one play of a schedule takes when every member is a node of the cluster and starts at once: the
/// message-level answer to the closed forms. `share`, `latency`: planning has them. Errors as above.
[[nodiscard]] core::Result<double> play_alone(const planning::Cluster& cluster, const Schedule& schedule);

}  // namespace gradwatt::simulation

// Energy of a job from how long its nodes and GPUs do what.
//
//   E_nodes = nodes · base · T + Σ GPUs [ idle · T + active · (T_busy + wait_share · T_wait) ]
//   E       = (E_nodes + network · T) · psu · pue
//
// A GPU draws `idle` always and `active` on top while it works; while it waits for gradients its kernels spin, which
// costs `wait_share` of that. One coefficient per GPU-hour cannot say this: on the public scale series of MLPerf v4.0
// (8, 64, 512 H100) it errs by −13 and +20 %, because node power falls as waiting grows while the network adds back.
//
// Priors (median, spread of the logarithm):
//   wait_share 0.3 (0.5)  an assumption: between an idle GPU (0) and memory-bound kernels (about 0.6); communication
//                         kernels keep a GPU well above idle. Identified by runs with different shares of waiting.
//   idle, active          from the GPU's table (idle power, limit) or a run; told by the caller
//   network               switched_network_w, below
// Range: steady training on equal nodes. Not: DVFS during waiting, shared nodes, storage, cooling beyond PUE.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "gradwatt/core/result.hpp"
#include "gradwatt/planning/fit/least_squares.hpp"
#include "gradwatt/planning/models/throughput.hpp"

namespace gradwatt::planning {

/// How a job's time divides, over all its nodes. Times of a GPU are means over the GPUs that the job has.
struct NodeTimes {
  double nodes = 1;
  double gpus = 1;  ///< of the job; others in its nodes are counted in base
  double total_s = 0;
  double busy_s = 0;  ///< of a GPU: forward, backward, update
  double wait_s = 0;  ///< of a GPU: exposed communication; what is left of total_s is idle
};

struct NodePowerPriors {
  Known base_w{500, 0.7};    ///< a node without its GPUs: CPUs, memory, fans, cards
  Known idle_w{60, 0.4};     ///< a GPU that does nothing
  Known active_w{250, 0.5};  ///< what work adds to that
  Known wait_share{0.3, 0.5};
};

/// Measured over a phase or a run: energy of all its nodes, or of the GPUs alone.
struct EnergyObservation {
  NodeTimes times;
  std::optional<double> node_energy_j;
  std::optional<double> gpu_energy_j;
};

/// What is multiplied and added behind the nodes; told, not fitted.
struct Surroundings {
  double network_w = 0;         ///< switches of the whole job
  double network_spread = 0.3;  ///< of its logarithm
  double psu = 1;               ///< wall / measured; 1 where the nodes were measured at the wall
  double pue = 1;
};

struct NodeEnergyModel {
  Fit fit;
  bool knows_base = false;  ///< some observation was of whole nodes, or the prior was told as known
};

/// Unusable input when an observation has no energy, or a time that is not possible. None at all is the prior.
[[nodiscard]] core::Result<NodeEnergyModel> fit_node_energy(std::span<const EnergyObservation> observations,
                                                            const NodePowerPriors& priors = {});

struct NodePower {
  double base_w = 0, idle_w = 0, active_w = 0, wait_share = 0;
};
[[nodiscard]] NodePower node_power(const NodeEnergyModel& model);

/// Where the energy goes; the parts sum to total_j.
struct EnergySplit {
  double base_j = 0, gpu_idle_j = 0, gpu_busy_j = 0, gpu_wait_j = 0;
  double network_j = 0;
  double psu_j = 0, facility_j = 0;  ///< what power supplies and PUE add
  double total_j = 0;
};
[[nodiscard]] EnergySplit energy_split(const NodePower& power, const NodeTimes& times, const Surroundings& around = {});
[[nodiscard]] Figure energy_figure(const NodeEnergyModel& model, const NodeTimes& times,
                                   const Surroundings& around = {});

/// Watts of the switches that a cluster of this size needs when each network card of a node has a leaf of its own (one
/// rail a card): `ports / 2` nodes share a set of leaves, a second level with half as many switches joins them. Layout:
/// NVIDIA DGX SuperPOD reference architecture (H100: 8 leaves and 4 spines a 32 nodes). A 64-port 400 Gbit/s switch
/// with optical modules draws up to 1.7 kW by its data sheet; installed, not used ports count: they draw all the same.
[[nodiscard]] double switched_network_w(double nodes, double cards_per_node, double ports = 64, double switch_w = 1600);

}  // namespace gradwatt::planning

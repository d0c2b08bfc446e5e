// How long an optimiser step of a data-parallel job takes on a number of GPUs, and how much of it is exposed
// communication.
//
//   T_grad  = grad_fixed + grad_per_sample · m                         forward and backward of m samples a replica
//   T_net   = net · [ 2(K−1)/K + growth · log2(K/2) ]                  averaging of gradients over K replicas; its own
//             · two_nodes where a job on exactly two nodes has more    net and growth inside a node and across nodes
//             replicas than nodes
//   T_step  = (s − 1) · T_grad + (T_grad^γ + T_net^γ)^(1/γ)            s accumulation steps; γ: overlap of the two
//   T       = max(T_step, s · m / loader rate)                         where the input pipeline is slower
//
// Source of the form: Pollux (Qiao et al., OSDI 2021). Its growth is linear in K − 2 and its first step has no
// 2(K−1)/K. That factor is what a ring all-reduce moves (Patarasuk & Yuan 2009); log2 K is the depth of a tree and, up
// to a factor, how the slowest of K ranks falls behind. `two_nodes`: with two nodes all rings of a job run through one
// pair of network cards; measured on cloud instances, where it is 1.2 to 1.7. It is a nuisance to estimate, not a law.
//
// Priors (median, spread of the logarithm): γ − 1 = 1.5 (1.0), growth = 0.15 (0.7), two_nodes = 1.3 (0.4); scales of
// time from the observations, within a factor 7. Growth, two_nodes and the spreads of the interval (throughput.cpp)
// were set with the four Pollux traces in view (ImageNet, CIFAR-10, BERT, NCF; T4, 1–64 GPUs); tests/corpus also
// predicts each workload with the growth of the other three and no two_nodes.
//
// Known error there, beyond 8 GPUs: fitted on up to 8 GPUs 4–10 %, profiled on 1, 2 and 4 GPUs 5–12 %.
//
// Range: synchronous data parallelism, equal replicas. Not for pipeline or tensor parallelism across replicas; a
// replica may span several GPUs (its inner communication is then part of T_grad).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "gradwatt/core/result.hpp"
#include "gradwatt/planning/fit/least_squares.hpp"

namespace gradwatt::planning {

/// What a step has to do, and where.
struct StepLoad {
  double replicas = 1;  ///< data-parallel width K: GPUs / GPUs a replica
  double nodes = 1;
  double local_batch = 1;      ///< samples a replica and accumulation step, m
  double accumulation = 1;     ///< forward and backward passes an optimiser step, s
  double gradient_factor = 1;  ///< T_grad against the profiled job's: a power cap, a wider replica
};

struct StepObservation {
  StepLoad load;
  double step_s = 0;                ///< mean time of an optimiser step
  std::optional<double> exposed_s;  ///< of it waiting for gradients; better data make better fits
};

struct ThroughputParameters {
  double grad_fixed_s = 0, grad_per_sample_s = 0;
  double net_inside_s = 0, growth_inside = 0;  ///< T_net of two replicas in one node, and its growth
  double net_across_s = 0, growth_across = 0;  ///< of two replicas on two nodes
  double overlap = 2.5;                        ///< γ, 1 (no overlap) to 10 (the longer hides the shorter)
  double two_nodes = 1;
};

/// What is known of a parameter before any measurement, e.g. gradient bytes / link bandwidth of a link description.
struct Known {
  double value = 0;
  double spread = 0.7;  ///< of the logarithm
};

struct ThroughputPriors {
  Known growth{0.15, 0.7};
  Known two_nodes{1.3, 0.4};
  std::optional<Known> net_inside_s, net_across_s;
};

struct ThroughputModel {
  Fit fit;                                       ///< order of the values: throughput_parameters()
  bool knows_inside = false;                     ///< two replicas in one node: observed, or said by a prior
  bool knows_across = false;                     ///< two nodes, likewise
  double most_replicas = 0;                      ///< largest number observed; beyond it is extrapolation
  double smallest_batch = 0, largest_batch = 0;  ///< local, likewise
  std::optional<double> loader_samples_per_s;    ///< a replica's input pipeline; nothing: never the bound
};

/// Unusable input when there is no observation or one has a time, batch or count that is not above zero.
[[nodiscard]] core::Result<ThroughputModel> fit_throughput(std::span<const StepObservation> observations,
                                                           const ThroughputPriors& priors = {});
/// The model of published coefficients: all parameters known within `spread` (of the logarithm), nothing observed.
[[nodiscard]] ThroughputModel throughput_of(const ThroughputParameters& parameters, double spread);

[[nodiscard]] ThroughputParameters throughput_parameters(const ThroughputModel& model);

struct StepTime {
  double step_s = 0;
  double gradient_s = 0;  ///< s · T_grad
  double exposed_s = 0;   ///< communication that the step waits for
  double input_s = 0;     ///< waiting for data beyond both
};
/// Point figures; fast enough for a grid of thousands. Says nothing about what the data can carry: ask `gap_of` first.
[[nodiscard]] StepTime step_time(const ThroughputModel& model, const StepLoad& load);

/// With the 90 % interval of one run's mean step time: what the parameters leave open, the scatter between runs, the
/// spread between placements, and the form's own error, which grows with each doubling beyond what was observed.
[[nodiscard]] Figure step_figure(const ThroughputModel& model, const StepLoad& load);

/// Why no figure can be given for this load: the term that no observation shows, and the profile run that would show
/// it. Nothing when a figure is possible.
[[nodiscard]] std::optional<std::string> gap_of(const ThroughputModel& model, const StepLoad& load);

}  // namespace gradwatt::planning

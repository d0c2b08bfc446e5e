// A job as the planner knows it, and what it would need at another setting: time, energy and where it goes, each with
// an interval and what it rests on, or the reason why nobody can say.
//
//   JobModel job{.throughput = *fit_throughput(steps), .energy = *fit_node_energy(energies), …};
//   const auto sixteen = predict(job, {.gpus = 16, .gpus_per_node = 4, .local_batch = 64});
//
// `point` gives the same figures without intervals and words, for grids of thousands of settings.
#pragma once

#include <optional>
#include <string>

#include "gradwatt/planning/models/convergence.hpp"
#include "gradwatt/planning/models/node_energy.hpp"
#include "gradwatt/planning/models/power_cap.hpp"
#include "gradwatt/planning/models/throughput.hpp"

namespace gradwatt::planning {

/// Passes over held-out samples between the steps, divided over the replicas.
struct Evaluation {
  double samples = 0;              ///< of one evaluation; 0: none
  double every_samples = 0;        ///< training samples between two
  double first_after_samples = 0;  ///< 0: after the first `every_samples`
  double sample_s = 0;             ///< a replica's time for one, at the profiled width
  double fixed_s = 0;              ///< of one evaluation, whatever its size
  double fixed_spread = 0.7;       ///< of its logarithm
};

struct StartUp {
  double seconds = 0;   ///< loading, compilation, first steps; once a job
  double spread = 0.3;  ///< of its logarithm: it depends on the cluster's storage more than on the job
};

struct JobModel {
  ThroughputModel throughput;
  std::optional<CapModel> cap;
  std::optional<NodeEnergyModel> energy;
  std::optional<ConvergenceModel> convergence;  ///< in samples; wins over epochs
  double dataset_samples = 0;
  std::optional<double> epochs;
  Evaluation evaluation;
  StartUp start_up;
  /// GPUs of one replica in the profile, and how its pass gets faster with more: T_grad ∝ (GPUs)^−exponent. 0.8 with
  /// spread 0.25 is an assumption: model-parallel weak scaling inside a node keeps 77 to 95 % (Megatron-LM, Shoeybi et
  /// al. 2019), a pass of fixed size less; each doubling gains 1.5 to 2 times.
  double replica_gpus = 1;
  Known replica_exponent{0.8, 0.25};
  /// Network cards a node and their switches; 0: no network watts are counted.
  double cards_per_node = 0;
  Surroundings around;  ///< its network_w is that of the profile's size and is replaced where cards_per_node is given
};

struct Setting {
  double gpus = 1;
  double gpus_per_node = 1;
  double gpus_per_replica = 1;
  double local_batch = 1;  ///< samples a replica and pass
  double accumulation = 1;
  std::optional<double> cap_w;
  std::optional<double> dataset_samples;    ///< where it grows with the GPUs
  std::optional<double> samples_to_target;  ///< known otherwise; wins over convergence and epochs

  [[nodiscard]] double nodes() const;
  [[nodiscard]] double replicas() const { return gpus / gpus_per_replica; }
  [[nodiscard]] double global_batch() const { return replicas() * local_batch * accumulation; }
};

/// Figures without intervals; NaN-free, but only as good as `predict` says.
struct Point {
  StepTime step;
  double samples = 0, steps = 0;
  NodeTimes times;
  double time_s = 0;
  EnergySplit energy;  ///< all zero without an energy model
  double gpu_hours = 0;
};
[[nodiscard]] Point point(const JobModel& job, const Setting& setting);
/// The same job where it is known to take `time_s`: the work stays, what is left is waiting.
[[nodiscard]] Point point_given_time(const JobModel& job, const Setting& setting, double time_s);

/// A figure and what it rests on, or why there is none and which run would give one.
struct Answer {
  std::optional<Figure> figure;
  std::string origin;  ///< of the figure, or the reason
};
struct Prediction {
  Answer time_s, energy_j, gpu_hours;
  Point point;
};
/// Settings that make no sense (no whole replica, nothing above zero) are answered with that reason.
[[nodiscard]] Prediction predict(const JobModel& job, const Setting& setting);

}  // namespace gradwatt::planning

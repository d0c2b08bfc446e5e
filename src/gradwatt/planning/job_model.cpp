#include "gradwatt/planning/job_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradwatt::planning {
namespace {

constexpr double kNormal90 = 1.6448536269514722;

double spread_in(const Figure& figure) { return std::log(figure.high90 / figure.low90) / 2 / kNormal90; }
Figure around(double value, double spread) {
  const double factor = std::exp(kNormal90 * spread);
  return {value, value / factor, value * factor};
}

double samples_of(const JobModel& job, const Setting& setting) {
  if (setting.samples_to_target) return *setting.samples_to_target;
  if (job.convergence) return samples_to_target(*job.convergence, setting.global_batch());
  return job.epochs.value_or(0) * setting.dataset_samples.value_or(job.dataset_samples);
}

/// Of a pass against the profile's: a wider replica, and what a cap slows.
double width_factor(const JobModel& job, const Setting& setting) {
  return std::pow(job.replica_gpus / setting.gpus_per_replica, job.replica_exponent.value);
}
double cap_factor(const JobModel& job, const Setting& setting) {
  return job.cap && setting.cap_w ? slowdown_at(*job.cap, *setting.cap_w) : 1;
}
StepLoad load_of(const JobModel& job, const Setting& setting) {
  return {setting.replicas(), setting.nodes(), setting.local_batch, setting.accumulation,
          width_factor(job, setting) * cap_factor(job, setting)};
}

struct EvaluationTime {
  double count = 0, fixed_s = 0, busy_s = 0;  ///< seconds of one
};
EvaluationTime evaluation_of(const JobModel& job, const Setting& setting, double samples) {
  const auto& e = job.evaluation;
  if (e.samples <= 0 || e.every_samples <= 0) return {};
  const double first = e.first_after_samples > 0 ? e.first_after_samples : e.every_samples;
  const double count = samples < first ? 0 : 1 + std::floor((samples - first) / e.every_samples);
  const double rounds = std::ceil(e.samples / setting.replicas());
  return {count, e.fixed_s, rounds * e.sample_s * width_factor(job, setting) * cap_factor(job, setting)};
}

/// Under a cap the power of a working GPU falls as profiled; its idle part stays.
NodePower power_under(const JobModel& job, const Setting& setting) {
  auto power = node_power(*job.energy);
  if (job.cap && setting.cap_w) {
    const double share = power_at(*job.cap, *setting.cap_w) / power_at(*job.cap, job.cap->highest_w);
    power.active_w = std::max(0.0, (power.idle_w + power.active_w) * share - power.idle_w);
  }
  return power;
}

Surroundings surroundings(const JobModel& job, const Setting& setting) {
  auto out = job.around;
  if (job.cards_per_node > 0) out.network_w = switched_network_w(setting.nodes(), job.cards_per_node);
  return out;
}

/// Of a GPU: the work as if a wider replica lost nothing, and what it waits for besides.
double busy_s(const JobModel& job, const Setting& setting, const Point& p, const EvaluationTime& evaluation) {
  const double lost = width_factor(job, setting) * setting.gpus_per_replica / job.replica_gpus;
  return (p.steps * p.step.gradient_s + evaluation.count * evaluation.busy_s) / std::max(1.0, lost);
}

void add_energy(const JobModel& job, const Setting& setting, Point& p) {
  if (job.energy) p.energy = energy_split(power_under(job, setting), p.times, surroundings(job, setting));
}

Point point_at(const JobModel& job, const Setting& setting, std::optional<double> time_s) {
  Point p;
  p.step = step_time(job.throughput, load_of(job, setting));
  p.samples = samples_of(job, setting);
  p.steps = std::ceil(p.samples / setting.global_batch());
  const auto evaluation = evaluation_of(job, setting, p.samples);
  const double idle_s = job.start_up.seconds + p.steps * p.step.input_s + evaluation.count * evaluation.fixed_s;
  p.time_s =
      time_s.value_or(idle_s + p.steps * (p.step.step_s - p.step.input_s) + evaluation.count * evaluation.busy_s);
  p.times = {setting.nodes(), setting.gpus, p.time_s, 0, 0};
  p.times.busy_s = std::min(p.time_s, busy_s(job, setting, p, evaluation));
  p.times.wait_s = std::max(0.0, p.time_s - p.times.busy_s - idle_s);
  p.gpu_hours = setting.gpus * p.time_s / 3600;
  add_energy(job, setting, p);
  return p;
}

std::string senseless(const JobModel& job, const Setting& s) {
  if (!(s.gpus >= 1 && s.gpus_per_node >= 1 && s.gpus_per_replica >= 1 && s.local_batch > 0 && s.accumulation >= 1))
    return "GPUs, GPUs a node and a replica, batch and accumulation must be above zero";
  if (s.replicas() < 1 || s.replicas() != std::floor(s.replicas()))
    return fmt::format("{:g} GPUs are no whole number of replicas of {:g} GPUs", s.gpus, s.gpus_per_replica);
  if (samples_of(job, s) <= 0)
    return "neither epochs and size of the data set nor the samples to a target are known, so nobody can say how long "
           "the "
           "job is";
  return {};
}

std::optional<std::string> time_gap(const JobModel& job, const Setting& setting) {
  if (auto reason = senseless(job, setting); !reason.empty()) return reason;
  if (auto gap = gap_of(job.throughput, load_of(job, setting))) return gap;
  if (setting.cap_w && !job.cap) return "no power cap was profiled; profile three (highest, 60 % and 45 % of it)";
  if (setting.cap_w)
    if (auto gap = gap_of(*job.cap, *setting.cap_w)) return gap;
  if (job.convergence && !setting.samples_to_target)
    if (auto gap = gap_of(*job.convergence, setting.global_batch())) return gap;
  return std::nullopt;
}

/// Spread of the logarithm of the whole time: its parts' spreads, weighted by their shares.
double time_spread(const JobModel& job, const Setting& setting, const Point& p) {
  const auto load = load_of(job, setting);
  const double steps = p.steps * p.step.step_s / p.time_s;
  const double gradient = p.steps * p.step.gradient_s / p.time_s;
  double step = spread_in(step_figure(job.throughput, load));
  if (job.convergence && !setting.samples_to_target)
    step = std::hypot(step, spread_in(samples_figure(*job.convergence, setting.global_batch())));
  if (job.cap && setting.cap_w) step = std::hypot(step, slowdown_spread(*job.cap, *setting.cap_w));
  const double width = job.replica_exponent.value * job.replica_exponent.spread *
                       std::abs(std::log(setting.gpus_per_replica / job.replica_gpus));
  const auto evaluation = evaluation_of(job, setting, p.samples);
  const double fixed = evaluation.count * evaluation.fixed_s / p.time_s;
  const double start = job.start_up.seconds / p.time_s;
  const double other = std::hypot(fixed * job.evaluation.fixed_spread, start * job.start_up.spread);
  return std::hypot(steps * step, gradient * width, other);
}

std::string time_origin(const JobModel& job, const Setting& setting) {
  const double most = std::max(1.0, job.throughput.most_replicas);
  if (setting.replicas() <= most) return fmt::format("model, inside the profile of up to {:g} replicas", most);
  return fmt::format("model, extrapolated from {:g} to {:g} replicas", most, setting.replicas());
}

}  // namespace

double Setting::nodes() const { return std::ceil(gpus / gpus_per_node); }

Point point(const JobModel& job, const Setting& setting) { return point_at(job, setting, std::nullopt); }

Point point_given_time(const JobModel& job, const Setting& setting, double time_s) {
  return point_at(job, setting, time_s);
}

Prediction predict(const JobModel& job, const Setting& setting) {
  Prediction out;
  if (auto gap = time_gap(job, setting)) {
    out.time_s.origin = out.energy_j.origin = out.gpu_hours.origin = *gap;
    return out;
  }
  out.point = point(job, setting);
  const double spread = time_spread(job, setting, out.point);
  out.time_s = {around(out.point.time_s, spread), time_origin(job, setting)};
  out.gpu_hours = {around(out.point.gpu_hours, spread), out.time_s.origin};
  if (!job.energy) {
    out.energy_j.origin = "no power was measured in the profile; run it under gradwatt, or describe the node";
    return out;
  }
  if (!job.energy->knows_base) {
    out.energy_j.origin =
        "only the GPUs were measured; what the node draws besides is unknown: measure the CPU and the node, "
        "or give the node's watts";
    return out;
  }
  // Waiting longer costs less than working longer, so a spread of time counts at most once.
  const double power = spread_in(energy_figure(*job.energy, out.point.times, surroundings(job, setting)));
  out.energy_j = {around(out.point.energy.total_j, std::hypot(power, spread)), out.time_s.origin};
  return out;
}

}  // namespace gradwatt::planning

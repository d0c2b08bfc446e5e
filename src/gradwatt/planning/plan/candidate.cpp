#include "gradwatt/planning/plan/candidate.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace gradwatt::planning {
namespace {

constexpr double kJoulePerKwh = 3.6e6;

constexpr std::array<std::string_view, kLimits> kNames{"batch-division", "profile",  "memory",      "min-batch",
                                                       "max-batch",      "max-risk", "whole-nodes", "max-nodes",
                                                       "deadline",       "budget",   "cost"};

std::optional<double> risk_of(const Question& question, double global_batch) {
  if (!question.good_batches) return std::nullopt;
  const auto& good = *question.good_batches;
  if (global_batch > good.most) return std::log2(global_batch / good.most);
  return global_batch < good.least ? std::log2(good.least / global_batch) : 0;
}

bool is_whole(double value) { return std::abs(value - std::round(value)) < 1e-9; }

/// What the setting alone decides.
void check_shape(const Question& question, const HardwareOption& hardware, Candidate& c) {
  const auto& limits = question.limits;
  const auto& s = c.setting;
  if (!is_whole(s.replicas()) || s.replicas() < 1 || !is_whole(s.local_batch) || s.local_batch < 1)
    c.broken.add(Limit::whole_batch);
  const auto memory = [&](const std::optional<double>& most) {
    if (most && s.local_batch > *most) c.broken.add(Limit::memory);
  };
  memory(hardware.most_local_batch);
  memory(limits.most_local_batch);
  if (limits.least_batch && s.global_batch() < *limits.least_batch) c.broken.add(Limit::least_batch);
  if (limits.most_batch && s.global_batch() > *limits.most_batch) c.broken.add(Limit::most_batch);
  if (limits.most_risk && c.risk.value_or(0) > *limits.most_risk + 1e-9) c.broken.add(Limit::risk);
  if (limits.whole_nodes && s.gpus > s.gpus_per_node && !is_whole(s.gpus / s.gpus_per_node))
    c.broken.add(Limit::whole_nodes);
  if (limits.most_nodes && s.nodes() > *limits.most_nodes) c.broken.add(Limit::nodes);
}

void take_figures(const Question& question, const JobModel& job, Candidate& c) {
  const auto p = point(job, c.setting);
  c.time_s = p.time_s;
  c.gpu_hours = p.gpu_hours;
  if (job.energy && job.energy->knows_base) c.energy_j = p.energy.total_j;
  const auto& prices = question.prices;
  if (!prices.any() || (prices.per_kwh && !c.energy_j)) return;
  c.cost = prices.per_gpu_hour.value_or(0) * c.gpu_hours;
  if (prices.per_kwh) *c.cost += *prices.per_kwh * *facility_energy_j(question, c) / kJoulePerKwh;
}

void check_figures(const Question& question, const JobModel& job, Candidate& c) {
  const auto& limits = question.limits;
  double time_s = c.time_s, more_energy = 1;
  if (limits.surely && (limits.deadline_s || limits.energy_j || limits.cost)) {
    const auto p = predict(job, c.setting);
    if (p.time_s.figure) time_s = p.time_s.figure->high90;
    if (p.energy_j.figure) more_energy = p.energy_j.figure->high90 / p.energy_j.figure->value;
  }
  if (limits.deadline_s && time_s > *limits.deadline_s) c.broken.add(Limit::deadline);
  if (limits.energy_j && more_energy * facility_energy_j(question, c).value_or(0) > *limits.energy_j)
    c.broken.add(Limit::energy);
  if (limits.cost && more_energy * c.cost.value_or(0) > *limits.cost) c.broken.add(Limit::cost);
}

JobModel with_strategy(const Question& question, std::size_t hardware, std::size_t strategy, double gpus) {
  const auto& axes = question.axes;
  auto job = axes.hardware[hardware].job;
  if (strategy >= axes.strategies.size() || !axes.strategies[strategy].cost_ratio) return job;
  const int per_node = static_cast<int>(std::min(gpus, axes.gpus_per_node));
  const Shape shape{static_cast<int>(std::ceil(gpus / axes.gpus_per_node)), std::max(1, per_node)};
  if (shape.ranks() > 1)
    job.throughput = scaled(std::move(job.throughput), 1, axes.strategies[strategy].cost_ratio(shape));
  return job;
}

Setting setting_of(const Axes& axes, double gpus, const BatchChoice& batch, double accumulation) {
  Setting out{.gpus = gpus,
              .gpus_per_node = axes.gpus_per_node,
              .gpus_per_replica = axes.gpus_per_replica,
              .local_batch = batch.samples,
              .accumulation = accumulation};
  if (batch.rule == BatchRule::global) out.local_batch = batch.samples / (out.replicas() * accumulation);
  return out;
}

/// Its caps are not known; it is planned without one.
bool is_carried_over(const HardwareOption& hardware) { return hardware.origin.starts_with(kCarriedOver); }

/// An axis that was left out has one place where nothing is set.
template <class T>
std::vector<std::optional<T>> places(const std::vector<T>& axis) {
  std::vector<std::optional<T>> out(axis.begin(), axis.end());
  if (out.empty()) out.emplace_back();
  return out;
}

}  // namespace

std::string_view name_of(Limit limit) { return kNames[static_cast<std::size_t>(limit)]; }

std::optional<Limit> LimitSet::first() const {
  for (std::size_t i = 0; i < kLimits; ++i)
    if (has(static_cast<Limit>(i))) return static_cast<Limit>(i);
  return std::nullopt;
}

std::optional<double> facility_energy_j(const Question& question, const Candidate& candidate) {
  if (!candidate.energy_j) return std::nullopt;
  return *candidate.energy_j * question.prices.pue;
}

JobModel job_of(const Question& question, const Candidate& candidate) {
  return with_strategy(question, candidate.hardware, candidate.strategy, candidate.setting.gpus);
}

Grid evaluate(const Question& question) {
  const auto& axes = question.axes;
  const auto data = places(axes.data);
  const auto caps = places(axes.caps_w);
  const std::size_t strategies = std::max<std::size_t>(1, axes.strategies.size());
  Grid grid;
  grid.extent = {axes.hardware.size(),     strategies,  axes.gpus.size(), axes.batches.size(),
                 axes.accumulation.size(), data.size(), caps.size()};
  std::size_t count = 1;
  for (const auto places_there : grid.extent) count *= places_there;
  grid.candidates.reserve(count);
  const auto add = [&](Candidate c, const JobModel& job) {
    c.risk = risk_of(question, c.setting.global_batch());
    check_shape(question, axes.hardware[c.hardware], c);
    if (!c.broken.has(Limit::whole_batch)) {
      if (gap_of(job, c.setting))
        c.broken.add(Limit::unknown);
      else
        take_figures(question, job, c), check_figures(question, job, c);
    }
    grid.candidates.push_back(std::move(c));
  };
  for (std::size_t hardware = 0; hardware < axes.hardware.size(); ++hardware)
    for (std::size_t strategy = 0; strategy < strategies; ++strategy)
      for (const double gpus : axes.gpus) {
        const auto job = with_strategy(question, hardware, strategy, gpus);
        for (std::size_t batch = 0; batch < axes.batches.size(); ++batch)
          for (const double accumulation : axes.accumulation)
            for (const auto& samples : data)
              for (const auto& cap : caps) {
                Candidate c{.setting = setting_of(axes, gpus, axes.batches[batch], accumulation),
                            .hardware = static_cast<std::uint16_t>(hardware),
                            .strategy = static_cast<std::uint16_t>(strategy),
                            .batch = static_cast<std::uint16_t>(batch)};
                if (!is_carried_over(axes.hardware[hardware])) c.setting.cap_w = cap;
                if (samples) c.setting.dataset_samples = samples->per_gpu ? samples->samples * gpus : samples->samples;
                add(std::move(c), job);
              }
      }
  return grid;
}

std::vector<std::size_t> Grid::neighbours(std::size_t of) const {
  std::vector<std::size_t> out;
  std::size_t stride = candidates.size();
  for (const auto places_there : extent) {
    stride /= places_there;
    const auto place = of / stride % places_there;
    if (place > 0) out.push_back(of - stride);
    if (place + 1 < places_there) out.push_back(of + stride);
  }
  return out;
}

}  // namespace gradwatt::planning

#include "gradwatt/energy/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gradwatt/energy/bootstrap.hpp"

namespace gradwatt::energy {
namespace {

/// Below this an interval over steps is a guess (the confident minimum of comparable tools).
constexpr std::size_t kFewSteps = 20;
/// Pairs from which on a change may be called proven.
constexpr std::size_t kProvingPairs = 3;

/// Means of one run or of one resample of it: all that the metrics are computed from.
struct Means {
  std::optional<double> step_s, data_wait_s, comm_exposed_s, power_w, samples_per_step;
};

struct MetricInfo {
  std::string_view name, unit;
  bool relative;
  int better;
  std::optional<double> (*value)(const Means&);
};

std::optional<double> share(std::optional<double> part, std::optional<double> whole) {
  return part && whole && *whole > 0 ? std::optional(*part / *whole) : std::nullopt;
}
std::optional<double> product(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional(*a * *b) : std::nullopt;
}

constexpr auto kMetrics = std::to_array<MetricInfo>({
    {"samples_per_s", "1/s", true, +1, [](const Means& m) { return share(m.samples_per_step, m.step_s); }},
    {"steps_per_s", "1/s", true, +1, [](const Means& m) { return share(1.0, m.step_s); }},
    {"step_s", "s", true, -1, [](const Means& m) { return m.step_s; }},
    {"energy_per_sample_j", "J", true, -1,
     [](const Means& m) { return share(product(m.power_w, m.step_s), m.samples_per_step); }},
    {"energy_per_step_j", "J", true, -1, [](const Means& m) { return product(m.power_w, m.step_s); }},
    {"power_avg_w", "W", true, 0, [](const Means& m) { return m.power_w; }},
    {"data_wait_share", "", false, -1, [](const Means& m) { return share(m.data_wait_s, m.step_s); }},
    {"comm_exposed_share", "", false, -1, [](const Means& m) { return share(m.comm_exposed_s, m.step_s); }},
});

std::optional<double> mean_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::optional<double> mean_at(const std::vector<double>& values, const std::vector<std::size_t>& places) {
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (const auto place : places) sum += values[place];
  return sum / static_cast<double>(places.size());
}

Means means_of(const RunFigures& run) {
  return {mean_of(run.step_s), mean_of(run.data_wait_s), mean_of(run.comm_exposed_s), mean_of(run.power_w),
          run.samples_per_step};
}

/// Draws one run's steps and power anew, in blocks of their own correlation.
class Resampler {
 public:
  explicit Resampler(const RunFigures& run)
      : run_(run), step_block_(correlation_length(run.step_s)), power_block_(correlation_length(run.power_w)) {}

  [[nodiscard]] Means draw(std::mt19937_64& random) const {
    Means out{.samples_per_step = run_.samples_per_step};
    if (!run_.step_s.empty()) {
      // The same places for all that was told of a step: what a step waits and how long it takes belong together.
      const auto places = block_resample(run_.step_s.size(), step_block_, random);
      out.step_s = mean_at(run_.step_s, places);
      out.data_wait_s = mean_at(run_.data_wait_s, places);
      out.comm_exposed_s = mean_at(run_.comm_exposed_s, places);
    }
    if (!run_.power_w.empty())
      out.power_w = mean_at(run_.power_w, block_resample(run_.power_w.size(), power_block_, random));
    return out;
  }

 private:
  const RunFigures& run_;
  std::size_t step_block_, power_block_;
};

std::optional<double> change_of(bool relative, std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return std::nullopt;
  if (!relative) return *b - *a;
  return *a > 0 && *b > 0 ? std::optional(*b / *a - 1) : std::nullopt;
}

void put_steps_interval(const MetricInfo& info, const RunFigures& a, const RunFigures& b, MetricChange& out) {
  if (!out.change) return;
  const Resampler from_a(a), from_b(b);
  const auto interval = bootstrap([&](std::mt19937_64& random) {
    const auto drawn_a = from_a.draw(random), drawn_b = from_b.draw(random);
    return change_of(info.relative, info.value(drawn_a), info.value(drawn_b));
  });
  if (!interval) return;
  out.low = interval->low;
  out.high = interval->high;
  out.interval = IntervalOf::steps;
}

/// Values of one metric over the runs of a side; nothing when one of them lacks it.
std::optional<std::vector<double>> values_of(std::span<const RunFigures> side, const auto& value) {
  std::vector<double> out;
  for (const auto& run : side) {
    const std::optional<double> number = value(run);
    if (!number) return std::nullopt;
    out.push_back(*number);
  }
  return out;
}

void put_runs_interval(bool relative, std::vector<double> a, std::vector<double> b, bool paired, MetricChange& out) {
  out.a = mean_of(a);
  out.b = mean_of(b);
  out.change = change_of(relative, out.a, out.b);
  if (relative && std::ranges::any_of(a, [](double v) { return v <= 0; })) return;
  if (relative && std::ranges::any_of(b, [](double v) { return v <= 0; })) return;
  if (relative)
    for (auto* side : {&a, &b})
      for (double& value : *side) value = std::log(value);
  std::optional<Interval> interval;
  double middle = 0;
  if (paired) {
    std::vector<double> differences;
    for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(b[i] - a[i]);
    interval = mean_interval(differences);
    middle = *mean_of(differences);
  } else {
    interval = difference_interval(a, b);
    middle = *mean_of(b) - *mean_of(a);
  }
  if (!interval) return;
  const auto back = [&](double value) { return relative ? std::exp(value) - 1 : value; };
  out.change = back(middle);
  out.low = back(interval->low);
  out.high = back(interval->high);
  out.interval = IntervalOf::runs;
}

/// One of each side, then one of each side, …: in the order of their beginning.
bool taken_in_turn(std::span<const RunFigures> a, std::span<const RunFigures> b) {
  if (a.size() != b.size()) return false;
  std::vector<std::pair<std::int64_t, bool>> order;
  for (const auto& run : a) {
    if (!run.begin_ns) return false;
    order.emplace_back(*run.begin_ns, false);
  }
  for (const auto& run : b) {
    if (!run.begin_ns) return false;
    order.emplace_back(*run.begin_ns, true);
  }
  std::ranges::sort(order);
  for (std::size_t i = 0; i + 1 < order.size(); i += 2)
    if (order[i].second == order[i + 1].second) return false;
  return true;
}

std::vector<RunFigures> by_begin(std::span<const RunFigures> runs) {
  std::vector<RunFigures> out(runs.begin(), runs.end());
  std::ranges::stable_sort(out, {}, [](const auto& run) { return run.begin_ns.value_or(0); });
  return out;
}

MetricChange begin_change(const MetricInfo& info) {
  return {.name = info.name,
          .unit = info.unit,
          .relative = info.relative,
          .a = {},
          .b = {},
          .change = {},
          .low = {},
          .high = {},
          .interval = IntervalOf::none,
          .better = info.better};
}

MetricChange compare_metric(const MetricInfo& info, std::span<const RunFigures> a, std::span<const RunFigures> b,
                            bool paired) {
  auto out = begin_change(info);
  const auto value = [&](const RunFigures& run) { return info.value(means_of(run)); };
  const auto of_a = values_of(a, value), of_b = values_of(b, value);
  if (of_a) out.a = mean_of(*of_a);
  if (of_b) out.b = mean_of(*of_b);
  if (!of_a || !of_b) return out;
  out.change = change_of(info.relative, out.a, out.b);
  if (a.size() == 1 && b.size() == 1)
    put_steps_interval(info, a.front(), b.front(), out);
  else
    put_runs_interval(info.relative, *of_a, *of_b, paired, out);
  return out;
}

std::optional<MetricChange> compare_cause(std::span<const RunFigures> a, std::span<const RunFigures> b, bool paired) {
  const auto value = [](const RunFigures& run) { return run.cause_metric; };
  const auto of_a = values_of(a, value), of_b = values_of(b, value);
  if (!of_a || !of_b) return std::nullopt;
  MetricChange out{.name = "cause_metric",
                   .unit = "",
                   .relative = false,
                   .a = mean_of(*of_a),
                   .b = mean_of(*of_b),
                   .change = {},
                   .low = {},
                   .high = {},
                   .interval = IntervalOf::none,
                   .better = 0};
  out.change = change_of(false, out.a, out.b);
  if (a.size() > 1 || b.size() > 1) put_runs_interval(false, *of_a, *of_b, paired, out);
  return out;
}

std::optional<double> mean_over(std::span<const RunFigures> side, std::optional<double> RunFigures::*member) {
  const auto values = values_of(side, [&](const RunFigures& run) { return run.*member; });
  return values ? mean_of(*values) : std::nullopt;
}

/// Part of a step that one side has and the other has not, as a part of the larger side's step.
std::optional<double> lost(const MetricChange* metric) {
  return metric != nullptr && metric->a && metric->b ? std::optional(std::max(0.0, *metric->b - *metric->a))
                                                     : std::nullopt;
}

std::optional<Scaling> scaling_of(std::span<const RunFigures> a, std::span<const RunFigures> b,
                                  const Comparison& comparison) {
  const auto of_a = mean_over(a, &RunFigures::ranks), of_b = mean_over(b, &RunFigures::ranks);
  const auto* speed = comparison.find("samples_per_s");
  if (!of_a || !of_b || *of_a == *of_b || *of_a <= 0 || speed == nullptr || !speed->a || !speed->b || *speed->a <= 0)
    return std::nullopt;
  Scaling out{.a_ranks = *of_a,
              .b_ranks = *of_b,
              .weak = true,
              .efficiency = (*speed->b / *speed->a) / (*of_b / *of_a),
              .lost_input = {},
              .lost_communication = {},
              .lost_imbalance = {},
              .lost_rest = {}};
  const auto local_a = mean_over(a, &RunFigures::local_batch), local_b = mean_over(b, &RunFigures::local_batch);
  out.weak = !local_a || !local_b || std::abs(*local_b / *local_a - 1) < 0.05;
  out.lost_input = lost(comparison.find("data_wait_share"));
  out.lost_communication = lost(comparison.find("comm_exposed_share"));
  const auto skew_a = mean_over(a, &RunFigures::skew_share), skew_b = mean_over(b, &RunFigures::skew_share);
  if (skew_b)
    out.lost_imbalance = std::max(0.0, *skew_b / (1 + *skew_b) - skew_a.value_or(0) / (1 + skew_a.value_or(0)));
  out.lost_rest = std::max(0.0, 1 - out.efficiency - out.lost_input.value_or(0) - out.lost_communication.value_or(0) -
                                    out.lost_imbalance.value_or(0));
  return out;
}

void judge_one_each(const RunFigures& a, const RunFigures& b, const MetricChange& speed, Comparison& out) {
  out.verdict = speed.moved() ? Verdict::likely : Verdict::no_difference;
  out.reasons.emplace_back("one run each: variation between runs is not in this interval");
  const auto steps = std::min(a.step_s.size(), b.step_s.size());
  if (steps < kFewSteps)
    out.reasons.push_back(fmt::format("only {} steps on one side: the interval is weak below {}", steps, kFewSteps));
}

void judge_groups(bool paired, const MetricChange& speed, Comparison& out) {
  if (!speed.moved()) {
    out.verdict = speed.interval == IntervalOf::runs ? Verdict::no_difference : Verdict::not_comparable;
    out.reasons.emplace_back(speed.interval == IntervalOf::runs ? "the interval over runs includes no change"
                                                                : "one side has too few runs for an interval");
    return;
  }
  out.verdict = Verdict::likely;
  if (!paired)
    out.reasons.emplace_back("the runs were not taken in turn: something else may have changed between the groups");
  if (paired && out.pairs < kProvingPairs)
    out.reasons.push_back(fmt::format("{} pairs taken in turn; proven needs {}", out.pairs, kProvingPairs));
  const bool cause_moved = out.cause && out.cause->moved();
  if (!out.cause)
    out.reasons.emplace_back("no figure of the cause is known in all runs: what changed it is open");
  else if (!cause_moved)
    out.reasons.emplace_back("the cause's own figure did not move: something else made the difference");
  if (paired && out.pairs >= kProvingPairs && cause_moved) {
    out.verdict = Verdict::proven;
    out.reasons.push_back(fmt::format(
        "{} pairs taken in turn, their interval excludes no change, and the cause's own figure moved", out.pairs));
  }
}

}  // namespace

std::string_view name_of(IntervalOf interval) {
  constexpr std::array<std::string_view, 3> kNames{"runs", "steps", "none"};
  return kNames[static_cast<std::size_t>(interval)];
}

std::string_view name_of(Verdict verdict) {
  constexpr std::array<std::string_view, 4> kNames{"proven", "likely", "no-difference", "not-comparable"};
  return kNames[static_cast<std::size_t>(verdict)];
}

const MetricChange* Comparison::find(std::string_view name) const {
  const auto it = std::ranges::find(metrics, name, &MetricChange::name);
  return it != metrics.end() ? &*it : nullptr;
}

const MetricChange* Comparison::speed() const {
  for (const std::string_view name : {"samples_per_s", "steps_per_s"})
    if (const auto* metric = find(name); metric != nullptr && metric->change) return metric;
  return nullptr;
}

Comparison compare(std::span<const RunFigures> side_a, std::span<const RunFigures> side_b) {
  const auto a = by_begin(side_a), b = by_begin(side_b);
  Comparison out;
  const bool paired = a.size() > 1 && taken_in_turn(a, b);
  out.pairs = paired ? a.size() : 0;
  for (const auto& info : kMetrics) out.metrics.push_back(compare_metric(info, a, b, paired));
  out.cause = compare_cause(a, b, paired);
  out.scaling = scaling_of(a, b, out);
  const auto* speed = out.speed();
  if (speed == nullptr) {
    out.reasons.emplace_back("no speed is known on both sides: neither samples nor steps were told");
    return out;
  }
  if (speed->name == "steps_per_s" && a.front().samples_per_step.has_value() != b.front().samples_per_step.has_value())
    out.reasons.emplace_back("only one side tells its samples: steps are compared, which may hold unlike work");
  if (a.size() == 1 && b.size() == 1)
    judge_one_each(a.front(), b.front(), *speed, out);
  else
    judge_groups(paired, *speed, out);
  return out;
}

}  // namespace gradwatt::energy

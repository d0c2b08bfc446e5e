#include "training_cost.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "gradwatt/report/figures.hpp"

namespace gradwatt::app {
namespace {

using Json = nlohmann::json;

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <class T>
std::optional<T> optional_from(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<T>());
}

/// A sum of what every one has; nothing when one of them lacks it.
template <class T>
std::optional<T> plus(std::optional<T> a, std::optional<T> b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}

void add(const HostCost& host, TrainingCost& sum) {
  if (!host.energy_j) return;
  const bool first = sum.measured_hosts++ == 0;
  sum.energy_j = sum.energy_j.value_or(0) + *host.energy_j;
  sum.low_j = first ? host.low_j : plus(sum.low_j, host.low_j);
  sum.high_j = first ? host.high_j : plus(sum.high_j, host.high_j);
  sum.how = first ? host.how : std::max(sum.how, host.how);
  sum.coverage = first ? host.coverage : std::min(sum.coverage, host.coverage);
  for (const auto& name : host.not_measured)
    if (std::ranges::find(sum.not_measured, name) == sum.not_measured.end()) sum.not_measured.push_back(name);
}

std::string origin_of(const TrainingCost& cost) {
  auto text = report::origin_text(cost.how, record::Where::live, record::Where::live);
  if (const auto range = report::range_text(cost.energy_j, cost.low_j, cost.high_j)) text += " " + *range;
  return text + fmt::format(", {} covered", report::coverage_text(cost.coverage));
}

}  // namespace

HostCost cost_of(const energy::Summary& summary) {
  HostCost cost{.by = HostCost::MeasuredBy::trainer};
  const auto& total = summary.energy;
  cost.energy_j = total.energy_j;
  cost.low_j = total.low_j;
  cost.high_j = total.high_j;
  cost.how = total.how;
  cost.coverage = total.coverage;
  cost.not_measured = total.not_measured;
  if (const auto& steps = summary.steps; steps && steps->energy_per_sample_j && steps->samples) {
    cost.samples = steps->samples;
    cost.steps_energy_j = *steps->energy_per_sample_j * static_cast<double>(*steps->samples);
  }
  return cost;
}

std::string to_line(const HostCost& cost) {
  return Json{{"by_run", cost.by == HostCost::MeasuredBy::run},
              {"energy_j", value_or_null(cost.energy_j)},
              {"low_j", value_or_null(cost.low_j)},
              {"high_j", value_or_null(cost.high_j)},
              {"how", static_cast<int>(cost.how)},
              {"coverage", cost.coverage},
              {"not_measured", cost.not_measured},
              {"steps_energy_j", value_or_null(cost.steps_energy_j)},
              {"samples", value_or_null(cost.samples)}}
      .dump();
}

core::Result<HostCost> host_cost_from(const std::string& line) {
  try {
    const auto json = Json::parse(line);
    HostCost cost;
    cost.by = json.at("by_run").get<bool>() ? HostCost::MeasuredBy::run : HostCost::MeasuredBy::trainer;
    cost.energy_j = optional_from<double>(json.at("energy_j"));
    cost.low_j = optional_from<double>(json.at("low_j"));
    cost.high_j = optional_from<double>(json.at("high_j"));
    cost.how = static_cast<record::How>(json.at("how").get<int>());
    cost.coverage = json.at("coverage").get<double>();
    cost.not_measured = json.at("not_measured").get<std::vector<std::string>>();
    cost.steps_energy_j = optional_from<double>(json.at("steps_energy_j"));
    cost.samples = optional_from<std::int64_t>(json.at("samples"));
    return cost;
  } catch (const Json::exception& error) {
    return core::fail(core::Errc::unusable_input, fmt::format("a host's energy cannot be read: {}", error.what()));
  }
}

TrainingCost sum_of(std::span<const HostCost> hosts) {
  TrainingCost sum{.hosts = hosts.size()};
  std::optional<double> steps_energy_j = 0;
  std::optional<std::int64_t> samples = 0;
  for (const auto& host : hosts) {
    if (host.by == HostCost::MeasuredBy::run) ++sum.hosts_below_run;
    add(host, sum);
    steps_energy_j = plus(steps_energy_j, host.steps_energy_j);
    samples = plus(samples, host.samples);
  }
  if (steps_energy_j && samples && *samples > 0)
    sum.energy_per_sample_j = *steps_energy_j / static_cast<double>(*samples);
  return sum;
}

std::vector<std::string> lines_about(const TrainingCost& cost) {
  std::vector<std::string> lines;
  if (cost.energy_j) {
    auto text = fmt::format("{} ({})", report::energy_text(*cost.energy_j), origin_of(cost));
    if (cost.hosts > 1) text += fmt::format(" on {} of {} hosts", cost.measured_hosts, cost.hosts);
    if (cost.energy_per_sample_j)
      text += fmt::format(", {} a sample", report::small_energy_text(*cost.energy_per_sample_j));
    lines.push_back(std::move(text));
  }
  if (cost.energy_j && !cost.not_measured.empty())
    lines.push_back(fmt::format("not in it: {}", fmt::join(cost.not_measured, ", ")));
  if (cost.hosts_below_run > 0)
    lines.push_back(cost.hosts_below_run == cost.hosts
                        ? "in the report of `gradwatt run`, which measures this job"
                        : fmt::format("of {} of {} hosts in the report of `gradwatt run`, which measures there",
                                      cost.hosts_below_run, cost.hosts));
  if (lines.empty()) lines.emplace_back("not measured; `gradwatt doctor` says what can be measured here");
  return lines;
}

}  // namespace gradwatt::app

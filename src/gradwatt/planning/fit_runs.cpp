#include "gradwatt/planning/fit_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"
#include "gradwatt/energy/comparison.hpp"
#include "gradwatt/energy/steady_state.hpp"
#include "gradwatt/energy/steps.hpp"
#include "gradwatt/energy/totals.hpp"

namespace gradwatt::planning {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
std::optional<double> mean_if_any(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(mean(values));
}

double nodes_of(const record::Run& run) {
  if (const auto told = energy::fact_number(run, "job.nodes"); told && *told >= 1) return *told;
  std::set<std::string> hosts;
  for (const auto& device : run.devices)
    if (device.kind == record::DeviceKind::gpu) hosts.insert(device.host);
  return std::max<double>(1, static_cast<double>(hosts.size()));
}

/// Nothing when the run does not know when its job began.
std::optional<double> start_up_s(const record::Run& run) {
  const auto begin = run.number_of(record::meta::kJobBegin);
  const auto steps = energy::leading_steps(run);
  if (!begin || steps.empty() || steps.front()->begin_ns < *begin) return std::nullopt;
  return static_cast<double>(steps.front()->begin_ns - *begin) * energy::kSecondsPerNanosecond;
}

struct MeanPower {
  std::optional<double> gpus_w, all_w;  ///< sums; all_w only where something besides GPUs was measured
};
MeanPower power_in(const record::Run& run, energy::Window window) {
  double gpus = 0, others = 0;
  bool any_gpu = false, any_other = false;
  for (const auto& device : energy::measure_all(run, window)) {
    const auto part = energy::energy_within(device, window);
    if (!device.figure.in_total || !part || part->covered_s <= 0) continue;
    const double power = part->energy_j / part->covered_s;
    const bool gpu = run.device(device.figure.device).kind == record::DeviceKind::gpu;
    (gpu ? gpus : others) += power;
    (gpu ? any_gpu : any_other) = true;
  }
  return {any_gpu ? std::optional(gpus) : std::nullopt,
          any_gpu && any_other ? std::optional(gpus + others) : std::nullopt};
}

// --- tables

enum Column : std::size_t {
  kGpus,
  kNodes,
  kLocalBatch,
  kAccumulation,
  kStep,
  kSync,
  kCap,
  kPower,
  kNodePower,
  kReplicaGpus,
  kColumns
};
constexpr std::string_view kColumnNames[kColumns] = {"gpus",         "nodes",           "local_batch", "accumulation",
                                                     "step_s",       "sync_s",          "cap_w",       "power_w",
                                                     "node_power_w", "gpus_per_replica"};

using Cells = std::array<std::optional<double>, kColumns>;

core::Result<std::vector<std::size_t>> read_header(std::string_view line) {
  std::vector<std::size_t> columns;
  for (const auto cell : core::split(line, ',')) {
    const auto name = core::trim(cell);
    const auto at = std::ranges::find(kColumnNames, name);
    if (at == std::end(kColumnNames)) {
      const auto near = core::nearest(name, kColumnNames);
      return core::fail(
          core::Errc::unusable_input,
          fmt::format("the profile's header has a column \"{}\", which is none of {}{}", name,
                      fmt::join(kColumnNames, ", "), near ? fmt::format("; \"{}\" was meant?", *near) : std::string()));
    }
    columns.push_back(static_cast<std::size_t>(at - std::begin(kColumnNames)));
  }
  for (const auto needed : {kGpus, kLocalBatch, kStep})
    if (std::ranges::find(columns, std::size_t{needed}) == columns.end())
      return core::fail(core::Errc::unusable_input,
                        fmt::format("the profile's header lacks the column {}; its first line "
                                    "must name the columns, at least gpus,local_batch,step_s",
                                    kColumnNames[needed]));
  return columns;
}

core::Result<Cells> read_cells(std::string_view line, int line_number, const std::vector<std::size_t>& columns) {
  Cells out;
  const auto cells = core::split(line, ',');
  if (cells.size() != columns.size())
    return core::fail(core::Errc::unusable_input, fmt::format("line {} of the profile has {} cells, its header {}",
                                                              line_number, cells.size(), columns.size()));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto text = core::trim(cells[i]);
    if (text.empty()) continue;
    out[columns[i]] = core::parse_number(text);
    if (!out[columns[i]] || *out[columns[i]] < 0)
      return core::fail(core::Errc::unusable_input,
                        fmt::format("line {} of the profile: {} is \"{}\", no number above zero", line_number,
                                    kColumnNames[columns[i]], text));
  }
  for (const auto needed : {kGpus, kLocalBatch, kStep})
    if (!out[needed] || *out[needed] <= 0)
      return core::fail(core::Errc::unusable_input,
                        fmt::format("line {} of the profile lacks {}", line_number, kColumnNames[needed]));
  return out;
}

ProfileRow row_of(const Cells& cells, int line_number) {
  ProfileRow out;
  out.source = fmt::format("line {}", line_number);
  out.gpus = *cells[kGpus];
  out.step = {{out.gpus / std::max(1.0, cells[kReplicaGpus].value_or(1)), cells[kNodes].value_or(1),
               *cells[kLocalBatch], cells[kAccumulation].value_or(1)},
              *cells[kStep],
              cells[kSync]};
  out.cap_w = cells[kCap];
  out.gpu_power_w = cells[kPower];
  out.node_power_w = cells[kNodePower];
  return out;
}

// --- rows to models

/// A step that waits for data longer than this share of it runs at the pace of its input pipeline.
constexpr double kInputBound = 0.05;

/// The step as it would be with data at hand.
StepObservation without_input(const ProfileRow& row) {
  auto out = row.step;
  out.step_s -= std::min(row.input_s.value_or(0), 0.99 * out.step_s);
  if (out.exposed_s) out.exposed_s = std::min(*out.exposed_s, 0.99 * out.step_s);
  return out;
}

/// Samples a second that a replica's input pipeline brought where it was the bound: the slowest of these rows.
std::optional<double> loader_rate(std::span<const ProfileRow> rows) {
  std::optional<double> out;
  for (const auto& row : rows) {
    if (row.input_s.value_or(0) < kInputBound * row.step.step_s) continue;
    const double rate = row.step.load.local_batch * row.step.load.accumulation / row.step.step_s;
    out = std::min(rate, out.value_or(rate));
  }
  return out;
}

/// The rows without a cap, or under the highest that was set.
std::vector<ProfileRow> uncapped(std::span<const ProfileRow> rows) {
  double highest = 0;
  for (const auto& row : rows) highest = std::max(highest, row.cap_w.value_or(0));
  std::vector<ProfileRow> out;
  for (const auto& row : rows)
    if (!row.cap_w || (*row.cap_w == highest)) out.push_back(row);
  return out;
}

/// The setting with most caps, three at least.
std::vector<CapMeasurement> cap_curve(std::span<const ProfileRow> rows) {
  std::map<std::tuple<double, double, double, double>, std::vector<CapMeasurement>> by_setting;
  for (const auto& row : rows) {
    const auto& l = row.step.load;
    if (row.cap_w && row.gpu_power_w && *row.cap_w > 0 && *row.gpu_power_w > 0)
      by_setting[{l.replicas, l.nodes, l.local_batch, l.accumulation}].push_back(
          {*row.cap_w, row.step.step_s, *row.gpu_power_w});
  }
  std::vector<CapMeasurement> best;
  for (const auto& [setting, curve] : by_setting) {
    std::set<double> caps;
    for (const auto& m : curve) caps.insert(m.cap_w);
    if (caps.size() >= 3 && curve.size() > best.size()) best = curve;
  }
  return best;
}

std::vector<EnergyObservation> energies(std::span<const ProfileRow> rows, const ThroughputModel& throughput) {
  std::vector<EnergyObservation> out;
  for (const auto& row : rows) {
    if (!row.gpu_power_w && !row.node_power_w) continue;
    const double step = row.step.step_s;
    const double wait = std::min(step, row.step.exposed_s.value_or(step_time(throughput, row.step.load).exposed_s));
    const double idle = std::min(step - wait, row.input_s.value_or(0));
    EnergyObservation o{{row.step.load.nodes, row.gpus, step, step - wait - idle, wait}, {}, {}};
    if (row.node_power_w) o.node_energy_j = *row.node_power_w * row.step.load.nodes * step;
    if (row.gpu_power_w) o.gpu_energy_j = *row.gpu_power_w * row.gpus * step;
    out.push_back(o);
  }
  return out;
}

}  // namespace

core::Result<ProfileRow> profile_row(const record::Run& run) {
  const auto figures = energy::figures_of(run);
  const auto steady = energy::steady_part(run);
  if (!steady || figures.step_s.empty())
    return core::fail(
        core::Errc::unusable_input,
        fmt::format("run {} holds no steps to learn from; record it with the agent or with marks", figures.name));
  if (!figures.local_batch || !figures.ranks)
    return core::fail(
        core::Errc::unusable_input,
        fmt::format("run {} does not say the samples of its steps on every rank, so its batch is unknown; let "
                    "the marks carry samples",
                    figures.name));
  const double accumulation = std::max(1.0, energy::fact_number(run, "job.accumulation_steps").value_or(1));
  ProfileRow out;
  out.source = figures.name;
  out.gpus = figures.gpus.value_or(*figures.ranks);
  out.step = {{*figures.ranks, nodes_of(run), *figures.local_batch / accumulation, accumulation},
              mean(figures.step_s),
              mean_if_any(figures.comm_exposed_s)};
  out.input_s = mean_if_any(figures.data_wait_s);
  out.start_up_s = start_up_s(run);
  const auto power = power_in(run, steady->window);
  if (power.gpus_w && out.gpus > 0) out.gpu_power_w = *power.gpus_w / out.gpus;
  if (power.all_w) out.node_power_w = *power.all_w / out.step.load.nodes;
  return out;
}

core::Result<std::vector<ProfileRow>> profile_table(std::string_view csv) {
  std::vector<ProfileRow> out;
  std::optional<std::vector<std::size_t>> columns;
  int line_number = 0;
  std::optional<core::Error> error;
  core::for_each_line(csv, [&](std::string_view raw) {
    ++line_number;
    const auto line = core::trim(raw);
    if (error || line.empty() || line.front() == '#') return;
    if (!columns) {
      auto header = read_header(line);
      if (header)
        columns = std::move(*header);
      else
        error = header.error();
      return;
    }
    const auto cells = read_cells(line, line_number, *columns);
    if (cells)
      out.push_back(row_of(*cells, line_number));
    else
      error = cells.error();
  });
  if (error) return core::fail(std::move(*error));
  if (out.empty())
    return core::fail(core::Errc::unusable_input,
                      "the profile holds no row: a header line, then one row a measured setting");
  return out;
}

core::Result<JobModel> fit_profile(std::span<const ProfileRow> rows, const ThroughputPriors& priors,
                                   const NodePowerPriors& power) {
  const auto free = uncapped(rows);
  std::vector<StepObservation> steps;
  for (const auto& row : free) steps.push_back(without_input(row));
  auto throughput = fit_throughput(steps, priors);
  if (!throughput) return core::fail(throughput.error());
  JobModel out;
  out.throughput = std::move(*throughput);
  out.throughput.loader_samples_per_s = loader_rate(free);
  if (!rows.empty()) out.replica_gpus = std::max(1.0, rows.front().gpus / rows.front().step.load.replicas);
  std::vector<double> start_ups;
  for (const auto& row : rows)
    if (row.start_up_s) start_ups.push_back(*row.start_up_s);
  out.start_up.seconds = mean_if_any(start_ups).value_or(0);
  if (const auto curve = cap_curve(rows); !curve.empty()) {
    auto cap = fit_power_cap(curve);
    if (!cap) return core::fail(cap.error());
    out.cap = std::move(*cap);
  }
  if (const auto observed = energies(free, out.throughput); !observed.empty()) {
    auto energy = fit_node_energy(observed, power);
    if (!energy) return core::fail(energy.error());
    out.energy = std::move(*energy);
  }
  return out;
}

}  // namespace gradwatt::planning

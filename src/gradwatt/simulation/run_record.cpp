#include "gradwatt/simulation/run_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradwatt/simulation/platform_watts.hpp"

namespace gradwatt::simulation {
namespace {

using record::DeviceKind;
using record::Phase;

constexpr auto kGpuEnergy = record::metric(DeviceKind::gpu, "energy");
constexpr auto kGpuUtilization = record::metric(DeviceKind::gpu, "utilization");
constexpr auto kGpuLimit = record::metric(DeviceKind::gpu, "power_limit_enforced");
constexpr auto kCpuEnergy = record::metric(DeviceKind::cpu, "energy");
constexpr auto kNodeEnergy = record::metric(DeviceKind::node, "energy");

/// A record's clock never starts at 0.
constexpr double kStart_s = 1;
/// Readings of all devices together that a record of any size keeps to: a second to write.
constexpr std::int64_t kMostReadings = 100'000;

std::int64_t at(double seconds) { return std::llround((kStart_s + seconds) * 1e9); }
std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

std::string host_name(int node) { return fmt::format("node-{}", node); }

/// Steps after which devices are read: all, or every so many and the last.
std::vector<int> steps_with_readings(int steps, std::int64_t devices) {
  const auto every = static_cast<int>(std::max<std::int64_t>(1, (steps + 1) * devices / kMostReadings));
  std::vector<int> chosen;
  for (int step = every - 1; step < steps - 1; step += every) chosen.push_back(step);
  chosen.push_back(steps - 1);
  return chosen;
}

class Builder {
 public:
  Builder(const Request& request, const Outcome& outcome) : request_(request), outcome_(outcome) {
    const auto devices = static_cast<std::int64_t>(outcome.nodes) * (request.cluster.gpus_per_node + 3);
    read_after_ = steps_with_readings(outcome.step_count(), devices);
  }

  void add_devices() {
    for (int node = 0; node < outcome_.nodes; ++node) add_devices_of(node);
  }
  void add_marks(const RecordText& text) {
    const auto ranks = static_cast<std::size_t>(request_.cluster.shape().ranks());
    run.marks.reserve(ranks * static_cast<std::size_t>(outcome_.step_count()));
    for (int node = 0; node < outcome_.nodes; ++node)
      for (int gpu = 0; gpu < request_.cluster.gpus_per_node; ++gpu) add_marks_of(node, gpu, text);
  }
  void add_fact(std::string_view name, std::string subject, std::variant<double, std::string> value) {
    const auto* info = record::find_fact(name);
    run.facts.push_back({.name = std::string(name),
                         .subject = std::move(subject),
                         .value = std::move(value),
                         .unit = info != nullptr ? std::string(info->unit) : std::string(),
                         .how = record::How::estimated,
                         .where = record::Where::simulated,
                         .source = "simulation"});
  }

  record::Run run;

 private:
  [[nodiscard]] double begin_of(int step, int node) const { return step == 0 ? 0 : outcome_.at(step - 1, node).end_s; }

  void add_devices_of(int node) {
    const auto& kind = request_.cluster.node(node);
    const double steady_w = steady_watts(kind);
    const int gpus = request_.cluster.gpus_per_node;
    const auto gpu_energy = [&, gpus](const NodeStep& step) {
      return (step.node_energy_j - steady_w * step.end_s) / gpus;
    };
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const auto device = add_device(DeviceKind::gpu, node, gpu, kind.gpu.empty() ? "GPU" : kind.gpu);
      if (kind.gpu_cap_w)
        run.devices.back().attributes["power_limit_enforced_w"] = fmt::format("{:g}", *kind.gpu_cap_w);
      add_energy(device, node, kGpuEnergy, "gpu", gpu_energy);
      add_utilization(device, node);
      if (kind.gpu_cap_w) add_level(device, kGpuLimit, *kind.gpu_cap_w);
    }
    for (int package = 0; kind.cpu_w && package < kind.cpus; ++package)
      add_energy(add_device(DeviceKind::cpu, node, package, kind.cpu.empty() ? "CPU" : kind.cpu), node, kCpuEnergy,
                 "package", [&](const NodeStep& step) { return *kind.cpu_w * step.end_s; });
    if (kind.base_w || kind.network_w)
      add_energy(add_device(DeviceKind::node, node, 0, "node"), node, kNodeEnergy, "node",
                 [](const NodeStep& step) { return step.node_energy_j + step.link_energy_j; });
  }

  record::DeviceIndex add_device(DeviceKind kind, int node, int index, const std::string& name) {
    run.devices.push_back({.kind = kind,
                           .uuid = fmt::format("{}-{}-{}", host_name(node), record::name_of(kind), index),
                           .name = name,
                           .index = index,
                           .host = host_name(node)});
    return static_cast<record::DeviceIndex>(run.devices.size() - 1);
  }

  void add_quality(record::DeviceIndex device, record::MetricId metric, std::string_view scope) {
    record::SeriesQuality quality{.device = device,
                                  .metric = metric,
                                  .how = record::How::estimated,
                                  .where = record::Where::simulated,
                                  .scope = std::string(scope),
                                  .source = "simulation of the cluster file"};
    const auto& times = run.series.back().time_ns;
    quality.cadence_ns = times[1] - times[0];
    quality.coverage = 1;
    quality.readings = times.size();
    run.quality.push_back(std::move(quality));
  }

  template <class Energy>
  void add_energy(record::DeviceIndex device, int node, record::MetricId metric, std::string_view scope,
                  Energy energy) {
    record::DeviceSeries series{.device = device, .time_ns = {at(0)}};
    for (const int step : read_after_) series.time_ns.push_back(at(outcome_.at(step, node).end_s));
    auto& column = series.column(metric);
    column.values.front() = 0;
    for (std::size_t i = 0; i < read_after_.size(); ++i)
      column.values[i + 1] = std::llround(energy(outcome_.at(read_after_[i], node)) / record::info(metric).step);
    run.series.push_back(std::move(series));
    add_quality(device, metric, scope);
  }

  /// Kernels are resident while a GPU computes and while it waits for an exchange.
  void add_utilization(record::DeviceIndex device, int node) {
    auto& column = run.series.back().column(kGpuUtilization);
    for (std::size_t i = 0; i < read_after_.size(); ++i) {
      const auto& step = outcome_.at(read_after_[i], node);
      const double length = step.end_s - begin_of(read_after_[i], node);
      if (length > 0)
        column.values[i + 1] = std::llround(100 * (1 - step.data_wait_s / length) / record::info(kGpuUtilization).step);
    }
    add_quality(device, kGpuUtilization, "gpu");
  }

  void add_level(record::DeviceIndex device, record::MetricId metric, double value) {
    auto& column = run.series.back().column(metric);
    std::ranges::fill(column.values, std::llround(value / record::info(metric).step));
    add_quality(device, metric, "gpu");
  }

  void add_marks_of(int node, int gpu, const RecordText& text) {
    for (int step = 0; step < outcome_.step_count(); ++step) {
      const auto& done = outcome_.at(step, node);
      record::Mark mark{.rank = node * request_.cluster.gpus_per_node + gpu,
                        .number = step,
                        .begin_ns = at(begin_of(step, node)),
                        .end_ns = at(done.end_s),
                        .samples = text.local_batch,
                        .clock = record::PhaseClock::device_events};
      const auto set = [&](Phase phase, double seconds) {
        mark.phase_ns[static_cast<std::size_t>(phase)] = nanoseconds(seconds);
      };
      set(Phase::data_wait, done.data_wait_s);
      set(Phase::forward, done.forward_s);
      set(Phase::backward, done.backward_s);
      set(Phase::comm_exposed, done.exposed_s);
      set(Phase::optimizer, done.optimizer_s);
      run.marks.push_back(std::move(mark));
    }
  }

  const Request& request_;
  const Outcome& outcome_;
  std::vector<int> read_after_;
};

void set_meta(record::Run& run, const Request& request, const Outcome& outcome, const RecordText& text) {
  namespace meta = record::meta;
  run.set(meta::kRunId, text.run_id);
  if (!text.name.empty()) run.set(meta::kName, text.name);
  run.set(meta::kHost, fmt::format("{} (simulated)", request.cluster.name));
  run.set(meta::kCommand, text.command);
  run.set(meta::kVersion, text.version);
  run.set(meta::kWhere, std::string(record::name_of(record::Where::simulated)));
  run.set(meta::kClock, "monotonic");
  run.set(meta::kAnchorMonotonic, at(0));
  run.set(meta::kAnchorWall, text.wall_ns);
  double end_s = 0;
  for (int node = 0; node < outcome.nodes; ++node)
    end_s = std::max(end_s, outcome.at(outcome.step_count() - 1, node).end_s);
  run.set(meta::kJobBegin, at(0));
  run.set(meta::kJobEnd, at(end_s));
  run.set(meta::kExitStatus, "0");
  run.set(meta::kComplete, "1");
  if (!text.source.empty()) run.set(meta::kSource, text.source);
}

void add_facts(Builder& builder, const Request& request, const Outcome& outcome, const RecordText& text) {
  const auto shape = request.cluster.shape();
  builder.add_fact("job.kind", "job", std::string("training"));
  builder.add_fact("job.world_size", "job", static_cast<double>(shape.ranks()));
  builder.add_fact("job.nodes", "job", static_cast<double>(shape.nodes));
  builder.add_fact("gpu.count", "job", static_cast<double>(shape.ranks()));
  if (!text.model.empty()) builder.add_fact("job.model", "job", text.model);
  if (text.local_batch) {
    builder.add_fact("job.global_batch_size", "job", static_cast<double>(*text.local_batch) * shape.ranks());
    builder.add_fact("job.local_batch_size", "job", static_cast<double>(*text.local_batch));
  }
  if (shape.nodes > 1)
    builder.add_fact("comm.link_bits_per_s", "network", 8 * request.cluster.kinds.front().network_bytes_per_s());
  builder.add_fact("simulation.cluster", "job", request.cluster.name);
  builder.add_fact("simulation.strategy", "job", std::string(name_of(request.job.strategy.kind)));
  builder.add_fact("simulation.steps_simulated", "job", static_cast<double>(outcome.simulated_steps));
  builder.add_fact("simulation.messages", "job", static_cast<double>(outcome.messages));
  builder.add_fact("simulation.gradient_bytes", "rank", request.job.gradient_bytes);
  builder.add_fact("simulation.overlap_share", "job", request.job.overlap);
}

}  // namespace

record::Run run_record_of(const Request& request, const Outcome& outcome, const RecordText& text) {
  Builder builder(request, outcome);
  builder.add_devices();
  builder.add_marks(text);
  add_facts(builder, request, outcome, text);
  set_meta(builder.run, request, outcome, text);
  return std::move(builder.run);
}

}  // namespace gradwatt::simulation

// The host vector over the steady part: what the job and others take of CPUs and storage, what waits for what.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/diagnosis/facts/fact_list.hpp"
#include "gradwatt/diagnosis/window_figures.hpp"

namespace gradwatt::diagnosis {
namespace {

using energy::Window;
using record::DeviceIndex;
using record::DeviceKind;
using record::metric;
using record::MetricId;

struct Level {
  MetricId metric;
  std::string_view fact;
};
constexpr auto kHostLevels = std::to_array<Level>({
    {metric(DeviceKind::node, "cpu_utilization"), "host.cpu_utilization_pct"},
    {metric(DeviceKind::node, "iowait"), "host.iowait_pct"},
    {metric(DeviceKind::node, "steal"), "host.steal_pct"},
});
constexpr auto kHostShares = std::to_array<Level>({
    {metric(DeviceKind::node, "pressure_cpu"), "host.pressure_cpu_share"},
    {metric(DeviceKind::node, "pressure_memory"), "host.pressure_memory_share"},
    {metric(DeviceKind::node, "pressure_io"), "host.pressure_io_share"},
});
constexpr auto kJobRates = std::to_array<Level>({
    {metric(DeviceKind::job, "cpu_time"), "job.cores_busy"},
    {metric(DeviceKind::job, "read"), "job.read_bytes_per_s"},
    {metric(DeviceKind::job, "written"), "job.written_bytes_per_s"},
    {metric(DeviceKind::job, "cpu_throttled"), "job.cpu_throttled_share"},
});
constexpr auto kCpuWait = metric(DeviceKind::job, "cpu_wait");
constexpr auto kCpuTime = metric(DeviceKind::job, "cpu_time");
constexpr auto kWorkers = metric(DeviceKind::job, "workers");
constexpr auto kWorkersCpu = metric(DeviceKind::job, "workers_cpu");
constexpr auto kWorkersBlocked = metric(DeviceKind::job, "workers_blocked");

std::optional<double> rate(const record::Run& run, DeviceIndex device, MetricId counter, Window window) {
  const auto growth = growth_in(run, device, counter, window);
  return growth && growth->seconds > 0 ? std::optional(growth->amount / growth->seconds) : std::nullopt;
}

/// Time that threads wanted a CPU and had none, over the time that they wanted one.
std::optional<double> cpu_wait_share(const record::Run& run, DeviceIndex job, Window window) {
  const auto waited = rate(run, job, kCpuWait, window), used = rate(run, job, kCpuTime, window);
  if (!waited || !used || *waited + *used <= 0) return std::nullopt;
  return *waited / (*waited + *used);
}

void add_workers(const record::Run& run, DeviceIndex job, Window window, FactList& out) {
  const auto workers = level_in(run, job, kWorkers, window);
  if (!workers || workers->mean < 0.5) return;
  const auto cores = level_in(run, job, kWorkersCpu, window), blocked = level_in(run, job, kWorkersBlocked, window);
  if (!cores || !blocked) return;
  const double running = std::min(1.0, cores->mean / workers->mean),
               stuck = std::min(1 - running, blocked->mean / workers->mean);
  out.add("loader.cores_used", "job", cores->mean);
  out.add("loader.workers_running_share", "job", running);
  out.add("loader.workers_blocked_share", "job", stuck);
  out.add("loader.workers_sleeping_share", "job", 1 - running - stuck);
}

std::optional<double> number_of(const record::Run& run, std::string_view fact, std::string_view host) {
  for (const auto& known : run.facts)
    if (known.name == fact && (host.empty() || known.subject == host || known.subject == "host"))
      if (const auto number = record::as_number(known)) return number;
  return std::nullopt;
}

}  // namespace

void add_host_facts(const record::Run& run, Window window, FactList& out) {
  std::optional<double> job_cores;
  for (std::uint32_t i = 0; i < run.devices.size(); ++i) {
    const auto device = static_cast<DeviceIndex>(i);
    if (run.devices[i].kind != DeviceKind::job) continue;
    for (const auto& [id, fact] : kJobRates) {
      const auto value = rate(run, device, id, window);
      out.add(fact, "job", value);
      if (id == kCpuTime && value) job_cores = job_cores.value_or(0) + *value;
    }
    out.add("job.cpu_wait_share", "job", cpu_wait_share(run, device, window));
    add_workers(run, device, window, out);
  }
  for (std::uint32_t i = 0; i < run.devices.size(); ++i) {
    const auto device = static_cast<DeviceIndex>(i);
    const auto& node = run.devices[i];
    if (node.kind != DeviceKind::node) continue;
    const auto host = node.host.empty() ? std::string("host") : node.host;
    for (const auto& [id, fact] : kHostLevels)
      if (const auto level = level_in(run, device, id, window)) out.add(fact, host, level->mean);
    for (const auto& [id, fact] : kHostShares) out.add(fact, host, rate(run, device, id, window));
    const auto use = level_in(run, device, kHostLevels[0].metric, window);
    const auto cpus = number_of(run, "host.cpus", node.host);
    if (!use || !cpus) continue;
    const double busy = use->mean / 100 * *cpus;
    out.add("host.cores_busy", host, busy, record::How::modelled);
    if (job_cores) out.add("host.foreign_cores_busy", host, std::max(0.0, busy - *job_cores), record::How::modelled);
  }
}

std::vector<MetricId> columns_for_host_facts() {
  std::vector<MetricId> out{kCpuWait, kWorkers, kWorkersCpu, kWorkersBlocked};
  for (const auto& row : kHostLevels) out.push_back(row.metric);
  for (const auto& row : kHostShares) out.push_back(row.metric);
  for (const auto& row : kJobRates) out.push_back(row.metric);
  return out;
}

}  // namespace gradwatt::diagnosis

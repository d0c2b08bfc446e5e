#include "node_facts.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <set>

#include "gradwatt/launch/redact.hpp"

namespace gradwatt::app {
namespace {

record::Fact fact(std::string_view name, std::string subject, double value, std::string source) {
  const auto* row = record::find_fact(name);
  return {.name = std::string(name),
          .subject = std::move(subject),
          .value = value,
          .unit = row != nullptr ? std::string(row->unit) : "",
          .source = std::move(source)};
}

void add_locked_memory(record::Run& run) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return;
  run.facts.push_back(fact("host.memlock_bytes", "host",
                           limit.rlim_cur == RLIM_INFINITY ? -1.0 : static_cast<double>(limit.rlim_cur),
                           "getrlimit(RLIMIT_MEMLOCK)"));
}

/// "4: ACTIVE" is how the kernel writes the state of a port that can carry traffic.
void add_rdma_ports(record::Run& run) {
  double ports = 0, active = 0;
  for (const auto& device : run.devices) {
    const auto state = device.attributes.find("state");
    if (device.kind != record::DeviceKind::nic || !device.attributes.contains("link_layer")) continue;
    ++ports;
    if (state != device.attributes.end() && state->second.find("ACTIVE") != std::string::npos) ++active;
  }
  if (ports > 0) run.facts.push_back(fact("comm.rdma_ports_active", "host", active, "/sys/class/infiniband"));
}

}  // namespace

record::Run look_at_node(const Context& context, const std::vector<std::unique_ptr<telemetry::Backend>>& backends) {
  record::Run run;
  run.set(record::meta::kWhere, "live");
  telemetry::JobScope::Snapshot job;
  job.whole_host = true;
  for (const auto& backend : backends) {
    auto sensors = backend->open({context.clock, job, std::chrono::seconds(1), {}});
    if (!sensors) continue;
    for (const auto& sensor : *sensors) {
      for (auto& device : sensor->devices()) run.devices.push_back(std::move(device.device));
      std::ranges::move(sensor->facts(), std::back_inserter(run.facts));
    }
  }
  for (const auto& [name, value] : launch::kept_environment(launch::current_environment())) run.meta["env." + name] = value;
  add_locked_memory(run);
  add_rdma_ports(run);
  return run;
}

}  // namespace gradwatt::app

#include "gradwatt/report/headline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "gradwatt/report/figures.hpp"

namespace gradwatt::report {
namespace {

std::string host_text(const std::vector<std::string>& hosts) {
  if (hosts.empty()) return "host unknown";
  if (hosts.size() <= 2) return fmt::format("{}", fmt::join(hosts, ", "));
  return fmt::format("{} hosts ({} … {})", hosts.size(), hosts.front(), hosts.back());
}

/// "8 × NVIDIA H100, 1 × …"; empty without a GPU.
std::string gpu_text(const record::Run& run) {
  std::map<std::string, int> count;
  for (const auto& device : run.devices)
    if (device.kind == record::DeviceKind::gpu && !device.attributes.contains("parent"))
      ++count[device.name.empty() ? "GPU" : device.name];
  std::vector<std::string> groups;
  for (const auto& [name, n] : count) groups.push_back(n == 1 ? name : fmt::format("{} × {}", n, name));
  return fmt::format("{}", fmt::join(groups, ", "));
}

}  // namespace

std::string subject_of(const record::Run& run) {
  if (const auto command = run.text(record::meta::kCommand); command && !command->empty()) return std::string(*command);
  if (run.text(record::meta::kFollows) == "node") return "the whole node";
  if (const auto source = run.text(record::meta::kSource)) return fmt::format("recording {}", *source);
  if (run.text(record::meta::kFollows) == "pid") return "a process that already ran";
  return "a run";
}

std::vector<std::string> hosts_of(const record::Run& run) {
  std::set<std::string> hosts;
  for (const auto& device : run.devices)
    if (!device.host.empty()) hosts.insert(device.host);
  if (hosts.empty())
    if (const auto host = run.text(record::meta::kHost); host && !host->empty()) hosts.emplace(*host);
  return {hosts.begin(), hosts.end()};
}

bool has_times(const record::Run& run, const energy::Summary& summary) {
  return summary.duration_s > 0 || run.extent().has_value();
}

std::string circumstances_of(const record::Run& run, const energy::Summary& summary) {
  std::vector<std::string> parts;
  const auto hosts = hosts_of(run);
  if (!hosts.empty() || run.where() == record::Where::live) parts.push_back(host_text(hosts));
  if (auto gpus = gpu_text(run); !gpus.empty()) parts.push_back(std::move(gpus));
  parts.push_back(has_times(run, summary) ? duration_text(summary.duration_s) : "no times");
  if (run.where() != record::Where::live) parts.emplace_back(name_of(run.where()));
  if (summary.exit_status || run.where() == record::Where::live)
    parts.push_back("exit status " + exit_status_text(summary.exit_status));
  return fmt::format("{}", fmt::join(parts, " · "));
}

std::string device_label(const record::Run& run, record::DeviceIndex device) {
  const auto& d = run.device(device);
  auto label = component_text(d.kind == record::DeviceKind::dram ? "ram" : name_of(d.kind));
  if (d.index >= 0) label += fmt::format(" {}", d.index);
  return hosts_of(run).size() > 1 && !d.host.empty() ? d.host + " " + label : label;
}

}  // namespace gradwatt::report

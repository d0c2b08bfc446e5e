#include "gradwatt/backends/rapl/rapl_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "gradwatt/backends/rapl/perf_power.hpp"
#include "gradwatt/backends/rapl/powercap.hpp"
#include "gradwatt/catalog/cpu_table.hpp"
#include "gradwatt/catalog/host_cpu.hpp"

namespace gradwatt::rapl {
namespace {

using record::DeviceKind;

constexpr auto kCpuEnergy = record::metric(DeviceKind::cpu, "energy");
constexpr auto kDramEnergy = record::metric(DeviceKind::dram, "energy");

// Bounds on what a domain can draw where neither the zone nor the CPU table says more. No CPU sold by 2026 draws 1 kW
// in one package, and 24 busy modules stay under 300 W; a step above 1.5 × these is a glitch.
constexpr double kAnyPackageW = 1000;
constexpr double kAnyDramW = 300;
constexpr double kBoundFactor = 1.5;

// Relative uncertainty of the counters themselves. Intel servers since Haswell measure at the voltage regulator; the
// memory domain fits less well when idle (Desrochers, Paradis, Weaver, MEMSYS 2016). AMD computes it from activity.
constexpr double kIntelPackageUncertainty = 0.05;
constexpr double kAmdPackageUncertainty = 0.10;
constexpr double kDramUncertainty = 0.20;

constexpr std::string_view kPerfRemedy = "sudo setcap cap_perfmon=ep \"$(readlink -f \"$(command -v gradwatt)\")\"";
constexpr std::string_view kPowercapRemedy = "sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj";
constexpr std::string_view kMaskRemedy =
    "start the container with --security-opt systempaths=unconfined, or measure on the host";

/// One counter, however it is read. Energy in µJ, the metric's step.
struct Domain {
  DeviceKind kind{};
  int package = 0;
  std::optional<int> die;
  std::string source;
  std::optional<std::int64_t> range_uj;
  std::optional<double> limit_w;
  std::function<core::Result<std::int64_t>()> read_uj;
};

struct Found {
  std::vector<Domain> domains;
  std::optional<core::Error> perf_error, powercap_error;  ///< why the source gave nothing or less
  bool perf_pmu = false;
  Powercap powercap;
};

std::string suffix(int package, std::optional<int> die) {
  return die ? fmt::format("{}-die-{}", package, *die) : fmt::format("{}", package);
}

bool has(const std::vector<Domain>& domains, DeviceKind kind) {
  return std::ranges::count(domains, kind, &Domain::kind);
}

/// The limit of the matching powercap zone: perf itself states none.
std::optional<double> zone_limit_w(const Powercap& powercap, PowercapZone::Kind kind, const PerfSite& site) {
  for (const auto& zone : powercap.zones)
    if (zone.kind == kind && zone.package == site.package && zone.die == site.die && zone.max_power_uw)
      return static_cast<double>(*zone.max_power_uw) * 1e-6;
  return std::nullopt;
}

core::Result<Domain> open_perf(PerfEvents& perf, std::uint32_t type, const PerfEvent& event, const PerfSite& site) {
  auto counter = perf.open(type, event.config, site.cpu);
  if (!counter) return core::fail(counter.error());
  Domain domain;
  domain.package = site.package;
  domain.die = site.die;
  domain.read_uj = [counter = std::shared_ptr<PerfCounter>(std::move(*counter)),
                    scale = event.joules_per_count]() -> core::Result<std::int64_t> {
    const auto count = counter->read();
    if (!count) return core::fail(count.error());
    // long double: the sum has 64 significant bits.
    return static_cast<std::int64_t>(std::llround(static_cast<long double>(*count) * scale * 1e6L));
  };
  return domain;
}

/// All sites of one event, or none of them: half a machine must not look like the whole.
void add_perf(PerfEvents& perf, const PerfPower& power, DeviceKind kind, Found& found) {
  const bool package = kind == DeviceKind::cpu;
  const auto& event = package ? power.package : power.dram;
  if (!event) return;
  std::vector<Domain> opened;
  for (const auto& site : power.sites) {
    auto domain = open_perf(perf, power.type, *event, site);
    if (!domain) {
      found.perf_error = domain.error();
      return;
    }
    domain->kind = kind;
    domain->source = package ? "perf power/energy-pkg" : "perf power/energy-ram";
    domain->limit_w =
        zone_limit_w(found.powercap, package ? PowercapZone::Kind::package : PowercapZone::Kind::dram, site);
    opened.push_back(std::move(*domain));
  }
  std::ranges::move(opened, std::back_inserter(found.domains));
}

void add_powercap(const core::FileTree& tree, DeviceKind kind, Found& found) {
  const auto zone_kind = kind == DeviceKind::cpu ? PowercapZone::Kind::package : PowercapZone::Kind::dram;
  std::vector<Domain> readable;
  for (const auto& zone : found.powercap.zones) {
    if (zone.kind != zone_kind) continue;
    const auto file = zone.folder + "/energy_uj";
    if (const auto first = tree.read_int(file); !first) {
      found.powercap_error = first.error();
      return;
    }
    Domain domain{kind,
                  zone.package,
                  zone.die,
                  fmt::format("powercap {}", zone.folder.substr(zone.folder.rfind('/') + 1)),
                  zone.range_uj,
                  {},
                  [tree, file] { return tree.read_int(file); }};
    if (zone.max_power_uw) domain.limit_w = static_cast<double>(*zone.max_power_uw) * 1e-6;
    readable.push_back(std::move(domain));
  }
  std::ranges::move(readable, std::back_inserter(found.domains));
}

Found find_domains(const core::FileTree& tree, PerfEvents& perf) {
  Found found;
  found.powercap = find_powercap(tree);
  if (const auto power = find_perf_power(tree)) {
    found.perf_pmu = true;
    for (const auto kind : {DeviceKind::cpu, DeviceKind::dram}) add_perf(perf, *power, kind, found);
  } else if (power.error().code != core::Errc::not_found) {
    found.perf_error = power.error();
  }
  for (const auto kind : {DeviceKind::cpu, DeviceKind::dram})
    if (!has(found.domains, kind)) add_powercap(tree, kind, found);
  return found;
}

telemetry::SensorDevice describe(const Domain& domain, const catalog::HostCpu& cpu) {
  const bool package = domain.kind == DeviceKind::cpu;
  const bool amd = cpu.vendor == "AuthenticAMD" || cpu.vendor == "HygonGenuine";
  telemetry::SensorDevice out;
  out.device.kind = domain.kind;
  out.device.index = domain.package;
  out.device.uuid = (package ? "cpu-package-" : "dram-package-") + suffix(domain.package, domain.die);
  out.device.name = package && !cpu.model_name.empty() ? catalog::clean_cpu_name(cpu.model_name)
                                                       : fmt::format("memory of package {}", domain.package);
  if (package && cpu.model_name.empty()) out.device.name = fmt::format("CPU package {}", domain.package);
  const auto* row = package ? catalog::find_cpu(cpu.model_name) : nullptr;
  if (row != nullptr) out.device.attributes["tdp_w"] = fmt::format("{}", row->tdp_w);
  if (domain.limit_w) out.device.attributes["power_limit_max_w"] = fmt::format("{}", *domain.limit_w);

  telemetry::SeriesSpec spec;
  spec.metric = package ? kCpuEnergy : kDramEnergy;
  spec.scope = package ? (domain.die ? "die of package" : "package") : "memory of package";
  spec.source = domain.source;
  if (domain.range_uj) spec.counter_range = static_cast<double>(*domain.range_uj) * 1e-6;
  const double table_w = row != nullptr ? row->peak_w.value_or(row->tdp_w) : kAnyPackageW;
  spec.max_rate = kBoundFactor * domain.limit_w.value_or(package ? table_w : kAnyDramW);
  spec.uncertainty = !package ? kDramUncertainty : amd ? kAmdPackageUncertainty : kIntelPackageUncertainty;
  if (amd) spec.note = "AMD computes this counter from activity inside the package; it is no electrical measurement";
  out.series.push_back(std::move(spec));
  return out;
}

class RaplSensor final : public telemetry::Sensor {
 public:
  RaplSensor(std::vector<Domain> domains, const catalog::HostCpu& cpu) : domains_(std::move(domains)) {
    for (const auto& domain : domains_) devices_.push_back(describe(domain, cpu));
  }
  std::string_view name() const override { return "rapl"; }
  std::vector<telemetry::SensorDevice> devices() const override { return devices_; }
  void read(telemetry::Reading& reading) override {
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      const auto metric = devices_[i].series.front().metric;
      const auto energy = domains_[i].read_uj();
      if (energy && *energy >= 0)
        reading.set_stored(i, metric, *energy);
      else
        reading.fail(i, metric, energy ? "the energy counter is negative" : energy.error().message);
    }
  }

 private:
  std::vector<Domain> domains_;
  std::vector<telemetry::SensorDevice> devices_;
};

std::string found_text(const std::vector<Domain>& domains, const Powercap& powercap) {
  const auto packages = std::ranges::count(domains, DeviceKind::cpu, &Domain::kind);
  const auto memories = std::ranges::count(domains, DeviceKind::dram, &Domain::kind);
  std::string text = fmt::format("{} package and {} memory counters", packages, memories);
  if (powercap.has_psys) text += "; psys is there and not counted (it contains the packages)";
  if (powercap.has_mmio_twin) text += "; intel-rapl-mmio is skipped (it repeats the package)";
  return text;
}

std::string no_rapl_reason(const catalog::HostCpu& cpu, const Powercap& powercap) {
  if (powercap.masked) return "the powercap tree is listed but hidden, as containers do";
  if (cpu.virtual_machine) return "this is a virtual machine: its host passes no energy counter on";
  if (cpu.vendor == "ARM") return "this CPU has no RAPL";
  return "this kernel offers no RAPL counter (modules intel_rapl_msr and rapl are not loaded)";
}

bool refused(const std::optional<core::Error>& error) { return error && error->code == core::Errc::not_permitted; }

telemetry::SourceStatus perf_status(const Found& found, const std::string& reason) {
  telemetry::SourceStatus status{"RAPL by perf events", "CPU package and memory energy (counter)", false, "", ""};
  std::vector<Domain> mine;
  std::ranges::copy_if(found.domains, std::back_inserter(mine),
                       [](const Domain& d) { return d.source.starts_with("perf"); });
  status.usable = has(mine, DeviceKind::cpu);
  if (status.usable)
    status.detail = found_text(mine, found.powercap);
  else if (found.perf_error)
    status.detail = found.perf_error->message;
  else
    status.detail = found.perf_pmu ? "the power PMU has no package event" : reason;
  if (!status.usable && refused(found.perf_error)) status.remedy = kPerfRemedy;
  return status;
}

telemetry::SourceStatus powercap_status(const Found& found, const std::string& reason) {
  telemetry::SourceStatus status{"RAPL by powercap", "CPU package and memory energy (counter)", false, "", ""};
  std::vector<Domain> mine;
  std::ranges::copy_if(found.domains, std::back_inserter(mine),
                       [](const Domain& d) { return d.source.starts_with("powercap"); });
  status.usable = !mine.empty();
  if (status.usable)
    status.detail = found_text(mine, found.powercap);
  else if (found.powercap_error)
    status.detail = found.powercap_error->message;
  else if (found.powercap.zones.empty())
    status.detail = reason;
  else
    status.detail = "not needed: perf events give the same counters";
  // One remedy, not two: where perf is there it is the better way.
  if (!status.usable && refused(found.powercap_error) && !found.perf_pmu) status.remedy = kPowercapRemedy;
  if (found.powercap.masked) status.remedy = kMaskRemedy;
  return status;
}

telemetry::SourceStatus dram_status(const Found& found, const catalog::HostCpu& cpu) {
  const bool amd = cpu.vendor == "AuthenticAMD" || cpu.vendor == "HygonGenuine";
  telemetry::SourceStatus status{"RAPL memory domain", "memory energy (counter)", has(found.domains, DeviceKind::dram),
                                 "", ""};
  if (status.usable)
    status.detail = fmt::format("{} domains", std::ranges::count(found.domains, DeviceKind::dram, &Domain::kind));
  else
    status.detail = amd ? "AMD CPUs have no counter for memory energy"
                        : "this CPU reports no memory domain (Intel has it on servers only)";
  return status;
}

}  // namespace

RaplBackend::RaplBackend(core::FileTree tree, std::shared_ptr<PerfEvents> perf)
    : tree_(std::move(tree)), perf_(std::move(perf)) {}

std::vector<telemetry::SourceStatus> RaplBackend::probe() {
  const auto cpu = catalog::read_host_cpu(tree_);
  const auto found = find_domains(tree_, *perf_);
  const auto reason = no_rapl_reason(cpu, found.powercap);
  std::vector<telemetry::SourceStatus> lines{perf_status(found, reason), powercap_status(found, reason)};
  if (has(found.domains, DeviceKind::cpu)) lines.push_back(dram_status(found, cpu));
  return lines;
}

core::Result<std::vector<std::unique_ptr<telemetry::Sensor>>> RaplBackend::open(const telemetry::OpenContext& context) {
  auto found = find_domains(tree_, *perf_);
  std::erase_if(found.domains, [&](const Domain& d) { return std::ranges::count(context.covered, d.kind) > 0; });
  std::vector<std::unique_ptr<telemetry::Sensor>> sensors;
  if (!found.domains.empty())
    sensors.push_back(std::make_unique<RaplSensor>(std::move(found.domains), catalog::read_host_cpu(tree_)));
  return sensors;
}

}  // namespace gradwatt::rapl

#include "gradwatt/backends/nvml/nvml_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <map>
#include <thread>

#include "gradwatt/backends/nvml/metrics.hpp"
#include "gradwatt/backends/nvml/nvml_sensor.hpp"
#include "gradwatt/backends/nvml/return_code.hpp"

namespace gradwatt::nvml {
namespace {

using telemetry::SourceStatus;

constexpr std::string_view kEnergyName = "NVML";
constexpr std::string_view kEnergySupplies = "GPU energy (counter), power, clocks, temperatures, links, health";
constexpr std::string_view kGpmName = "NVML GPM";
constexpr std::string_view kGpmSupplies = "activity of SMs, tensor cores and memory (Hopper and newer)";
constexpr std::string_view kMigName = "NVML MIG";
constexpr std::string_view kMigSupplies = "activity by MIG slice; its energy modelled as a share of the GPU's";

/// Asking once is all that probe() does: the interval only decides cadences that it does not use.
constexpr core::Duration kProbeInterval = std::chrono::seconds(1);

std::string list_models(const std::vector<Gpu>& gpus) {
  std::map<std::string, int> count;
  for (const Gpu& gpu : gpus) ++count[gpu.name];
  std::string text;
  for (const auto& [name, n] : count) text += fmt::format("{}{} × {}", text.empty() ? "" : ", ", n, name);
  return text;
}

SourceStatus unusable(std::string_view source, std::string_view supplies, std::string detail, std::string_view remedy) {
  return {std::string(source), std::string(supplies), false, std::move(detail), std::string(remedy)};
}

SourceStatus energy_status(const Inventory& inventory, const std::vector<telemetry::SensorDevice>& devices) {
  const auto delivers = [&](std::initializer_list<record::MetricId> any) {
    return std::ranges::count_if(devices, [&](const telemetry::SensorDevice& device) {
      return std::ranges::any_of(device.series, [&](const telemetry::SeriesSpec& spec) {
        return std::ranges::find(any, spec.metric) != any.end();
      });
    });
  };
  const auto gpus = static_cast<std::ptrdiff_t>(inventory.gpus.size());
  const auto counters = delivers({metric::kEnergy, metric::kEnergyModule});
  const auto powers = delivers({metric::kPowerAvg, metric::kPowerInst});
  SourceStatus status{std::string(kEnergyName), std::string(kEnergySupplies), counters + powers > 0, {}, {}};
  status.detail = fmt::format("{}, driver {}", list_models(inventory.gpus),
                              inventory.driver_version.empty() ? "unknown" : inventory.driver_version);
  if (counters < gpus) status.detail += fmt::format("; energy counter on {} of {}", counters, gpus);
  if (powers < gpus) status.detail += fmt::format("; power on {} of {}", powers, gpus);
  if (std::ranges::any_of(inventory.gpus, &Gpu::vgpu)) status.detail += "; a vGPU guest has no energy counter";
  for (const auto& line : inventory.refused) status.detail += "; " + line;
  if (inventory.refused_why) status.remedy = remedy_for(*inventory.refused_why);
  return status;
}

SourceStatus gpm_status(const Session& session, const core::Clock& clock) {
  std::size_t able = 0;
  Return why = Return::not_supported;
  for (const Gpu& gpu : session.inventory.gpus) {
    const auto instance = gpu.slices.empty() ? std::nullopt : std::optional(gpu.slices.front().gpu_instance);
    const auto reader = GpmReader::open(session.library, gpu.handle, instance, clock.now());
    if (reader)
      ++able;
    else
      why = reader.error();
  }
  const auto all = session.inventory.gpus.size();
  if (able > 0)
    return {std::string(kGpmName), std::string(kGpmSupplies), true, fmt::format("on {} of {} GPUs", able, all), {}};
  std::string detail = describe(why);
  std::string remedy(remedy_for(why));
  if (class_of(why) == ReturnClass::permission)
    remedy = "let users read GPU performance counters (NVreg_RestrictProfilingToAdminUsers=0) or add CAP_SYS_ADMIN";
  else if (why == Return::function_not_found)
    remedy = "a driver of branch 520 or newer offers it on Hopper and newer GPUs";
  return unusable(kGpmName, kGpmSupplies, std::move(detail), remedy);
}

std::optional<SourceStatus> mig_status(const Inventory& inventory) {
  std::size_t gpus = 0;
  std::size_t slices = 0;
  for (const Gpu& gpu : inventory.gpus) {
    gpus += gpu.mig ? 1 : 0;
    slices += gpu.slices.size();
  }
  if (gpus == 0) return std::nullopt;
  if (slices == 0)
    return unusable(kMigName, kMigSupplies, fmt::format("MIG is on, on {} GPUs, but no slice is visible", gpus),
                    "create instances as root (nvidia-smi mig -cgi … -C), or ask for access to them");
  return SourceStatus{std::string(kMigName),
                      std::string(kMigSupplies),
                      true,
                      fmt::format("{} slices on {} GPUs; energy and power exist only for the whole GPU", slices, gpus),
                      {}};
}

std::vector<SourceStatus> probe_now(const std::string& path) {
  const auto library = Library::open(path);
  if (!library)
    return {unusable(kEnergyName, kEnergySupplies, library.error().message, remedy_for(library.error().code))};
  const core::SystemClock clock;
  Session session{*library, take_inventory(**library)};
  const Inventory& inventory = session.inventory;
  if (inventory.gpus.empty()) {
    std::string detail = inventory.refused.empty() ? "the driver shows no GPU" : inventory.refused.front();
    const auto remedy = inventory.refused_why ? remedy_for(*inventory.refused_why)
                                              : std::string_view("ask the batch system or the container for a GPU");
    return {unusable(kEnergyName, kEnergySupplies, std::move(detail), remedy)};
  }
  NvmlSensor sensor(session, path, clock, kProbeInterval);
  telemetry::JobScope::Snapshot everything;
  everything.whole_host = true;
  sensor.follow(everything);
  std::vector<SourceStatus> lines{energy_status(inventory, sensor.devices()), gpm_status(session, clock)};
  if (auto mig = mig_status(inventory)) lines.push_back(std::move(*mig));
  return lines;
}

}  // namespace

std::vector<SourceStatus> NvmlBackend::probe() {
  // A driver can hang in any call. The thread owns all that it touches, so it may be left behind.
  std::packaged_task<std::vector<SourceStatus>()> task([path = options_.library_path] { return probe_now(path); });
  auto answer = task.get_future();
  std::thread(std::move(task)).detach();
  if (answer.wait_for(options_.probe_timeout) == std::future_status::ready) return answer.get();
  return {unusable(kEnergyName, kEnergySupplies,
                   fmt::format("the driver did not answer within {} s",
                               std::chrono::duration<double>(options_.probe_timeout).count()),
                   "look for Xid lines in the kernel log (dmesg); the node may need a reboot")};
}

core::Result<std::vector<std::unique_ptr<telemetry::Sensor>>> NvmlBackend::open(const telemetry::OpenContext& context) {
  std::vector<std::unique_ptr<telemetry::Sensor>> sensors;
  std::optional<Session> session;
  // A job without GPUs must not wake them up: without persistence mode that takes seconds.
  if (!wants_no_gpu(context.job)) {
    auto library = Library::open(options_.library_path);
    if (!library) {
      const auto& [code, message] = library.error();
      if (code == Return::library_not_found || code == Return::driver_not_loaded) return sensors;
      const auto kind =
          class_of(code) == ReturnClass::permission ? core::Errc::not_permitted : core::Errc::not_supported;
      const auto remedy = remedy_for(code);
      return core::fail(kind, remedy.empty() ? message : fmt::format("{}; {}", message, remedy));
    }
    session = Session{*library, take_inventory(**library)};
    if (session->inventory.gpus.empty()) {
      if (session->inventory.refused.empty()) return sensors;
      const Return why = session->inventory.refused_why.value_or(Return::unknown);
      const auto kind =
          class_of(why) == ReturnClass::permission ? core::Errc::not_permitted : core::Errc::not_supported;
      return core::fail(kind, fmt::format("{}; {}", session->inventory.refused.front(), remedy_for(why)));
    }
  }
  auto sensor =
      std::make_unique<NvmlSensor>(std::move(session), options_.library_path, context.clock, context.interval);
  sensor->follow(context.job);
  sensors.push_back(std::move(sensor));
  return sensors;
}

}  // namespace gradwatt::nvml

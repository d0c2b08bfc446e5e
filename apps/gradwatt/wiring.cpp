#include "wiring.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "gradwatt/backends/hwmon/hwmon_backend.hpp"
#include "gradwatt/backends/model/model_backend.hpp"
#include "gradwatt/backends/nvml/nvml_backend.hpp"
#include "gradwatt/backends/proc/proc_backend.hpp"
#include "gradwatt/backends/rapl/rapl_backend.hpp"
#include "gradwatt/backends/replay/replay_backend.hpp"
#include "gradwatt/core/text.hpp"

namespace gradwatt::app {
namespace {

using Backends = std::vector<std::unique_ptr<telemetry::Backend>>;

/// Where /sys and /proc of the host's power sources are looked for: another folder in a container that has them mounted
/// elsewhere, and in tests.
std::filesystem::path sensor_root() {
  const char* root = std::getenv("GRADWATT_SENSOR_ROOT");
  return root != nullptr && *root != '\0' ? root : "/";
}

/// A new source is one line here. Strongest first.
Backends all_backends() {
  Backends backends;
  const char* nvml_library = std::getenv("GRADWATT_NVML_LIBRARY");
  backends.push_back(std::make_unique<nvml::NvmlBackend>(
      nvml::NvmlOptions{.library_path = nvml_library != nullptr ? nvml_library : ""}));
  const core::FileTree root(sensor_root());
  backends.push_back(std::make_unique<rapl::RaplBackend>(root));
  backends.push_back(std::make_unique<hwmon::HwmonBackend>(root));
  backends.push_back(std::make_unique<proc::ProcBackend>());
  backends.push_back(std::make_unique<model::ModelBackend>(root));
  return backends;
}

core::Result<void> check_names(const Backends& backends, const std::vector<std::string>& names,
                               const core::Settings::Value& setting) {
  std::vector<std::string_view> known;
  for (const auto& backend : backends) known.push_back(backend->name());
  for (const auto& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const auto near = core::nearest(name, known);
    return core::fail(core::Errc::wrong_use,
                      fmt::format("{}: unknown sensor source '{}'{}; there are {}", setting.source, name,
                                  near ? fmt::format(", did you mean '{}'?", *near) : "", fmt::join(known, ", ")));
  }
  return {};
}

}  // namespace

core::Result<Backends> make_backends(const core::Settings& settings) {
  auto backends = all_backends();
  constexpr auto kInclude = core::setting("sensors.include");
  constexpr auto kExclude = core::setting("sensors.exclude");
  const auto include = settings.list(kInclude);
  const auto exclude = settings.list(kExclude);
  if (auto known = check_names(backends, include, settings.value(kInclude)); !known) return core::fail(known.error());
  if (auto known = check_names(backends, exclude, settings.value(kExclude)); !known) return core::fail(known.error());
  const auto names = [](const std::vector<std::string>& list, const auto& backend) {
    return std::ranges::find(list, backend->name()) != list.end();
  };
  std::erase_if(backends, [&](const auto& b) { return names(exclude, b) || (!include.empty() && !names(include, b)); });
  return backends;
}

core::Result<std::vector<telemetry::Sampler::Group>> make_groups(const core::Settings& settings,
                                                                 const std::filesystem::path& replay) {
  std::vector<telemetry::Sampler::Group> groups;
  if (!replay.empty()) {
    auto backend = replay::ReplayBackend::load(replay);
    if (!backend) return core::fail(backend.error());
    groups.emplace_back().push_back(std::move(*backend));
    return groups;
  }
  auto backends = make_backends(settings);
  if (!backends) return core::fail(backends.error());
  telemetry::Sampler::Group host;
  for (auto& backend : *backends) {
    auto& group = backend->name() == "nvml" ? groups.emplace_back() : host;
    group.push_back(std::move(backend));
  }
  if (!host.empty()) groups.push_back(std::move(host));
  return groups;
}

core::Result<void> check_gpus(const core::Settings& settings, const std::string& gpus) {
  auto backends = make_backends(settings);
  if (!backends) return core::fail(backends.error());
  const auto nvml = std::ranges::find(*backends, std::string_view("nvml"), [](const auto& b) { return b->name(); });
  core::SystemClock clock;
  for (const auto entry : core::split(gpus, ',')) {
    telemetry::JobScope::Snapshot only;
    only.visible_gpus = {std::string(core::trim(entry))};
    only.all_gpus = false;
    const bool known = nvml != backends->end() && [&] {
      const auto sensors = (*nvml)->open({clock, only, std::chrono::seconds(1), {}});
      return sensors && !sensors->empty() && !sensors->front()->devices().empty();
    }();
    if (!known)
      return core::fail(core::Errc::wrong_use,
                        fmt::format("run: --gpus: there is no GPU '{}' here; `gradwatt doctor` lists what there is",
                                    core::trim(entry)));
  }
  return {};
}

}  // namespace gradwatt::app

#include "wiring.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "gradwatt/core/text.hpp"

namespace gradwatt::app {
namespace {

using Backends = std::vector<std::unique_ptr<telemetry::Backend>>;

/// A new source is one line here. Strongest first.
Backends all_backends() {
  Backends backends;
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

}  // namespace gradwatt::app

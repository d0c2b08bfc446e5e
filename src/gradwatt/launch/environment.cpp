#include "gradwatt/launch/environment.hpp"

#include <unistd.h>

#include <algorithm>

namespace gradwatt::launch {
namespace {

bool names(std::string_view entry, std::string_view name) {
  return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
}

void apply(Environment& environment, const EnvironmentChange& change) {
  const auto found = std::ranges::find_if(environment, [&](const auto& entry) { return names(entry, change.name); });
  const bool present = found != environment.end();
  using enum EnvironmentChange::How;
  if (change.how == remove) {
    std::erase_if(environment, [&](const auto& entry) { return names(entry, change.name); });
    return;
  }
  if (change.how == set_default && present) return;
  std::string entry = change.name + "=" + change.value;
  if (!present) {
    environment.push_back(std::move(entry));
    return;
  }
  // An empty PYTHONPATH means "none"; a trailing colon would add the working folder.
  const std::string old = found->substr(change.name.size() + 1);
  if (change.how == prepend_path && !old.empty()) entry += ":" + old;
  *found = std::move(entry);
}

}  // namespace

Environment current_environment() {
  Environment variables;
  for (const char* const* entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    variables.emplace_back(*entry);
  return variables;
}

Environment with_changes(Environment environment, std::span<const EnvironmentChange> changes) {
  for (const auto& change : changes) apply(environment, change);
  return environment;
}

std::optional<std::string_view> find_variable(const Environment& environment, std::string_view name) {
  for (const std::string_view entry : environment)
    if (names(entry, name)) return entry.substr(name.size() + 1);
  return std::nullopt;
}

}  // namespace gradwatt::launch

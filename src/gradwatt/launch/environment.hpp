// The environment of CMD: gradwatt's own plus a few additions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gradwatt::launch {

struct EnvironmentChange {
  enum class How {
    set,           ///< replaces the value
    prepend_path,  ///< goes before the colon-separated value that is there (PYTHONPATH)
    set_default,   ///< only where the variable is absent
    remove,
  };
  std::string name;
  std::string value;
  How how = How::set;
};

/// Variables as "NAME=value", in the order of the process.
using Environment = std::vector<std::string>;

/// This process's environment as it is now.
[[nodiscard]] Environment current_environment();
/// Keeps order and everything that is not named, odd entries without '=' included.
[[nodiscard]] Environment with_changes(Environment environment, std::span<const EnvironmentChange> changes);
/// The value of a variable; nothing when absent (an empty value is a value).
[[nodiscard]] std::optional<std::string_view> find_variable(const Environment& environment, std::string_view name);
/// The value lies in the environment: one that is gone at the end of the line has none to give.
std::optional<std::string_view> find_variable(Environment&& environment, std::string_view name) = delete;

}  // namespace gradwatt::launch

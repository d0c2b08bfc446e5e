// The configuration chain: defaults < user file < ./gradwatt.toml < GRADWATT_* environment < command line. Every value
// knows where it came from, so that `gradwatt config` can say why a run behaved as it did.
//
//   auto settings = Settings::load(sources);                 // Result: a bad value names file, line and what is
//   allowed settings->duration(setting("interval"));                 // a key that is not in the table does not compile
//
// A setting is one row in the table below; its environment name, help and completion come from it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gradwatt/core/result.hpp"

namespace gradwatt::core {

enum class SettingType : std::uint8_t {
  text,
  path,      ///< "~/" is the home folder; relative to the file that says it, else to the working folder
  duration,  ///< "500ms", "1.5m"; a bare number is seconds
  number,
  count,  ///< a whole number
  flag,   ///< true/false, on/off, yes/no, 1/0
  list,   ///< texts, separated by commas; an array in a file
};

struct SettingInfo {
  std::string_view key;  ///< dotted where it stands in a table of the file
  SettingType type;
  std::string_view default_text;  ///< empty: not set
  double low;                     ///< smallest allowed number, or seconds
  std::string_view environment;
  std::string_view used_by;  ///< verbs
  std::string_view help;
};

namespace table {
using enum SettingType;
inline constexpr auto kSettings = std::to_array<SettingInfo>({
    {"interval", duration, "1s", 0.01, "GRADWATT_INTERVAL", "run", "time between two readings of the sensors"},
    {"runs", path, "~/.local/share/gradwatt/runs", 0, "GRADWATT_RUNS", "run report runs", "folder that holds the runs"},
    {"agent", flag, "on", 0, "GRADWATT_AGENT", "run",
     "report steps and phases of Python children without code changes"},
    {"live", flag, "off", 0, "GRADWATT_LIVE", "run", "show a status line while the job runs"},
    {"live_interval", duration, "10s", 0.1, "GRADWATT_LIVE_INTERVAL", "run",
     "time between status lines where one line cannot be kept in place"},
    {"wait_sensors", flag, "off", 0, "GRADWATT_WAIT_SENSORS", "run", "start the command after the first reading"},
    {"steps", count, "", 1, "GRADWATT_STEPS", "run report", "optimiser steps of the whole job, to predict its energy"},
    {"epochs", count, "", 1, "GRADWATT_EPOCHS", "run report plan", "epochs of the whole job, to predict its energy"},
    {"sensors.include", list, "", 0, "GRADWATT_SENSORS_INCLUDE", "run doctor",
     "use only these sources (nvml, rapl, …)"},
    {"sensors.exclude", list, "", 0, "GRADWATT_SENSORS_EXCLUDE", "run doctor", "leave these sources out"},
    {"pue", number, "", 1, "GRADWATT_PUE", "run report plan",
     "power usage effectiveness: energy at the building's meter over energy of the machines"},
    {"price_per_kwh", number, "", 0, "GRADWATT_PRICE_PER_KWH", "run report plan", "what you pay for a kWh"},
    {"currency", text, "", 0, "GRADWATT_CURRENCY", "run report plan",
     "name of the price's currency, as it shall be printed"},
    {"co2_g_per_kwh", number, "", 0, "GRADWATT_CO2_G_PER_KWH", "run report plan",
     "grams of CO2 that a kWh of yours causes"},
});
}  // namespace table

/// A row of the table.
enum class SettingId : std::uint8_t {};
[[nodiscard]] constexpr const SettingInfo& info(SettingId id) { return table::kSettings[static_cast<std::size_t>(id)]; }
[[nodiscard]] consteval SettingId setting(std::string_view key) {
  for (std::size_t i = 0; i < table::kSettings.size(); ++i)
    if (table::kSettings[i].key == key) return static_cast<SettingId>(i);
  throw "no such setting in the table";
}
[[nodiscard]] std::optional<SettingId> find_setting(std::string_view key);

/// Where the chain looks. Nothing here is read from the process itself, so tests hand in what they like.
struct SettingSources {
  std::optional<std::filesystem::path> user_file;     ///< may be missing
  std::optional<std::filesystem::path> project_file;  ///< may be missing
  std::vector<std::pair<std::string, std::string>> environment;
  struct Argument {
    SettingId id{};
    std::string option;  ///< as typed: "--interval"
    std::string value;
  };
  std::vector<Argument> command_line;
  std::filesystem::path home;            ///< empty: unknown
  std::filesystem::path working_folder;  ///< for relative paths of environment and command line
};

/// The chain's places by convention: $XDG_CONFIG_HOME or ~/.config, then the working folder.
[[nodiscard]] SettingSources usual_sources(std::vector<std::pair<std::string, std::string>> environment,
                                           std::filesystem::path working_folder);

class Settings {
 public:
  struct Value {
    std::string text;    ///< paths made absolute; empty when not set
    std::string source;  ///< "default", "/home/x/.config/gradwatt/config.toml:3", "GRADWATT_INTERVAL", "--interval"
  };

  /// Errors: wrong_use for a bad value, unusable_input for a file that is not TOML, io, not_permitted.
  static Result<Settings> load(const SettingSources& sources);

  [[nodiscard]] const Value& value(SettingId id) const { return values_[static_cast<std::size_t>(id)]; }
  /// Each asserts that the setting has that type. Nothing when it is not set.
  [[nodiscard]] std::optional<std::string> text(SettingId id) const;
  [[nodiscard]] std::optional<std::filesystem::path> path(SettingId id) const;
  [[nodiscard]] std::optional<std::chrono::nanoseconds> duration(SettingId id) const;
  [[nodiscard]] std::optional<double> number(SettingId id) const;
  [[nodiscard]] std::optional<std::int64_t> count(SettingId id) const;
  [[nodiscard]] bool flag(SettingId id) const;
  [[nodiscard]] std::vector<std::string> list(SettingId id) const;
  /// One sentence each: unknown keys with the nearest known one.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Settings() = default;
  std::array<Value, table::kSettings.size()> values_;
  std::vector<std::string> warnings_;
};

}  // namespace gradwatt::core

#include "gradwatt/core/settings.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cassert>
#include <fstream>
#include <iterator>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"

namespace gradwatt::core {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnvironmentPrefix = "GRADWATT_";

constexpr bool keys_are_unique() {
  for (std::size_t i = 0; i < table::kSettings.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (table::kSettings[i].key == table::kSettings[j].key) return false;
  return true;
}
static_assert(keys_are_unique());

/// One setting as one place says it, before it is checked.
struct Claim {
  std::string key;
  std::string text;
  std::string source;
  fs::path base;  ///< relative paths start here
};

std::optional<bool> parse_flag(std::string_view text) {
  const auto word = to_lower(trim(text));
  if (word == "on" || word == "true" || word == "yes" || word == "1") return true;
  if (word == "off" || word == "false" || word == "no" || word == "0") return false;
  return std::nullopt;
}

std::string allowed(const SettingInfo& row) {
  switch (row.type) {
    case SettingType::duration:
      return fmt::format("a time of at least {}, such as 500ms, 1s or 2m",
                         format_duration(std::chrono::nanoseconds(static_cast<std::int64_t>(row.low * 1e9))));
    case SettingType::number:
      return fmt::format("a number of at least {}", row.low);
    case SettingType::count:
      return fmt::format("a whole number of at least {}", row.low);
    case SettingType::flag:
      return "on or off";
    default:
      return "a text";
  }
}

bool is_valid(const SettingInfo& row, std::string_view text) {
  switch (row.type) {
    case SettingType::duration: {
      const auto time = parse_duration(text);
      return time && std::chrono::duration<double>(*time).count() >= row.low;
    }
    case SettingType::number: {
      const auto number = parse_number(text);
      return number && *number >= row.low;
    }
    case SettingType::count: {
      const auto number = parse_int(text);
      return number && static_cast<double>(*number) >= row.low;
    }
    case SettingType::flag:
      return parse_flag(text).has_value();
    default:
      return text.find('\0') == std::string_view::npos;
  }
}

/// Empty when the home folder is needed and unknown.
std::string absolute_path(std::string_view text, const fs::path& base, const fs::path& home) {
  if (text == "~" || text.starts_with("~/")) {
    if (home.empty()) return {};
    return (home / fs::path(text.substr(std::min<std::size_t>(2, text.size())))).lexically_normal().string();
  }
  return (base / fs::path(text)).lexically_normal().string();
}

std::vector<std::string_view> known_keys() {
  std::vector<std::string_view> keys;
  for (const auto& row : table::kSettings) keys.push_back(row.key);
  return keys;
}

std::string unknown_key(const Claim& claim) {
  const auto keys = known_keys();
  const auto near = nearest(claim.key, keys);
  return fmt::format("{}: unknown setting '{}' is ignored{}", claim.source, claim.key,
                     near ? fmt::format("; did you mean '{}'?", *near) : "; `gradwatt config` lists those that exist");
}

/// A leaf of a TOML file as text; nothing for a kind that no setting takes (a date, a nested array).
std::optional<std::string> leaf_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
  if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "on" : "off";
  const auto* array = node.as_array();
  if (array == nullptr) return std::nullopt;
  std::string joined;
  for (const auto& item : *array) {
    const auto* text = item.as_string();
    if (text == nullptr) return std::nullopt;
    joined += (joined.empty() ? "" : ",") + text->get();
  }
  return joined;
}

Result<void> collect(const toml::table& table, const std::string& prefix, const fs::path& file,
                     std::vector<Claim>& claims) {
  for (const auto& [name, node] : table) {
    const auto key = prefix + std::string(name.str());
    if (const auto* inner = node.as_table()) {
      if (auto done = collect(*inner, key + ".", file, claims); !done) return done;
      continue;
    }
    const auto source = fmt::format("{}:{}", file.string(), node.source().begin.line);
    const auto text = leaf_text(node);
    if (!text && find_setting(key))
      return fail(Errc::wrong_use, fmt::format("{}: {} must be {}", source, key, allowed(info(*find_setting(key)))));
    claims.push_back({key, text.value_or(""), source, file.parent_path()});
  }
  return {};
}

Result<std::vector<Claim>> read_file(const fs::path& file) {
  std::vector<Claim> claims;
  std::error_code gone;
  if (!fs::exists(file, gone)) return claims;
  std::ifstream stream(file);
  if (!fs::is_regular_file(file, gone) || !stream)
    return fail(Errc::not_permitted, fmt::format("cannot read the settings in {}", file.string()));
  const std::string content{std::istreambuf_iterator<char>(stream), {}};
  try {
    const auto table = toml::parse(content, file.string());
    if (auto done = collect(table, "", file, claims); !done) return fail(done.error());
  } catch (const toml::parse_error& error) {
    return fail(Errc::unusable_input, fmt::format("{}:{}: not a settings file in TOML: {}", file.string(),
                                                  error.source().begin.line, error.description()));
  }
  return claims;
}

/// Variables of the table. Others that begin like ours may belong to other parts; only a likely slip is warned of.
std::vector<Claim> read_environment(const SettingSources& sources, std::vector<std::string>& warnings) {
  std::vector<Claim> claims;
  std::vector<std::string_view> suffixes;
  for (const auto& row : table::kSettings) suffixes.push_back(row.environment.substr(kEnvironmentPrefix.size()));
  for (const auto& [name, value] : sources.environment) {
    if (!name.starts_with(kEnvironmentPrefix)) continue;
    const auto* row = std::ranges::find(table::kSettings, std::string_view(name), &SettingInfo::environment);
    if (row != table::kSettings.end()) {
      // An empty variable is how shells unset for one command.
      if (!value.empty()) claims.push_back({std::string(row->key), value, name, sources.working_folder});
    } else if (const auto near = nearest(std::string_view(name).substr(kEnvironmentPrefix.size()), suffixes)) {
      warnings.push_back(
          fmt::format("environment variable {} is ignored; did you mean {}{}?", name, kEnvironmentPrefix, *near));
    }
  }
  return claims;
}

}  // namespace

std::optional<SettingId> find_setting(std::string_view key) {
  const auto* row = std::ranges::find(table::kSettings, key, &SettingInfo::key);
  if (row == table::kSettings.end()) return std::nullopt;
  return static_cast<SettingId>(row - table::kSettings.begin());
}

SettingSources usual_sources(std::vector<std::pair<std::string, std::string>> environment, fs::path working_folder) {
  SettingSources sources;
  fs::path config;
  for (const auto& [name, value] : environment) {
    if (name == "HOME") sources.home = value;
    if (name == "XDG_CONFIG_HOME") config = value;
  }
  if (!config.is_absolute() && !sources.home.empty()) config = sources.home / ".config";
  if (config.is_absolute()) sources.user_file = config / "gradwatt" / "config.toml";
  sources.project_file = working_folder / "gradwatt.toml";
  sources.environment = std::move(environment);
  sources.working_folder = std::move(working_folder);
  return sources;
}

Result<Settings> Settings::load(const SettingSources& sources) {
  Settings settings;
  std::vector<Claim> claims;
  for (const auto& row : table::kSettings)
    claims.push_back({std::string(row.key), std::string(row.default_text), "default", sources.working_folder});
  for (const auto& file : {sources.user_file, sources.project_file}) {
    if (!file) continue;
    auto found = read_file(*file);
    if (!found) return fail(found.error());
    std::ranges::move(*found, std::back_inserter(claims));
  }
  std::ranges::move(read_environment(sources, settings.warnings_), std::back_inserter(claims));
  for (const auto& [id, option, value] : sources.command_line)
    claims.push_back({std::string(info(id).key), value, option, sources.working_folder});

  for (const auto& claim : claims) {
    const auto id = find_setting(claim.key);
    if (!id) {
      settings.warnings_.push_back(unknown_key(claim));
      continue;
    }
    const auto& row = info(*id);
    auto& value = settings.values_[static_cast<std::size_t>(*id)];
    const bool from_table = claim.source == "default";
    if (!(from_table && claim.text.empty()) && !is_valid(row, claim.text))
      return fail(Errc::wrong_use,
                  fmt::format("{}: {} is '{}', but must be {}", claim.source, claim.key, claim.text, allowed(row)));
    const bool is_path = row.type == SettingType::path && !claim.text.empty();
    value = {is_path ? absolute_path(claim.text, claim.base, sources.home) : claim.text, claim.source};
  }
  return settings;
}

std::optional<std::string> Settings::text(SettingId id) const {
  const auto& text = value(id).text;
  return text.empty() ? std::nullopt : std::optional(text);
}

std::optional<fs::path> Settings::path(SettingId id) const {
  assert(info(id).type == SettingType::path);
  const auto text = this->text(id);
  return text ? std::optional<fs::path>(*text) : std::nullopt;
}

std::optional<std::chrono::nanoseconds> Settings::duration(SettingId id) const {
  assert(info(id).type == SettingType::duration);
  return parse_duration(value(id).text);
}

std::optional<double> Settings::number(SettingId id) const {
  assert(info(id).type == SettingType::number);
  return parse_number(value(id).text);
}

std::optional<std::int64_t> Settings::count(SettingId id) const {
  assert(info(id).type == SettingType::count);
  return parse_int(value(id).text);
}

bool Settings::flag(SettingId id) const {
  assert(info(id).type == SettingType::flag);
  return parse_flag(value(id).text).value_or(false);
}

std::vector<std::string> Settings::list(SettingId id) const {
  assert(info(id).type == SettingType::list);
  std::vector<std::string> items;
  for (const auto piece : split(value(id).text, ','))
    if (const auto item = trim(piece); !item.empty()) items.emplace_back(item);
  return items;
}

}  // namespace gradwatt::core

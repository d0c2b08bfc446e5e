// `gradwatt config`: each setting, its value and where the value comes from.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "commands/table.hpp"
#include "gradwatt/core/file_tree.hpp"

namespace gradwatt::app {
namespace {

using Json = nlohmann::ordered_json;

Json typed_value(const core::Settings& settings, core::SettingId id) {
  const auto& text = settings.value(id).text;
  switch (core::info(id).type) {
    case core::SettingType::flag:
      return settings.flag(id);
    case core::SettingType::list:
      return settings.list(id);
    case core::SettingType::number:
      return settings.number(id) ? Json(*settings.number(id)) : Json(nullptr);
    case core::SettingType::count:
      return settings.count(id) ? Json(*settings.count(id)) : Json(nullptr);
    default:
      return text.empty() ? Json(nullptr) : Json(text);
  }
}

void print_json(Context& context, const core::Settings& settings) {
  Json list = Json::array();
  for (std::size_t i = 0; i < core::table::kSettings.size(); ++i) {
    const auto id = static_cast<core::SettingId>(i);
    const auto& row = core::info(id);
    list.push_back({{"key", row.key},
                    {"value", typed_value(settings, id)},
                    {"source", settings.value(id).source},
                    {"environment", row.environment},
                    {"used_by", row.used_by},
                    {"help", row.help}});
  }
  const Json object{{"schema", "gradwatt.config/1"}, {"settings", list}};
  context.out << object.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

void print_text(Context& context, const core::Settings& settings) {
  std::size_t key_width = 0, value_width = 0;
  const auto shown = [&](core::SettingId id) {
    const auto& text = settings.value(id).text;
    return text.empty() ? std::string("–") : text;
  };
  for (std::size_t i = 0; i < core::table::kSettings.size(); ++i) {
    const auto id = static_cast<core::SettingId>(i);
    key_width = std::max(key_width, core::info(id).key.size());
    value_width = std::max(value_width, report::columns(shown(id)));
  }
  // Not through Screen: a path must stay whole however narrow the terminal is.
  std::string text;
  for (std::size_t i = 0; i < core::table::kSettings.size(); ++i) {
    const auto id = static_cast<core::SettingId>(i);
    text += fmt::format("{}  {}  {}\n", report::pad_right(core::info(id).key, key_width),
                        report::pad_right(shown(id), value_width),
                        settings.value(id).text.empty() ? "not set" : settings.value(id).source);
    text += fmt::format("{}  {} ({})\n", std::string(key_width, ' '), core::info(id).help, core::info(id).environment);
  }
  context.out << (context.screen.utf8 ? text : report::to_ascii(text));
}

void print_paths(Context& context, const core::Settings& settings) {
  const auto sources = core::usual_sources(context.environment, context.working_folder);
  const auto line = [&](std::string_view what, const std::optional<std::filesystem::path>& path) {
    std::error_code error;
    const bool there = path && std::filesystem::exists(*path, error);
    context.out << fmt::format("{:<13} {}{}\n", what, path ? path->string() : "unknown", there ? "" : " (not there)");
  };
  line("user file", sources.user_file);
  line("project file", sources.project_file);
  line("runs", settings.path(core::setting("runs")));
}

}  // namespace

core::Result<int> run_config(Context& context, Arguments arguments) {
  Options options(context, "config",
                  "Prints each setting, its value and where the value comes from.\n"
                  "Settings are taken from, last one wins: defaults, the user's file, ./gradwatt.toml, GRADWATT_* "
                  "environment variables, the command line.");
  bool json = false;
  options.app().add_flag("--json", json, "print JSON");
  const auto* path = options.add_action("path", "print where settings files and runs are looked for");
  const auto parsed = options.parse(arguments);
  if (!parsed) return core::fail(parsed.error());
  if (*parsed == Options::Parsed::done) return 0;
  const auto settings = options.settings();
  if (!settings) return core::fail(settings.error());
  if (path->parsed())
    print_paths(context, *settings);
  else if (json)
    print_json(context, *settings);
  else
    print_text(context, *settings);
  return 0;
}

}  // namespace gradwatt::app

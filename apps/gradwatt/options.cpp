#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <ostream>

#include "gradwatt/core/text.hpp"

namespace gradwatt::app {
namespace {

std::vector<std::string> words_of(const CLI::App& app) {
  std::vector<std::string> words;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) words.push_back("--" + name);
    for (const auto& name : option->get_snames()) words.push_back("-" + name);
  }
  for (const auto* action : app.get_subcommands([](const CLI::App*) { return true; }))
    words.push_back(action->get_name());
  return words;
}

std::string type_name(core::SettingType type) {
  switch (type) {
    case core::SettingType::duration:
      return "TIME";
    case core::SettingType::number:
    case core::SettingType::count:
      return "NUMBER";
    case core::SettingType::path:
      return "DIR";
    case core::SettingType::list:
      return "NAME,...";
    default:
      return "TEXT";
  }
}

std::string hint(std::string_view word, const std::vector<std::string>& words) {
  const std::vector<std::string_view> candidates(words.begin(), words.end());
  const auto near = core::nearest(word, candidates);
  return near ? fmt::format(", did you mean '{}'?", *near) : std::string();
}

}  // namespace

Options::Options(Context& context, const std::string& verb, const std::string& description)
    : context_(context), verb_(verb), app_(description, "gradwatt " + verb) {
  app_.set_help_flag("--help,-h", "show this help");
  app_.allow_extras();  // refused by ourselves, with a hint
  app_.get_formatter()->column_width(32);
}

CLI::App* Options::add_action(const std::string& name, const std::string& description) {
  auto* action = app_.add_subcommand(name, description);
  action->allow_extras();
  return action;
}

void Options::add_setting(core::SettingId id, const std::string& names, const std::string& flag_value) {
  const auto& row = core::info(id);
  auto& given = given_.emplace_back(Given{id, nullptr, {}});
  const std::string help = (flag_value == "off" ? "do not " : "") + std::string(row.help);
  if (row.type == core::SettingType::flag) {
    given.option = app_.add_flag(names, help);
    given.value = flag_value;
  } else {
    given.option = app_.add_option(names, given.value, help);
    given.option->type_name(type_name(row.type));
    if (!row.default_text.empty()) given.option->description(fmt::format("{} (default {})", help, row.default_text));
  }
}

void Options::describe() const {
  auto& description = *context_.describe;
  description.words = words_of(app_);
  const auto takes_run = [](const CLI::App& app) { return app.get_option_no_throw("RUN") != nullptr; };
  description.takes_run =
      takes_run(app_) || std::ranges::any_of(app_.get_subcommands([](const CLI::App*) { return true; }),
                                             [&](const CLI::App* a) { return takes_run(*a); });
}

core::Result<void> Options::refuse_extras() const {
  const auto extras = app_.remaining(true);
  if (extras.empty()) return {};
  auto words = words_of(app_);
  for (const auto* action : app_.get_subcommands()) std::ranges::move(words_of(*action), std::back_inserter(words));
  const auto& extra = extras.front();
  const bool is_option = extra.starts_with('-');
  const auto name = extra.substr(0, extra.find('='));
  return core::fail(core::Errc::wrong_use,
                    fmt::format("{}: {} '{}'{} (`gradwatt {} --help` lists what it takes)", verb_,
                                is_option ? "unknown option" : "unexpected argument", name, hint(name, words), verb_));
}

core::Result<Options::Parsed> Options::parse(Arguments arguments) {
  if (context_.describe != nullptr) {
    describe();
    return Parsed::done;
  }
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app_.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    context_.out << app_.help();
    return Parsed::done;
  } catch (const CLI::ParseError& error) {
    // A mistyped option often makes CLI11 miss something else first; name the slip, not its consequence.
    if (auto clean = refuse_extras(); !clean) return core::fail(clean.error());
    return core::fail(core::Errc::wrong_use, fmt::format("{}: {}", verb_, error.what()));
  }
  if (auto clean = refuse_extras(); !clean) return core::fail(clean.error());
  return Parsed::go_on;
}

core::Result<core::Settings> Options::settings() const {
  std::vector<core::SettingSources::Argument> arguments;
  for (const auto& given : given_)
    if (given.option->count() > 0) arguments.push_back({given.id, given.option->get_name(), given.value});
  return load_settings(context_, std::move(arguments));
}

core::Result<core::Settings> load_settings(Context& context, std::vector<core::SettingSources::Argument> arguments) {
  auto sources = core::usual_sources(context.environment, context.working_folder);
  sources.command_line = std::move(arguments);
  auto settings = core::Settings::load(sources);
  if (settings)
    for (const auto& warning : settings->warnings()) complain(context, warning);
  return settings;
}

core::Result<void> expect_one_of(std::string_view what, std::string_view word,
                                 std::span<const std::string_view> known) {
  if (std::ranges::find(known, word) != known.end()) return {};
  const auto near = core::nearest(word, known);
  return core::fail(core::Errc::wrong_use,
                    fmt::format("unknown {} '{}'{}; there are {}", what, word,
                                near ? fmt::format(", did you mean '{}'?", *near) : "", fmt::join(known, ", ")));
}

}  // namespace gradwatt::app

// The command line of one verb: CLI11 behind one wall, mistakes as one sentence with the nearest right word, and
// options that stand for settings as the last link of the configuration chain.
#pragma once

#include <CLI/App.hpp>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "context.hpp"
#include "gradwatt/core/result.hpp"
#include "gradwatt/core/settings.hpp"

namespace gradwatt::app {

using Arguments = std::span<const std::string>;

class Options {
 public:
  /// `verb` as typed: "report"; the description is the first line of its help.
  Options(Context& context, const std::string& verb, const std::string& description);

  /// For positionals, plain options and sub-verbs. A positional named RUN is completed with run ids.
  [[nodiscard]] CLI::App& app() { return app_; }
  CLI::App* add_action(const std::string& name, const std::string& description);
  /// `names` as CLI11 wants them: "--interval,-i". The help text comes from the table of settings. A flag takes no
  /// value: with `flag_value` "off" for options such as --no-agent.
  void add_setting(core::SettingId id, const std::string& names, const std::string& flag_value = "on");

  enum class Parsed { go_on, done };
  /// `done`: help was printed, or the verb was only described; the verb returns 0. Errors: wrong_use.
  [[nodiscard]] core::Result<Parsed> parse(Arguments arguments);
  /// The chain with this command line at its end. Warnings go to `err`.
  [[nodiscard]] core::Result<core::Settings> settings() const;

 private:
  struct Given {
    core::SettingId id;
    CLI::Option* option;
    std::string value;
  };
  void describe() const;
  [[nodiscard]] core::Result<void> refuse_extras() const;

  Context& context_;
  std::string verb_;
  CLI::App app_;
  std::deque<Given> given_;  // CLI11 keeps pointers into it
};

/// The chain without any command line.
[[nodiscard]] core::Result<core::Settings> load_settings(Context& context,
                                                         std::vector<core::SettingSources::Argument> arguments = {});

/// `word` must be one of `known`: else an error such as "unknown format 'jsn', did you mean 'json'? …".
[[nodiscard]] core::Result<void> expect_one_of(std::string_view what, std::string_view word,
                                               std::span<const std::string_view> known);

}  // namespace gradwatt::app

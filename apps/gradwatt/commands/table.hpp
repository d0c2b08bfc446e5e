// The verbs: one row a verb, one file a verb.
#pragma once

#include <span>
#include <string_view>

#include "context.hpp"
#include "gradwatt/core/result.hpp"
#include "options.hpp"

namespace gradwatt::app {

struct Command {
  std::string_view name;
  std::string_view help;                          ///< one line
  core::Result<int> (*run)(Context&, Arguments);  ///< exit status; an error is printed and mapped by app.cpp
};
[[nodiscard]] std::span<const Command> commands();
/// Null when there is none of that name.
[[nodiscard]] const Command* find_command(std::string_view name);

core::Result<int> run_completion(Context& context, Arguments arguments);
core::Result<int> run_config(Context& context, Arguments arguments);
core::Result<int> run_diagnose(Context& context, Arguments arguments);
core::Result<int> run_baseline(Context& context, Arguments arguments);
core::Result<int> run_compare(Context& context, Arguments arguments);
core::Result<int> run_doctor(Context& context, Arguments arguments);
core::Result<int> run_help(Context& context, Arguments arguments);
core::Result<int> run_import(Context& context, Arguments arguments);
core::Result<int> run_plan(Context& context, Arguments arguments);
core::Result<int> run_report(Context& context, Arguments arguments);
core::Result<int> run_run(Context& context, Arguments arguments);
core::Result<int> run_runs(Context& context, Arguments arguments);
core::Result<int> run_simulate(Context& context, Arguments arguments);
core::Result<int> run_train(Context& context, Arguments arguments);

}  // namespace gradwatt::app

// `gradwatt report [RUN]`: what a run used, as text, JSON or CSV.
#include <fmt/format.h>

#include <array>
#include <fstream>
#include <ostream>
#include <sstream>

#include "commands/table.hpp"
#include "gradwatt/report/csv.hpp"
#include "gradwatt/report/json.hpp"
#include "run_ref.hpp"
#include "show_report.hpp"

namespace gradwatt::app {
namespace {

constexpr std::array<std::string_view, 3> kFormats{"text", "json", "csv"};

struct Wanted {
  std::string run, format, output;
  bool json = false, raw = false, long_rows = false;
};

core::Result<void> settle_format(Wanted& wanted) {
  if (wanted.format.empty()) wanted.format = wanted.json ? "json" : wanted.raw || wanted.long_rows ? "csv" : "text";
  if (auto known = expect_one_of("format", wanted.format, kFormats); !known) return known;
  if (wanted.json && wanted.format != "json")
    return core::fail(core::Errc::wrong_use, fmt::format("report: --json contradicts --format {}", wanted.format));
  if ((wanted.raw || wanted.long_rows) && wanted.format != "csv")
    return core::fail(core::Errc::wrong_use, fmt::format("report: raw samples are CSV, not {}", wanted.format));
  wanted.raw = wanted.raw || wanted.long_rows;
  return {};
}

/// How the user would name the run again; nothing for the latest.
std::string run_words(const Wanted& wanted) { return wanted.run.empty() || wanted.run == "last" ? "" : wanted.run; }

void print_summary(Context& context, const Wanted& wanted, const core::Settings& settings, const RunRef& ref,
                   const record::Run& run) {
  const auto options = summary_options(settings);
  const auto summary = energy::summarize(run, options);
  const auto place = ref.kind == RunRef::Kind::foreign ? std::filesystem::path() : ref.path;
  if (wanted.format == "json")
    context.out << report::to_json(run, summary,
                                   {options.factors, top_trigger(run, run_words(wanted)), place.string()});
  else if (wanted.format == "csv")
    context.out << report::summary_csv(run, summary);
  else
    show_report(context, settings, run, summary, {place, run_words(wanted)});
}

core::Result<void> print_report(Context& context, const Wanted& wanted, const core::Settings& settings) {
  const auto ref = resolve_run(settings, context.working_folder, wanted.run);
  if (!ref) return core::fail(ref.error());
  auto columns = report_columns();
  if (wanted.raw) columns = {};  // all
  const auto run = load_run(context, *ref, columns);
  if (!run) return core::fail(run.error());
  if (wanted.raw)
    report::raw_csv(*run, wanted.long_rows ? report::RawLayout::long_rows : report::RawLayout::wide, context.out);
  else
    print_summary(context, wanted, settings, *ref, *run);
  return {};
}

core::Result<void> print_into_file(Context& context, const Wanted& wanted, const core::Settings& settings) {
  const auto path = context.working_folder / wanted.output;
  std::ostringstream text;  // a report that fails leaves an earlier file as it was
  Context to_file{.in = context.in,
                  .out = text,
                  .err = context.err,
                  .screen = {},
                  .clock = context.clock,
                  .environment = context.environment,
                  .working_folder = context.working_folder};
  if (auto done = print_report(to_file, wanted, settings); !done) return done;
  std::ofstream file(path, std::ios::binary);
  if (!file) return core::fail(core::Errc::not_permitted, fmt::format("cannot write {}", path.string()));
  file << text.view();
  if (!file.flush())
    return core::fail(core::Errc::io, fmt::format("cannot write {}: is the disk full?", path.string()));
  return {};
}

}  // namespace

core::Result<int> run_report(Context& context, Arguments arguments) {
  Options options(context, "report", "Prints what a run used, where the watts went, and how well that was measured.");
  Wanted wanted;
  auto& app = options.app();
  app.add_option("RUN", wanted.run, "run folder, record, id, name, `last` (the default) or a foreign recording")
      ->type_name("");
  app.add_option("--format", wanted.format, "text, json or csv")->type_name("FORMAT");
  app.add_flag("--json", wanted.json, "the same as --format json");
  app.add_flag("--raw", wanted.raw, "all samples as CSV, a row a reading time and device");
  app.add_flag("--long", wanted.long_rows, "all samples as CSV, a row a value");
  app.add_option("-o,--output", wanted.output, "write into this file instead of standard output")->type_name("FILE");
  options.add_setting(core::setting("pue"), "--pue");
  options.add_setting(core::setting("price_per_kwh"), "--price-per-kwh");
  options.add_setting(core::setting("currency"), "--currency");
  options.add_setting(core::setting("co2_g_per_kwh"), "--co2-g-per-kwh");
  options.add_setting(core::setting("steps"), "--steps");
  options.add_setting(core::setting("epochs"), "--epochs");
  const auto parsed = options.parse(arguments);
  if (!parsed) return core::fail(parsed.error());
  if (*parsed == Options::Parsed::done) return 0;
  if (auto settled = settle_format(wanted); !settled) return core::fail(settled.error());
  const auto settings = options.settings();
  if (!settings) return core::fail(settings.error());
  const auto done = wanted.output.empty() || wanted.output == "-" ? print_report(context, wanted, *settings)
                                                                  : print_into_file(context, wanted, *settings);
  if (!done) return core::fail(done.error());
  return 0;
}

}  // namespace gradwatt::app

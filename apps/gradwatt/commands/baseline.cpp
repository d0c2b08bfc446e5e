// `gradwatt baseline save|list|check|remove`: a good run as the yardstick of later ones.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>

#include "baseline_store.hpp"
#include "commands/table.hpp"
#include "gradwatt/diagnosis/diagnose.hpp"
#include "gradwatt/diagnosis/facts/facts.hpp"
#include "gradwatt/report/figures.hpp"
#include "gradwatt/report/findings_text.hpp"
#include "run_ref.hpp"
#include "show_report.hpp"

namespace gradwatt::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> kActions{"save", "list", "check", "remove"};

struct Wanted {
  std::string action, run, name;
  bool json = false;
};

core::Result<record::Run> load(Context& context, const core::Settings& settings, const std::string& name) {
  const auto ref = resolve_run(settings, context.working_folder, name);
  if (!ref) return core::fail(ref.error());
  return load_run(context, *ref, diagnosis_columns());
}

std::string figure(std::optional<double> value, std::string_view unit) {
  return value ? fmt::format("{}{}{}", report::number_text(*value), unit.empty() ? "" : " ", unit) : "—";
}

core::Result<int> save(Context& context, const core::Settings& settings, const std::filesystem::path& folder,
                       const Wanted& wanted) {
  if (wanted.name.empty()) return core::fail(core::Errc::wrong_use, "baseline save: give it a name, --name NAME");
  const auto run = load(context, settings, wanted.run);
  if (!run) return core::fail(run.error());
  const auto baseline = diagnosis::baseline_of(*run, wanted.name);
  if (!baseline.samples_per_s && !baseline.steps_per_s && !baseline.power_avg_w)
    return core::fail(
        core::Errc::unusable_input,
        "baseline save: the run tells neither speed nor power; there is nothing to hold later runs against");
  if (auto saved = save_baseline(folder, baseline); !saved) return core::fail(saved.error());
  context.out << fmt::format(
      "Saved {}: {} a second, {}, {} a sample. Hold a later run against it: gradwatt baseline check RUN --name {}\n",
      baseline.name,
      baseline.samples_per_s ? figure(baseline.samples_per_s, "samples") : figure(baseline.steps_per_s, "steps"),
      figure(baseline.power_avg_w, "W"), figure(baseline.energy_per_sample_j, "J"), baseline.name);
  return 0;
}

void list_one(report::Screen& screen, const diagnosis::Baseline& baseline) {
  screen.line(fmt::format(
      "{}  {}  {}  {}", report::pad_right(baseline.name, 36),
      report::pad_left(
          baseline.samples_per_s ? figure(baseline.samples_per_s, "/s") : figure(baseline.steps_per_s, "steps/s"), 12),
      report::pad_left(figure(baseline.power_avg_w, "W"), 9),
      baseline.gpu.empty() ? "no GPU" : report::printable(baseline.gpu)));
}

int list(Context& context, const std::filesystem::path& folder, bool json) {
  const auto own = list_baselines(folder);
  if (json) {
    Json rows = Json::array();
    for (const auto* group : {&own, &diagnosis::published_baselines()})
      for (const auto& b : *group)
        rows.push_back({{"name", b.name},
                        {"origin", b.origin},
                        {"gpu", b.gpu},
                        {"samples_per_s", b.samples_per_s ? Json(*b.samples_per_s) : Json(nullptr)}});
    context.out << Json{{"schema", "gradwatt.baselines/1"}, {"baselines", rows}}.dump(2) << '\n';
    return 0;
  }
  report::Screen screen(context.screen);
  screen.line("Own", report::Style::strong);
  for (const auto& baseline : own) list_one(screen, baseline);
  if (own.empty()) screen.line("none yet: gradwatt baseline save RUN --name NAME");
  screen.line("Published, for the same model and settings only (NVIDIA DeepLearningExamples, April 2024)",
              report::Style::strong);
  for (const auto& baseline : diagnosis::published_baselines()) list_one(screen, baseline);
  context.out << screen.text();
  return 0;
}

void print_check(Context& context, const diagnosis::Baseline& baseline, const diagnosis::BaselineCheck& result) {
  report::Screen screen(context.screen);
  screen.line(fmt::format("Against {} ({})", baseline.name, baseline.origin), report::Style::strong);
  for (const auto& figure_of : result.figures)
    screen.line(fmt::format("  {} {} {}  {:+.1f} %{}", report::pad_right(figure_of.name, 20),
                            report::pad_left(figure(figure_of.expected, figure_of.unit), 12),
                            report::pad_left(figure(figure_of.got, figure_of.unit), 12), 100 * figure_of.change,
                            figure_of.worse ? "  ← beyond what is allowed" : ""),
                figure_of.worse ? report::Style::bad : report::Style::plain);
  if (result.efficiency) screen.entry("efficiency", report::share_text(*result.efficiency) + " of the speed a rank");
  for (const auto& difference : result.differences) screen.entry("differs", difference);
  screen.entry("verdict",
               result.passed() ? "as good as the baseline" : "worse than the baseline; what may be the reason:",
               report::Style::strong);
  context.out << screen.text();
}

core::Result<int> check(Context& context, const core::Settings& settings, const std::filesystem::path& folder,
                        const Wanted& wanted) {
  if (wanted.name.empty())
    return core::fail(core::Errc::wrong_use, "baseline check: say against which, --name NAME (gradwatt baseline list)");
  const auto baseline = load_baseline(folder, wanted.name);
  if (!baseline) return core::fail(baseline.error());
  const auto run = load(context, settings, wanted.run);
  if (!run) return core::fail(run.error());
  const auto result = diagnosis::check(*baseline, diagnosis::baseline_of(*run, "now"));
  if (!result.comparable())
    return core::fail(core::Errc::unusable_input,
                      fmt::format("baseline check: the run and {} have no figure in common", baseline->name));
  if (wanted.json) {
    Json figures = Json::array();
    for (const auto& f : result.figures)
      figures.push_back({{"name", f.name},
                         {"unit", f.unit},
                         {"expected", f.expected},
                         {"got", f.got},
                         {"change", f.change},
                         {"worse", f.worse}});
    context.out << Json{{"schema", "gradwatt.baseline-check/1"},
                        {"baseline", baseline->name},
                        {"origin", baseline->origin},
                        {"passed", result.passed()},
                        {"efficiency", result.efficiency ? Json(*result.efficiency) : Json(nullptr)},
                        {"differences", result.differences},
                        {"figures", figures}}
                       .dump(2, ' ', false, Json::error_handler_t::replace)
                << '\n';
    return result.passed() ? 0 : 1;
  }
  print_check(context, *baseline, result);
  if (result.passed()) return 0;
  context.out << '\n'
              << report::findings_to_text(diagnosis::diagnose(diagnosis::facts_of(*run)), {.screen = context.screen});
  return 1;
}

core::Result<int> remove(Context& context, const std::filesystem::path& folder, const Wanted& wanted) {
  const auto baseline = load_baseline(folder, wanted.name);
  if (!baseline) return core::fail(baseline.error());
  std::error_code error;
  if (!std::filesystem::remove(folder / (wanted.name + ".json"), error))
    return core::fail(core::Errc::wrong_use,
                      fmt::format("baseline remove: {} is published with the program and stays", wanted.name));
  context.out << fmt::format("Removed {}.\n", wanted.name);
  return 0;
}

}  // namespace

core::Result<int> run_baseline(Context& context, Arguments arguments) {
  Options options(context, "baseline",
                  "Keeps a good run as the yardstick of later ones, and holds runs against it.\nExit status of check: "
                  "1 when a figure is more than 20 % worse.");
  Wanted wanted;
  auto& app = options.app();
  app.add_option("ACTION", wanted.action, "save, list, check or remove")->type_name("")->required();
  app.add_option("RUN", wanted.run, "run to save or to check (default: the last one)")->type_name("");
  app.add_option("--name", wanted.name, "name of the baseline")->type_name("NAME");
  app.add_flag("--json", wanted.json, "print JSON (list, check)");
  const auto parsed = options.parse(arguments);
  if (!parsed) return core::fail(parsed.error());
  if (*parsed == Options::Parsed::done) return 0;
  if (auto known = expect_one_of("action", wanted.action, kActions); !known) return core::fail(known.error());
  const auto settings = options.settings();
  if (!settings) return core::fail(settings.error());
  const auto folder = baseline_folder(*settings);
  if (!folder) return core::fail(folder.error());
  if (wanted.action == "save") return save(context, *settings, *folder, wanted);
  if (wanted.action == "list") return list(context, *folder, wanted.json);
  if (wanted.action == "check") return check(context, *settings, *folder, wanted);
  return remove(context, *folder, wanted);
}

}  // namespace gradwatt::app

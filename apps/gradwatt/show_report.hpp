// The text report as `run`, `report` and `import` print it: settings in, one screen out.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "context.hpp"
#include "gradwatt/core/settings.hpp"
#include "gradwatt/energy/summary.hpp"
#include "gradwatt/report/text.hpp"

namespace gradwatt::app {

/// The user's factors and the length of the job, as far as they are set.
[[nodiscard]] energy::Options summary_options(const core::Settings& settings);

/// What a report and its triggers read of a record.
[[nodiscard]] record::LoadOptions report_columns();
/// The same, and what a diagnosis reads: twice as much, which a record of days feels.
[[nodiscard]] record::LoadOptions diagnosis_columns();

/// The strongest thing that stands out, with the command that looks into it; `run_words` as in ReportPlace.
[[nodiscard]] std::optional<report::TriggerLine> top_trigger(const record::Run& run, const std::string& run_words);

/// What a diagnosis of the whole run says first; nothing where it is not decided or nothing is wrong.
[[nodiscard]] std::optional<report::TriggerLine> top_finding(const record::Run& run, const std::string& run_words);

struct ReportPlace {
  std::filesystem::path record;  ///< empty: not kept
  std::string run_words;         ///< how further commands name the run: empty for `last`, else id, name or path
  std::optional<report::TriggerLine> finding = std::nullopt;  ///< shown instead of the strongest trigger
};

/// Prints on `context.out`.
void show_report(Context& context, const core::Settings& settings, const record::Run& run,
                 const energy::Summary& summary, const ReportPlace& place);

}  // namespace gradwatt::app

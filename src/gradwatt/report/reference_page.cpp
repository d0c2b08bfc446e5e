#include "gradwatt/report/reference_page.hpp"

#include <fmt/format.h>

#include <array>

#include "gradwatt/record/fact.hpp"
#include "gradwatt/record/metric.hpp"

namespace gradwatt::report {
namespace {

constexpr std::array<std::string_view, 3> kTypes{"gauge", "counter", "state"};
constexpr std::array<std::string_view, 3> kAggregations{"sum", "mean", "max"};

std::string metric_row(const record::Metric& m) {
  return fmt::format("| `{}` | `{}` | {} | {} | {} |\n", m.key(), m.column(),
                     kTypes.at(static_cast<std::size_t>(m.type)),
                     kAggregations.at(static_cast<std::size_t>(m.over_devices)), m.description);
}

}  // namespace

std::string metrics_page() {
  std::string page =
      "# Metrics and facts\n\n"
      "Made from the tables in `src/gradwatt/record/`; change those, then run\n"
      "`GRADWATT_REGENERATE=1 build/dev/tests/report_test`.\n\n"
      "The *key* is the name in JSON, CSV and on screen, in the unit that it ends with. The *column* is the name in "
      "the\n"
      "run record's SQLite file, where values are integers of the unit that it ends with. *Over devices* says how the\n"
      "figures of several devices become one.\n";
  for (const auto kind : record::kDeviceKinds) {
    page += fmt::format("\n## {}\n\n| key | column | type | over devices | what it is |\n|---|---|---|---|---|\n",
                        name_of(kind));
    for (const auto& metric : record::metrics_of(kind)) page += metric_row(metric);
  }
  page +=
      "\n## Facts\n\nWhat a run knows that is no time series. Facts files use the same names.\n\n"
      "| name | unit | about | what it is |\n|---|---|---|---|\n";
  for (const auto& fact : record::fact_table())
    page += fmt::format("| `{}` | {} | {} | {} |\n", fact.name, fact.unit, fact.subject, fact.description);
  return page;
}

}  // namespace gradwatt::report

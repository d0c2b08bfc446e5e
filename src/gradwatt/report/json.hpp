// The report for scripts: one object, schema "gradwatt.report/1", with the keys that DESIGN fixes and everything else
// that the summary knows. A missing figure is null; no number is ever NaN or infinite.
#pragma once

#include <optional>
#include <string>

#include "gradwatt/energy/summary.hpp"
#include "gradwatt/report/text.hpp"

namespace gradwatt::report {

struct JsonOptions {
  energy::Factors factors;
  std::optional<TriggerLine> trigger;
  std::string record_place;
};

/// `run` needs meta, devices, quality, events and facts; its samples are not read. Ends with a line break.
[[nodiscard]] std::string to_json(const record::Run& run, const energy::Summary& summary,
                                  const JsonOptions& options = {});

}  // namespace gradwatt::report

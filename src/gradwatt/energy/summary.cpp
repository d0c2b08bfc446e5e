#include "gradwatt/energy/summary.hpp"

#include <algorithm>

#include "gradwatt/energy/consequences.hpp"
#include "gradwatt/energy/cross_check.hpp"
#include "gradwatt/energy/mark_energy.hpp"
#include "gradwatt/energy/power_profile.hpp"
#include "gradwatt/energy/prediction.hpp"
#include "gradwatt/energy/statistics.hpp"
#include "gradwatt/energy/steps.hpp"
#include "gradwatt/energy/totals.hpp"
#include "gradwatt/energy/warnings.hpp"

namespace gradwatt::energy {

Summary summarize(const record::Run& run, const Options& options) {
  Summary out;
  out.run_id = run.text(record::meta::kRunId).value_or("");
  out.complete = run.complete();
  out.exit_status = run.number_of(record::meta::kExitStatus);
  // A record without a sample or mark still answers: every figure is then absent, with its reason.
  const auto job = job_window(run).value_or(Window{});
  out.duration_s = job.seconds();

  const auto devices = measure_all(run, job);
  out.energy = total_of(run, devices, job);
  out.cross_checks = cross_check(run, devices, job);
  out.statistics = all_statistics(run, job);
  out.profiles = power_profiles(run, job);
  out.steps = steps_of(run, devices);
  out.marks = mark_energies(run, devices, job);
  out.gpu_kwh_per_gpu_hour = kwh_per_gpu_hour(out.energy.components.front(), out.duration_s);
  out.prediction = predict(run, devices, out.energy, job, options);
  out.consequences = consequences_of(out.energy.energy_j, options.factors);
  out.warnings = warnings_of(run, devices, out);
  return out;
}

record::LoadOptions columns_for_summary() {
  std::vector<record::MetricId> columns;
  for (const auto kind : record::kDeviceKinds)
    for (const auto id : energy_candidates(kind)) columns.push_back(id);
  for (const auto id : levels_of_interest()) columns.push_back(id);
  std::ranges::sort(columns);
  const auto repeated = std::ranges::unique(columns);
  columns.erase(repeated.begin(), repeated.end());
  record::LoadOptions out;
  out.metrics = std::move(columns);
  return out;
}

}  // namespace gradwatt::energy

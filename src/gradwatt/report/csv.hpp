// The report as tables. Missing is an empty cell; headers come from the metric table.
#pragma once

#include <ostream>
#include <string>

#include "gradwatt/energy/summary.hpp"

namespace gradwatt::report {

/// A row a component and one for the total, devices below their component:
/// run_id,level,component,host,index,uuid,energy_j,power_avg_w,share,how,where,coverage,low_j,high_j,estimated_j,why_not
[[nodiscard]] std::string summary_csv(const record::Run& run, const energy::Summary& summary);

enum class RawLayout {
  wide,  ///< a row a reading time and device, a column a metric: time_s,time_utc,host,kind,index,uuid,gpu_energy_j,…
  long_rows,  ///< a row a value: time_s,time_utc,host,kind,index,uuid,metric,value
};
/// Every sample of the loaded columns, device by device. `time_s` counts from the job's begin; `time_utc` is empty
/// where the record has no wall clock. A missing reading is an empty cell in both layouts.
void raw_csv(const record::Run& run, RawLayout layout, std::ostream& out);

}  // namespace gradwatt::report

// Who ran what, where and for how long: the first lines of every human-readable report, taken from the run's own words.
#pragma once

#include <string>
#include <vector>

#include "gradwatt/energy/summary.hpp"

namespace gradwatt::report {

/// The command, or what was followed instead, or the file of an import.
[[nodiscard]] std::string subject_of(const record::Run& run);
/// All hosts of the run, sorted, each once.
[[nodiscard]] std::vector<std::string> hosts_of(const record::Run& run);
/// False for imported facts alone: nothing says when the job ran or how long.
[[nodiscard]] bool has_times(const record::Run& run, const energy::Summary& summary);
/// "node07 · 8 × NVIDIA H100 · 3 h 07 min · exit status 0"
[[nodiscard]] std::string circumstances_of(const record::Run& run, const energy::Summary& summary);
/// "GPU 3", with the host in front where the run has several: "node07 GPU 3".
[[nodiscard]] std::string device_label(const record::Run& run, record::DeviceIndex device);

}  // namespace gradwatt::report

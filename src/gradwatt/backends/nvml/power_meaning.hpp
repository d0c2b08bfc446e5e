// What a power reading of a GPU generation really is. NVML gives numbers of the same name that mean an average over a
// second on one chip and a 25 ms sample on another.
//
// Source: arXiv 2312.02741 (over 70 GPUs) and NVML's header; see docs for the table.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gradwatt/backends/nvml/api.hpp"

namespace gradwatt::nvml {

enum class PowerKind { average, instant };

struct PowerMeaning {
  PowerKind classic = PowerKind::instant;  ///< what nvmlDeviceGetPowerUsage returns
  std::optional<double> classic_duty;      ///< share of time it sees
  std::optional<double> instant_duty;      ///< of field 186
  std::string_view note;                   ///< for the classic call
};

/// `driver_version` as NVML gives it ("530.30.02"): one driver branch behaved differently.
[[nodiscard]] PowerMeaning power_meaning(Architecture architecture, int compute_major, int compute_minor,
                                         std::string_view driver_version);

/// "ampere".
[[nodiscard]] std::string_view name_of(Architecture architecture);

}  // namespace gradwatt::nvml

// What NVML's return codes mean for a run: whether to try again, to give the series up, or to give the device up.
#pragma once

#include <string>
#include <string_view>

#include "gradwatt/backends/nvml/api.hpp"

namespace gradwatt::nvml {

enum class ReturnClass {
  ok,
  permanent,   ///< this device or driver will never answer: drop the series, name the reason
  permission,  ///< drop the series, tell the user how to get the right
  transient,   ///< a gap; try again at the next tick. Codes that we do not know count as transient
  lost,        ///< the device is gone for the run; the others go on
  global,      ///< no device of this library answers any more
};
[[nodiscard]] ReturnClass class_of(Return code);

/// "timeout (NVML code 10)".
[[nodiscard]] std::string describe(Return code);

/// What the user can do about it, one line; empty where nothing helps.
[[nodiscard]] std::string_view remedy_for(Return code);

}  // namespace gradwatt::nvml

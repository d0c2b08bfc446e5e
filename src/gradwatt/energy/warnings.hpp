// What a reader must know before trusting the figures: one sentence each, grouped over devices and counted, the most
// important first. A healthy run has none.
#pragma once

#include <string>
#include <vector>

#include "gradwatt/energy/device_energy.hpp"

namespace gradwatt::energy {

/// `partial` holds all parts of the summary but the warnings.
[[nodiscard]] std::vector<std::string> warnings_of(const record::Run& run, const std::vector<Measured>& devices,
                                                   const Summary& partial);

}  // namespace gradwatt::energy

// A device's counter against its own measured power over the same stretch. Two ways to the same joules that disagree
// mean that one of them is wrong, and nobody knows which: the report shows both.
#pragma once

#include <vector>

#include "gradwatt/energy/device_energy.hpp"

namespace gradwatt::energy {

/// One entry a device that has both a counter that moved and a power series. Judged only over at least 60 s that both
/// cover, and not where the only power is a reading that sees a small share of the time. A difference counts only
/// beyond the combined stated uncertainty: then it is a warning over 2 %, suspect over 5 %.
[[nodiscard]] std::vector<CrossCheck> cross_check(const record::Run& run, const std::vector<Measured>& devices,
                                                  Window job);

}  // namespace gradwatt::energy

// The part of the text report that splits the energy: a line a component with watts, energy, share and origin.
#pragma once

#include "gradwatt/energy/summary.hpp"
#include "gradwatt/report/screen.hpp"

namespace gradwatt::report {

void put_energy_table(Screen& screen, const record::Run& run, const energy::Totals& totals);

}  // namespace gradwatt::report

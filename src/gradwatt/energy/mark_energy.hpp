// Energy of epochs, regions and long steps.
//
// A mark is charged with the energy of the whole job in its window (whole_job.hpp), because a GPU's counter does not
// know which rank's region it served. Ranks mark the same epochs and regions at about the same time, so one rank
// speaks for all: the lowest that has marks of that kind and name. Samples are those of all ranks.
//
// Energy is absent where the window is too short for the edges to matter little: epochs and regions under 1 s and
// under 10 updates, steps under 10 updates.
#pragma once

#include <vector>

#include "gradwatt/energy/whole_job.hpp"

namespace gradwatt::energy {

/// In order of time. Steps appear only when long enough; epochs and regions always.
[[nodiscard]] std::vector<MarkEnergy> mark_energies(const record::Run& run, const std::vector<Measured>& devices,
                                                    Window job);

}  // namespace gradwatt::energy

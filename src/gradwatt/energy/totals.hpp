// The job's energy by component, each joule once.
//
// Not counted, with the reason in DeviceEnergy::why_not:
// - a MIG slice whose parent GPU is counted (attribute "parent": uuid of the parent); more generally a device that is
//   part of a counted one (attribute "part_of");
// - CPU and RAM of a host on which a GPU's figure covers its whole superchip module;
// - a modelled CPU or RAM figure on a host where the same kind is measured;
// - a device that stands in the record twice (same host and uuid).
//
// "rest" exists only beside a node meter: mean power of the node − that of its counted parts.
#pragma once

#include <vector>

#include "gradwatt/energy/device_energy.hpp"

namespace gradwatt::energy {

/// All devices that can carry energy (GPUs, CPUs, RAM, nodes), in the run's order, with in_total decided.
[[nodiscard]] std::vector<Measured> measure_all(const record::Run& run, Window job);

[[nodiscard]] Totals total_of(const record::Run& run, const std::vector<Measured>& devices, Window job);

}  // namespace gradwatt::energy

// A simulated training as a run record, with the same devices, steps and facts as a measured one: what report, diagnose
// and plan read. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gradwatt/record/run.hpp"
#include "gradwatt/simulation/simulate.hpp"

namespace gradwatt::simulation {

/// What the record says besides the simulation itself.
struct RecordText {
  std::string run_id, name, command, version;
  std::string source;  ///< run that the job was calibrated from; empty: none
  std::string model;
  std::optional<std::int64_t> local_batch;
  std::int64_t wall_ns = 0;  ///< when it was made
};

/// GPUs and CPU packages of each node with their energy, the node's own where the cluster file tells base or network
/// watts; a step mark a rank; facts. All figures are estimated and simulated. Large clusters get fewer readings, never
/// fewer steps.
[[nodiscard]] record::Run run_record_of(const Request& request, const Outcome& outcome, const RecordText& text);

}  // namespace gradwatt::simulation

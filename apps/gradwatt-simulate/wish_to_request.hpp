// From options, cluster file and run to what the simulator takes. Reads no files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/simulate_options.hpp"
#include "gradwatt/planning/cluster/cluster.hpp"
#include "gradwatt/record/run.hpp"
#include "gradwatt/simulation/simulate.hpp"

namespace gradwatt::app {

struct Prepared {
  simulation::Request request;
  std::string model;
  std::optional<std::int64_t> local_batch;
  std::optional<double> exposed_share_of_run;
  std::vector<std::string> notes;  ///< what was assumed
};

/// `from` is null without a run. Errors: wrong_use, unusable_input.
[[nodiscard]] core::Result<Prepared> prepare(const SimulateWish& wish, planning::Cluster cluster,
                                             const record::Run* from);

}  // namespace gradwatt::app

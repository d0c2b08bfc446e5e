// Options of `gradwatt simulate`, declared once: the core program checks them and completes them, gradwatt-simulate
// does what they say.
#pragma once

#include <optional>
#include <string>

#include "options.hpp"

namespace gradwatt::app {

struct SimulateWish {
  std::string cluster, from, strategy, out, name;
  int steps = 100;
  std::optional<int> period, wait, local_batch;
  std::optional<double> compute_s, data_wait_s, gradient_bytes, overlap, compress_gbyte_per_s;
  bool every_step = false, quiet = false, json = false;
};

/// Errors: wrong_use. `done`: help was printed, or the verb was only described.
[[nodiscard]] core::Result<Options::Parsed> parse_simulate(Context& context, Arguments arguments, SimulateWish& wish);

}  // namespace gradwatt::app

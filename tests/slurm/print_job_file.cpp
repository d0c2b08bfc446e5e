// Prints the batch script of a small job, for the test that submits it: GPUS CORES GRADWATT RUN_FOLDER COMMAND…
#include <fmt/format.h>

#include <cstdlib>

#include "gradwatt/planning/job_file/job_file.hpp"

int main(int count, char** words) {
  using namespace std::chrono_literals;
  if (count < 6) return 2;
  const int gpus = std::atoi(words[1]);
  const auto script = gradwatt::planning::slurm_script({.plan_id = "3f2a91",
                                                        .name = "small-job",
                                                        .total_gpus = gpus,
                                                        .node = {.gpus = gpus, .cores = std::atoi(words[2])},
                                                        .predicted_p95 = 90s,
                                                        .power = gradwatt::planning::GpuClock{"medium"},
                                                        .settings = {.local_batch = 32, .seed = 7},
                                                        .environment = {{"GW_TEXT", "two words"}},
                                                        .notes = {"Predicted: 1 min 00 s (p95 1 min 30 s)."},
                                                        .gradwatt = words[3],
                                                        .run_options = {"--out", words[4]},
                                                        .command = {words + 5, words + count}});
  if (!script) {
    fmt::print(stderr, "{}\n", script.error().message);
    return 3;
  }
  fmt::print("{}", *script);
  return 0;
}

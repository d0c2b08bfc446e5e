// What a plan is asked: the settings to try, what must be kept, and what things cost.
//
// A grid: every number of GPUs with every batch, accumulation, size of data, power cap, hardware and way to exchange
// gradients. What is known of the job stands in the hardware options, one job model each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/planning/collectives/cost.hpp"
#include "gradwatt/planning/job_model.hpp"

namespace gradwatt::planning {

/// Which batch stays when GPUs are added: that of a replica, or that of the whole job.
enum class BatchRule : std::uint8_t { local, global };
struct BatchChoice {
  BatchRule rule = BatchRule::local;
  double samples = 1;
};

/// Samples of one epoch: fixed, or growing with the GPUs.
struct DataChoice {
  bool per_gpu = false;
  double samples = 0;
};

/// How the origin of a GPU begins on which nothing was measured.
inline constexpr std::string_view kCarriedOver = "carried over";

struct HardwareOption {
  std::string name;  ///< for people; empty where the profile does not say
  JobModel job;
  std::optional<double> most_local_batch;  ///< that fits its memory; nothing: not known
  std::string memory_origin;               ///< of that number
  std::string origin;                      ///< of time and power: "measured", "carried over from A100 …"
};

struct StrategyOption {
  std::string name;
  /// Exchange time over that of the profiled way, on these nodes and GPUs a node; empty: the profiled way itself.
  std::function<double(const Shape&)> cost_ratio;
  std::string caution;  ///< what it does to what is learnt; empty: nothing
};

struct Axes {
  std::vector<double> gpus;
  std::vector<BatchChoice> batches;
  std::vector<double> accumulation{1};
  std::vector<DataChoice> data;  ///< empty: the job's own
  std::vector<double> caps_w;    ///< empty: none is set
  std::vector<HardwareOption> hardware;
  std::vector<StrategyOption> strategies;  ///< empty: the profiled one
  double gpus_per_node = 1;
  double gpus_per_replica = 1;
};

/// Deadline and budgets are kept by the middle figure.
struct Limits {
  bool surely = false;  ///< by the unfavourable end of the 90 % interval instead: missed once in twenty times
  std::optional<double> deadline_s;
  std::optional<double> energy_j;  ///< at the building's meter where a PUE is given
  std::optional<double> cost;
  std::optional<double> least_batch, most_batch;  ///< global
  std::optional<double> most_local_batch;
  std::optional<double> most_risk;  ///< see Candidate::risk
  std::optional<double> most_nodes;
  bool whole_nodes = false;  ///< every GPU of a node, or GPUs of one node only
};

/// Global batches at which the target quality was reached; between them a batch bears no risk.
struct GoodBatches {
  double least = 0, most = 0;
  std::string origin;
};

/// The user's own factors; nothing is priced without them.
struct Prices {
  std::optional<double> per_kwh, per_gpu_hour, co2_g_per_kwh;
  double pue = 1;
  std::string currency;

  [[nodiscard]] bool any() const { return per_kwh || per_gpu_hour; }
};

struct Question {
  Axes axes;
  Limits limits;
  std::optional<GoodBatches> good_batches;
  Prices prices;
};

}  // namespace gradwatt::planning

// How the job was set up: NCCL's environment, clocks, unused GPUs, versions known to be slow.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/diagnosis/causes/cause.hpp"
#include "gradwatt/diagnosis/symptoms.hpp"

namespace gradwatt::diagnosis {
namespace {

struct HarmfulSetting {
  std::string_view variable;
  std::string_view harmless;  ///< value that changes nothing; empty: any value is worth a look
  double weight;
  std::string_view why;
};
constexpr auto kHarmful = std::to_array<HarmfulSetting>({
    {"NCCL_IB_DISABLE", "0", weight::kStrong, "forbids InfiniBand and RoCE"},
    {"NCCL_P2P_DISABLE", "0", weight::kStrong, "sends GPU traffic through host memory"},
    {"NCCL_SHM_DISABLE", "0", weight::kStrong, "sends traffic inside a host through the network"},
    {"NCCL_ALGO", "", weight::kFair, "forces an algorithm; collectives without it fail or crawl"},
    {"NCCL_PROTO", "", weight::kFair, "forces a protocol"},
    {"NCCL_MAX_NCHANNELS", "", weight::kFair, "limits the channels"},
    {"NCCL_MAX_CTAS", "", weight::kWeak, "limits the blocks"},
    {"NCCL_NTHREADS", "", weight::kWeak, "sets the threads a block"},
    {"NCCL_BUFFSIZE", "4194304", weight::kWeak, "changes the buffer size"},
    {"NCCL_NET_GDR_LEVEL", "", weight::kWeak, "limits GPUDirect RDMA"},
    {"NCCL_NET_GDR_READ", "1", weight::kWeak, "limits GPUDirect RDMA"},
});

bool is_set(const std::optional<std::string>& value) { return value && !value->empty() && *value != "unset"; }

void judge_nccl_environment(const FactSheet& facts, Opinion& opinion) {
  bool known = false;
  double strongest = 0;
  for (const auto& row : kHarmful) {
    const auto value = facts.variable(row.variable);
    known = known || value.has_value();
    if (!is_set(value) || (!row.harmless.empty() && *value == row.harmless)) continue;
    // Settings come together: the strongest counts whole, the others say the same again.
    opinion.supports(row.weight > strongest ? row.weight + weight::kFair - strongest : 0.2,
                     fmt::format("{}={} {}", row.variable, *value, row.why), {"env.value"});
    strongest = std::max(strongest, row.weight + weight::kFair);
  }
  const bool all_told = facts.number("env.nccl_count").has_value();
  if (!opinion.has_support() && all_told)
    return void(opinion.rules_out("no NCCL setting is in force", {"env.nccl_count"}));
  if (!opinion.has_support() && !known) opinion.wants("env.value", weight::kDecisive);
  if (!opinion.has_support()) {
    if (!several_ranks(facts).value_or(true)) return void(opinion.rules_out("there is one rank", {"job.world_size"}));
    if (const auto level = busy_at_low_power(facts); level && !facts.has("step.data_wait_share"))
      opinion.supports(weight::kWeak, level->text, level->facts);
    return;
  }
  if (const auto exposed = exposed_communication(facts); exposed && exposed->value < 0.05)
    opinion.speaks_against(weight::kDecisive, "communication holds nothing up: " + exposed->text, exposed->facts);
}

void judge_locked_clocks(const FactSheet& facts, Opinion& opinion) {
  const auto held = facts.highest("gpu.held_setting_share");
  if (held && *held > 0.3)
    opinion.supports(weight::kStrong,
                     fmt::format("locked or application clocks held a GPU {:.0f} % of the time", 100 * *held),
                     {"gpu.held_setting_share"});
  const auto clock = facts.number("gpu.sm_clock_mhz"), most = facts.number("gpu.sm_clock_max_mhz");
  if (clock && most && *most > 0) {
    if (*clock > 0.93 * *most)
      return void(
          opinion.rules_out(fmt::format("GPUs clock {:.0f} of {:.0f} MHz", *clock, *most), {"gpu.sm_clock_mhz"}));
    double reasons = 0;
    for (const std::string_view name :
         {"gpu.held_power_cap_share", "gpu.held_thermal_share", "gpu.held_power_brake_share"})
      reasons = std::max(reasons, facts.highest(name).value_or(0));
    if (reasons > 0.05)
      opinion.speaks_against(weight::kStrong, "power or heat hold the clocks", {"gpu.held_power_cap_share"});
    else if (*clock < 0.85 * *most && facts.has("gpu.held_power_cap_share"))
      opinion.supports(
          weight::kFair,
          fmt::format("GPUs clock {:.0f} of {:.0f} MHz, and neither power nor heat hold them", *clock, *most),
          {"gpu.sm_clock_mhz", "gpu.sm_clock_max_mhz"});
  } else if (!held) {
    opinion.wants("gpu.held_setting_share", weight::kStrong);
  }
}

void judge_idle_gpus(const FactSheet& facts, Opinion& opinion) {
  const auto gpus = facts.number("gpu.count"), ranks = facts.number("job.world_size");
  int idle = 0, working = 0, all = 0;
  for (const auto* fact : facts.all("gpu.utilization_pct"))
    if (const auto busy = record::as_number(*fact); busy && fact->subject != "job")
      ++all, idle += *busy < 1, working += *busy >= 50;
  if (idle > 0 && working > 0)
    opinion.supports(weight::kDecisive, fmt::format("{} of {} GPUs run no kernel at all", idle, all),
                     {"gpu.utilization_pct"});
  if (gpus && ranks && *ranks<*gpus&& * ranks> 1)
    opinion.supports(weight::kStrong, fmt::format("{:.0f} ranks for {:.0f} GPUs", *ranks, *gpus),
                     {"job.world_size", "gpu.count"});
  if (!opinion.has_support()) {
    if (all > 0)
      opinion.rules_out("all GPUs run kernels", {"gpu.utilization_pct"});
    else
      opinion.wants("gpu.utilization_pct", weight::kFair);
  }
}

/// More ranks make it slower, and nothing else is known: something is wrong with how they are put together.
void judge_cluster(const FactSheet& facts, Opinion& opinion) {
  for (const std::string_view what : {"gpus", "nodes"})
    if (const auto gained = scaling(facts, what)) {
      if (gained->value > 0.7) return void(opinion.rules_out(gained->text, gained->facts));
      // Below 1/size the whole is slower than its smallest part.
      const auto sizes = sized(facts, "scaling.samples_per_s", what);
      if (sizes.size() >= 2 && sizes.back().value < sizes.front().value)
        opinion.supports(weight::kFair, "more ranks make the whole slower: " + gained->text, gained->facts);
    }
  if (const auto busy = facts.sum("gpu.utilization_pct");
      busy && facts.all("gpu.utilization_pct").size() > 1 && *busy < 120)
    opinion.supports(weight::kFair, fmt::format("utilisation of all GPUs adds up to {:.0f} %: they take turns", *busy),
                     {"gpu.utilization_pct"});
  else if (const auto together = facts.number("gpu.utilization_sum_pct"); together && *together < 120)
    opinion.supports(weight::kWeak, fmt::format("utilisation of all GPUs adds up to {:.0f} %", *together),
                     {"gpu.utilization_sum_pct"});
  if (facts.text_holds("gpu.observation", "take turns").value_or(false))
    opinion.supports(weight::kFair, "GPUs take turns", {"gpu.observation"});
  if (!opinion.has_support()) opinion.wants("scaling.samples_per_s", weight::kFair);
}

struct SlowVersion {
  std::string_view version, where;
};
/// NCCL 2.19's chunk size for the NVLSTree algorithm halves large all-reduces over several H100 hosts (field report).
constexpr auto kSlowNccl =
    std::to_array<SlowVersion>({{"2.19.1", "NVLSTree"}, {"2.19.3", "NVLSTree"}, {"2.19.4", "NVLSTree"}});

void judge_nccl_version(const FactSheet& facts, Opinion& opinion) {
  std::optional<std::string> version = facts.text("comm.nccl_version");
  if (const auto number = facts.number("comm.nccl_version"); !version && number) version = fmt::format("{:g}", *number);
  if (!version) return void(opinion.wants("comm.nccl_version", weight::kStrong));
  const auto row =
      std::ranges::find_if(kSlowNccl, [&](const auto& slow) { return version->starts_with(slow.version); });
  if (row == kSlowNccl.end())
    return void(opinion.speaks_against(weight::kStrong, "NCCL " + *version + " is not known to be slow",
                                       {"comm.nccl_version"}));
  opinion.supports(weight::kFair, fmt::format("NCCL {} is known to be slow with {}", *version, row->where),
                   {"comm.nccl_version"});
  if (several_hosts(facts).value_or(false)) opinion.supports(weight::kFair, "over several hosts", {"job.nodes"});
  if (facts.text_holds("gpu.name", "h100").value_or(false)) opinion.supports(weight::kWeak, "with H100", {"gpu.name"});
  const auto got = facts.highest("comm.bus_bandwidth_bytes_per_s"),
             expected = facts.number("comm.expected_bytes_per_s");
  if (got && expected && *got < 0.75 * *expected)
    opinion.supports(weight::kFair, fmt::format("an all-reduce reaches {:.3g} GB/s", *got * 1e-9),
                     {"comm.bus_bandwidth_bytes_per_s"});
}

constexpr auto kCauses = std::to_array<CauseInfo>({
    {"config:nccl-environment", "N10", "NCCL settings that were inherited hold communication up", prior::kUsual,
     "step.comm_exposed_share", judge_nccl_environment,
     "unset NCCL_* but for those that describe the network (NCCL_SOCKET_IFNAME, NCCL_IB_HCA), and measure both", "user",
     "", "set them again", nullptr, exposed_share},
    {"config:clocks-locked", "H5", "GPU clocks are locked below what the card can do", prior::kRare, "gpu.sm_clock_mhz",
     judge_locked_clocks, "nvidia-smi -rgc (locked clocks), nvidia-smi -rac (application clocks)", "root",
     "the operator did not lock them to save energy: ask first", "nvidia-smi -lgc with the former clocks", nullptr,
     nullptr},
    {"config:idle-gpus", "N14", "GPUs that were given to the job do nothing", prior::kUsual, "gpu.utilization_pct",
     judge_idle_gpus,
     "one rank a GPU: torchrun --nproc-per-node=GPUS, each rank on device LOCAL_RANK; check CUDA_VISIBLE_DEVICES; or "
     "ask for fewer GPUs",
     "user", "", "the former launch line", nullptr, nullptr},
    {"config:cluster-set-up", "", "ranks are put together in a way that makes them slower than one", prior::kUsual,
     "scaling.efficiency", judge_cluster,
     "check one rank a GPU, hosts and addresses, and that ranks do not share a GPU; then measure 1, 2 and all", "user",
     "", "the former set-up", nullptr, nullptr},
    {"software:nccl-regression", "", "this version of NCCL is slow in this setting", prior::kRare,
     "comm.bus_bandwidth_bytes_per_s", judge_nccl_version, "update NCCL, and compare nccl-tests before and after",
     "user", "", "the former version", nullptr, exposed_share},
});

}  // namespace

std::span<const CauseInfo> setup_causes() { return kCauses; }

}  // namespace gradwatt::diagnosis

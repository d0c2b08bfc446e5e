// Verdicts that nothing is wrong. "Nothing to fix" is a finding with evidence like any other; it is what a job that
// draws little because its kernels wait for memory, or a training on CPUs that keeps them busy, must get.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/diagnosis/causes/cause.hpp"
#include "gradwatt/diagnosis/symptoms.hpp"

namespace gradwatt::diagnosis {
namespace {

/// Of the rated power: what well-run large jobs reach (76 to 82 % of node power).
constexpr double kFullPower = 0.6;

/// Anything that waits a lot contradicts "healthy".
bool judge_waits(const FactSheet& facts, Opinion& opinion) {
  struct Wait {
    std::optional<Symptom> seen;
    double much;
    std::string_view wanted;
  };
  const bool one_rank = several_ranks(facts) == std::optional(false);
  const std::array waits{
      Wait{input_wait(facts), 0.1, "step.data_wait_share"},
      Wait{one_rank ? std::nullopt : exposed_communication(facts), 0.2, one_rank ? "" : "step.comm_exposed_share"}};
  for (const auto& [seen, much, wanted] : waits) {
    if (!seen) {
      if (!wanted.empty()) opinion.wants(wanted, weight::kFair);
    } else if (seen->value > much) {
      opinion.rules_out(seen->text, seen->facts);
      return false;
    } else if (seen->value < kWorthMentioning) {
      opinion.supports(weight::kFair, seen->text, seen->facts);
    }
  }
  for (const std::string_view name :
       {"step.stall_share", "epoch.gap_share", "step.checkpoint_share", "rank.skew_share", "job.cpu_wait_share"})
    if (const auto share = facts.number(name); share && *share > 0.1) {
      opinion.rules_out(fmt::format("{} is {:.0f} %", name, 100 * *share), {std::string(name)});
      return false;
    } else if (share && *share < 0.05 && name == "rank.skew_share") {
      opinion.supports(weight::kWeak, "ranks take like time", {"rank.skew_share"});
    }
  if (const auto stuck = hang(facts)) {
    opinion.rules_out(stuck->text, stuck->facts);
    return false;
  }
  return true;
}

/// Power alone tells that the GPUs work, steps tell that nobody waits: two verdicts.
bool knows_waits(const FactSheet& facts) { return input_wait(facts) || exposed_communication(facts); }

void judge_full_power(const FactSheet& facts, Opinion& opinion) {
  if (!judge_waits(facts, opinion)) return;
  if (!knows_waits(facts)) opinion.speaks_against(weight::kWeak, "nothing is known of waits", {});
  const auto power = power_level(facts);
  const auto busy = facts.number("gpu.utilization_pct");
  if (power && power->value >= kFullPower)
    opinion.supports(weight::kStrong, power->text, power->facts);
  else if (power)
    opinion.speaks_against(weight::kStrong, power->text, power->facts);
  else if (facts.has("gpu.name") || facts.has("gpu.utilization_pct"))
    opinion.wants("gpu.power_avg_w", weight::kStrong);
  if (busy && *busy >= 95)
    opinion.supports(weight::kWeak, fmt::format("{:.0f} % utilisation", *busy), {"gpu.utilization_pct"});
  else if (busy && *busy < 80)
    opinion.speaks_against(weight::kStrong, fmt::format("{:.0f} % utilisation", *busy), {"gpu.utilization_pct"});
  // A training on CPUs: busy cores are what a drawn limit is on a GPU.
  const bool on_cpu = !facts.has("gpu.name") && !facts.has("gpu.utilization_pct") && !facts.has("gpu.power_avg_w");
  if (on_cpu && facts.has("step.time_s"))
    if (const auto cores = idle_cores(facts))
      cores->value < 0.3 ? opinion.supports(weight::kFair, cores->text, cores->facts)
                         : opinion.speaks_against(weight::kWeak, cores->text, cores->facts);
  if (const auto hot = facts.highest("gpu.held_thermal_share"); hot && *hot > 0.1)
    opinion.rules_out("heat holds the clocks", {"gpu.held_thermal_share"});
}

void judge_power_alone(const FactSheet& facts, Opinion& opinion) {
  if (knows_waits(facts)) return void(opinion.rules_out("the steps are known: they decide", {"step.data_wait_share"}));
  if (!judge_waits(facts, opinion)) return;
  const auto power = power_level(facts);
  if (!power) return void(opinion.wants("gpu.power_avg_w", weight::kStrong));
  power->value >= kFullPower ? opinion.supports(weight::kStrong, power->text, power->facts)
                             : opinion.rules_out(power->text, power->facts);
  if (const auto busy = facts.number("gpu.utilization_pct"); busy && *busy < 80)
    opinion.speaks_against(weight::kStrong, fmt::format("{:.0f} % utilisation", *busy), {"gpu.utilization_pct"});
  if (const auto hot = facts.highest("gpu.held_thermal_share"); hot && *hot > 0.1)
    opinion.rules_out("heat holds the clocks", {"gpu.held_thermal_share"});
}

void judge_low_power(const FactSheet& facts, Opinion& opinion) {
  if (!judge_waits(facts, opinion)) return;
  const auto power = power_level(facts);
  if (power && power->value >= 0.8) opinion.speaks_against(weight::kDecisive, power->text, power->facts);
  const auto sm = facts.number("gpu.sm_active_pct"), dram = facts.number("gpu.dram_active_pct"),
             tensor = facts.number("gpu.tensor_active_pct"), fp32 = facts.number("gpu.fp32_active_pct");
  if (dram && *dram >= 60)
    opinion.supports(weight::kDecisive, fmt::format("device memory gives {:.0f} % of its bandwidth", *dram),
                     {"gpu.dram_active_pct"});
  else if (sm && tensor && *sm >= 80 && *tensor >= 40)
    opinion.supports(
        weight::kDecisive,
        fmt::format("{:.0f} % of the SM cycles and {:.0f} % of the tensor cycles are in use", *sm, *tensor),
        {"gpu.sm_active_pct", "gpu.tensor_active_pct"});
  else if (sm && *sm < 50)
    return void(opinion.rules_out(fmt::format("{:.0f} % of the SM cycles are in use", *sm), {"gpu.sm_active_pct"}));
  else
    opinion.wants("gpu.sm_active_pct", weight::kStrong).wants("gpu.dram_active_pct", weight::kStrong);
  if (fp32 && tensor && *fp32 > 30 && *tensor < 2)
    opinion.speaks_against(weight::kStrong, "the FP32 pipe works and the tensor cores rest", {"gpu.fp32_active_pct"});
}

void judge_workers_do_not_help(const FactSheet& facts, Opinion& opinion) {
  const auto tried = sized(facts, "scaling.samples_per_s", "workers");
  const auto steps = sized(facts, "scaling.steps_per_s", "workers");
  const auto& points = tried.size() >= 2 ? tried : steps;
  if (points.size() < 2 || points.front().value <= 0)
    return void(opinion.wants("scaling.samples_per_s", weight::kFair));
  const double gained = std::ranges::max(points, {}, &SizedFact::value).value / points.front().value;
  if (gained > 1.05)
    return void(
        opinion.rules_out(fmt::format("more workers make it {:.2f} times as fast", gained), {"scaling.samples_per_s"}));
  opinion.supports(
      weight::kDecisive + weight::kFair,
      fmt::format("with {:.0f} instead of {:.0f} workers it is no faster", points.back().size, points.front().size),
      {"scaling.samples_per_s"});
}

constexpr std::string_view kNothing = "nothing to fix";

constexpr auto kCauses = std::to_array<CauseInfo>({
    {"control:healthy", "", "the job uses what it has", prior::kCommon, "", judge_full_power, kNothing, "user", "", "",
     nullptr, nullptr},
    {"control:healthy-power", "", "the GPUs draw what work draws", prior::kCommon, "", judge_power_alone, kNothing,
     "user", "", "", nullptr, nullptr},
    {"control:healthy-low-power", "K7", "low power is natural for this work", prior::kCommon, "", judge_low_power,
     kNothing, "user", "", "", nullptr, nullptr},
    {"control:workers-do-not-help", "", "the loader keeps up; more workers only cost", prior::kCommon, "",
     judge_workers_do_not_help, "keep the number of workers", "user", "", "", nullptr, nullptr},
});

}  // namespace

std::span<const CauseInfo> healthy_causes() { return kCauses; }

}  // namespace gradwatt::diagnosis

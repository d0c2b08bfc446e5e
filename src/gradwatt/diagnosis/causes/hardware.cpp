// Cards and cables that are broken, differ, or vary.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "gradwatt/diagnosis/causes/cause.hpp"
#include "gradwatt/diagnosis/symptoms.hpp"

namespace gradwatt::diagnosis {
namespace {

constexpr std::array kMemoryXids{48.0, 63.0, 64.0, 92.0, 94.0, 95.0};
constexpr std::array kLostXids{79.0, 119.0, 120.0};

template <std::size_t n>
void judge_xids(const FactSheet& facts, Opinion& opinion, const std::array<double, n>& wanted) {
  for (const auto* fact : facts.all("gpu.xid"))
    if (const auto xid = record::as_number(*fact); xid && std::ranges::find(wanted, *xid) != wanted.end())
      return void(
          opinion.supports(weight::kDecisive, fmt::format("Xid {:.0f} on {}", *xid, fact->subject), {"gpu.xid"}));
}

void judge_memory_errors(const FactSheet& facts, Opinion& opinion) {
  judge_xids(facts, opinion, kMemoryXids);
  if (const auto errors = facts.highest("gpu.ecc_uncorrected"); errors && *errors > 0)
    opinion.supports(weight::kDecisive, fmt::format("{:.0f} memory errors were not corrected", *errors),
                     {"gpu.ecc_uncorrected"});
  if (const auto pending = facts.highest("gpu.row_remap_pending"); pending && *pending > 0)
    opinion.supports(weight::kStrong, "memory rows wait for a reset to be replaced", {"gpu.row_remap_pending"});
  if (!opinion.has_support())
    facts.has("gpu.ecc_uncorrected") ? opinion.rules_out("no memory error", {"gpu.ecc_uncorrected"})
                                     : opinion.wants("gpu.ecc_uncorrected", weight::kStrong);
}

void judge_lost(const FactSheet& facts, Opinion& opinion) {
  judge_xids(facts, opinion, kLostXids);
  if (const auto lost = facts.highest("gpu.lost"))
    *lost > 0 ? opinion.supports(weight::kStrong + weight::kWeak, "the driver lost a card", {"gpu.lost"})
              : opinion.rules_out("no card was lost", {"gpu.lost"});
  if (facts.text_holds("gpu.lost_when", "load").value_or(false))
    opinion.speaks_against(weight::kFair, "it goes under load only: look at the power first", {"gpu.lost_when"});
  if (!opinion.has_support()) opinion.wants("gpu.xid", weight::kStrong);
}

void judge_cable(const FactSheet& facts, Opinion& opinion) {
  const auto checked = facts.text("gpu.power_cable");
  if (checked && *checked != "ok")
    return void(
        opinion.supports(weight::kDecisive + weight::kFair, "a power cable is " + *checked, {"gpu.power_cable"}));
  if (checked) return void(opinion.rules_out("the power cables were checked", {"gpu.power_cable"}));
  if (const auto lost = facts.highest("gpu.lost"); lost && *lost > 0)
    opinion.supports(weight::kFair, "a card was lost", {"gpu.lost"});
  if (const auto held = facts.highest("gpu.held_hw_slowdown_share"); held && *held > 0.1)
    opinion.supports(weight::kStrong, fmt::format("hardware slowdown holds one card {:.0f} % of the time", 100 * *held),
                     {"gpu.held_hw_slowdown_share"});
  if (hang(facts)) opinion.supports(weight::kWeak, "the job is stuck", {"comm.hangs"});
  opinion.wants("gpu.power_cable", weight::kStrong).wants("gpu.held_hw_slowdown_share", weight::kStrong);
}

void judge_mixed(const FactSheet& facts, Opinion& opinion) {
  const auto differ = [&](std::string_view name, std::string_view what) {
    std::set<std::string> seen;
    for (const auto* fact : facts.all(name)) {
      if (fact->subject == "job") continue;
      if (const auto text = record::as_text(*fact)) seen.insert(*text);
      if (const auto number = record::as_number(*fact)) seen.insert(fmt::format("{:g}", *number));
    }
    if (seen.size() > 1)
      opinion.supports(weight::kStrong, fmt::format("ranks have unlike {}: {}", what, fmt::join(seen, ", ")),
                       {std::string(name)});
    return !seen.empty();
  };
  const bool cards = differ("gpu.name", "GPUs");
  differ("gpu.power_limit_w", "power limits");
  differ("gpu.driver_version", "drivers");
  differ("comm.nccl_version", "NCCL versions");
  if (!cards)
    opinion.wants("gpu.name", weight::kStrong);
  else if (!opinion.has_support())
    opinion.rules_out("all GPUs are of one kind", {"gpu.name"});
  if (const auto skew = facts.number("rank.skew_share"); skew && *skew > 0.1 && opinion.has_support())
    opinion.supports(weight::kFair, fmt::format("ranks differ by {:.0f} %", 100 * *skew), {"rank.skew_share"});
}

void judge_spread(const FactSheet& facts, Opinion& opinion) {
  if (trains_on_cpus(facts)) return void(opinion.rules_out("the job trains on CPUs", {"job.device"}));
  const auto skew = facts.number("rank.skew_share");
  if (!skew) return void(opinion.wants("rank.skew_share", weight::kFair));
  if (*skew > 0.1 || *skew < 0.03)
    return void(opinion.rules_out(fmt::format("ranks differ by {:.0f} %", 100 * *skew), {"rank.skew_share"}));
  opinion.supports(weight::kFair, fmt::format("ranks differ by {:.0f} %, as equal GPUs do", 100 * *skew),
                   {"rank.skew_share"});
  if (const auto stays = facts.number("rank.culprit_stays"); stays && *stays > 0.7)
    opinion.supports(weight::kFair, "it is always the same rank that is late", {"rank.culprit_stays"});
}

constexpr auto kCauses = std::to_array<CauseInfo>({
    {"hardware:memory-errors", "H7", "GPU memory has errors", prior::kRare, "gpu.ecc_uncorrected", judge_memory_errors,
     "drain the node, reset the GPU, return it when they come back", "operator", "no job on the node", "", nullptr,
     nullptr},
    {"hardware:gpu-lost", "H8", "the driver lost a GPU", prior::kUsual, "gpu.lost", judge_lost,
     "reset or restart the host; reseat the card; return it when it happens again", "operator", "no job on the node",
     "", nullptr, nullptr},
    {"hardware:power-cable", "", "a power cable of a card is bad or missing", prior::kRare, "gpu.lost", judge_cable,
     "check and replace the power cables of the card; one cable a connector", "operator", "the host is switched off",
     "the former cable", nullptr, nullptr},
    {"hardware:mixed", "H9", "unlike hardware or software works on one job", prior::kUsual, "rank.skew_share",
     judge_mixed, "use equal GPUs, limits and versions for one job, or give slower ranks less work", "user", "",
     "the former placement", nullptr, nullptr},
    {"hardware:silicon-spread", "H6", "equal GPUs differ a little", prior::kUsual, "rank.skew_share", judge_spread,
     "accept it, or swap the slowest card", "operator", "", "", nullptr, nullptr},
});

}  // namespace

std::span<const CauseInfo> hardware_causes() { return kCauses; }

}  // namespace gradwatt::diagnosis

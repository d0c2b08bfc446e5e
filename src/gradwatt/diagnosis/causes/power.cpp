// Power and heat that hold the clocks.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/diagnosis/causes/cause.hpp"
#include "gradwatt/diagnosis/symptoms.hpp"

namespace gradwatt::diagnosis {
namespace {

/// A power cap that holds near the limit is what a busy GPU looks like; far below it, something else holds.
constexpr double kNearLimit = 0.95, kFarBelowLimit = 0.85;

std::optional<double> share_of_limit(const FactSheet& facts, std::string_view subject) {
  const auto power = facts.number("gpu.power_avg_w", subject), limit = facts.number("gpu.power_limit_w", subject);
  return power && limit && *limit > 0 ? std::optional(*power / *limit) : std::nullopt;
}

std::vector<std::string> subjects_of(const FactSheet& facts, std::string_view name) {
  std::vector<std::string> out;
  for (const auto* fact : facts.all(name)) out.push_back(fact->subject);
  return out;
}

void judge_lowered_limit(const FactSheet& facts, Opinion& opinion) {
  bool seen = false;
  for (const auto& subject : subjects_of(facts, "gpu.power_limit_w")) {
    const auto limit = facts.number("gpu.power_limit_w", subject),
               usual = facts.number("gpu.power_limit_default_w", subject);
    if (!limit || !usual) continue;
    seen = true;
    if (*limit >= 0.97 * *usual) continue;
    if (const auto asked = facts.number("gpu.power_limit_requested_w", subject); asked && *limit < 0.97 * *asked)
      opinion.speaks_against(weight::kStrong, "what was asked for is more than what is in force",
                             {"gpu.power_limit_requested_w"});
    const auto share = share_of_limit(facts, subject);
    const auto held = facts.number("gpu.held_power_cap_share", subject);
    opinion.supports(weight::kFair,
                     fmt::format("the limit of {} is {:.0f} W, its default {:.0f} W", subject, *limit, *usual),
                     {"gpu.power_limit_w", "gpu.power_limit_default_w"});
    if (held && *held > 0.1 && (!share || *share > kFarBelowLimit))
      opinion.supports(weight::kStrong, fmt::format("the power cap held its clocks {:.0f} % of the time", 100 * *held),
                       {"gpu.held_power_cap_share"});
    else if ((held && *held <= 0.02) || (share && *share < 0.8))
      opinion.speaks_against(weight::kStrong, "it draws less than the lowered limit allows", {"gpu.power_avg_w"});
    break;  // one card shows it; all of them would add up as if they were independent
  }
  if (!seen)
    opinion.wants("gpu.power_limit_default_w", weight::kStrong);
  else if (!opinion.has_support())
    opinion.rules_out("all power limits stand at their default", {"gpu.power_limit_w"});
}

/// What is in force is less than what was asked for: the machine's management decides, not nvidia-smi.
void judge_management_cap(const FactSheet& facts, Opinion& opinion) {
  std::size_t seen = 0, held = 0;
  std::string example;
  for (const auto& subject : subjects_of(facts, "gpu.power_limit_requested_w")) {
    const auto asked = facts.number("gpu.power_limit_requested_w", subject),
               limit = facts.number("gpu.power_limit_w", subject);
    if (!asked || !limit) continue;
    ++seen;
    if (*limit >= 0.97 * *asked) continue;
    ++held;
    if (example.empty())
      example = fmt::format("{:.0f} W are in force on {}, {:.0f} W were asked for", *limit, subject, *asked);
  }
  if (seen == 0) return void(opinion.wants("gpu.power_limit_requested_w", weight::kStrong));
  if (held == 0)
    return void(opinion.rules_out("the limits in force are those that were asked for",
                                  {"gpu.power_limit_w", "gpu.power_limit_requested_w"}));
  opinion.supports(weight::kDecisive, example, {"gpu.power_limit_w", "gpu.power_limit_requested_w"});
  if (held == seen && held > 1)
    opinion.supports(weight::kFair, fmt::format("so it is on all {} cards", held), {"gpu.power_limit_w"});
}

void judge_capped_below(const FactSheet& facts, Opinion& opinion) {
  for (const auto& subject : subjects_of(facts, "gpu.held_power_cap_share")) {
    const auto held = facts.number("gpu.held_power_cap_share", subject);
    const auto share = share_of_limit(facts, subject);
    if (!held || !share || *held < 0.2 || *share >= kFarBelowLimit || at_rest(facts, subject)) continue;
    const auto brake = facts.number("gpu.held_power_brake_share", subject);
    if (brake && *brake > 0.02) continue;
    return void(opinion.supports(weight::kDecisive,
                                 fmt::format("the power cap holds {} at {:.0f} % of its limit", subject, 100 * *share),
                                 {"gpu.held_power_cap_share", "gpu.power_avg_w", "gpu.power_limit_w"}));
  }
  facts.has("gpu.held_power_cap_share")
      ? opinion.rules_out("no cap holds a GPU far below its limit", {"gpu.held_power_cap_share"})
      : opinion.wants("gpu.held_power_cap_share", weight::kStrong);
}

void judge_brake(const FactSheet& facts, Opinion& opinion) {
  const auto held = facts.highest("gpu.held_power_brake_share");
  if (!held) return void(opinion.wants("gpu.held_power_brake_share", weight::kStrong));
  if (*held < 0.01) return void(opinion.rules_out("no power brake held the clocks", {"gpu.held_power_brake_share"}));
  opinion.supports(*held > 0.05 ? weight::kDecisive + weight::kFair : weight::kStrong,
                   fmt::format("the external power brake held the clocks {:.0f} % of the time", 100 * *held),
                   {"gpu.held_power_brake_share"});
}

void judge_supply(const FactSheet& facts, Opinion& opinion) {
  const auto lost = facts.highest("gpu.lost");
  if (lost && *lost > 0)
    opinion.supports(weight::kStrong, "a card switches off or falls off the bus", {"gpu.lost"});
  else if (!lost)
    opinion.wants("gpu.lost", weight::kFair);
  if (const auto when = facts.text("gpu.lost_when"))
    *when == "load" ? opinion.supports(weight::kStrong, "it does so under load", {"gpu.lost_when"})
                    : opinion.speaks_against(weight::kStrong, "it does so without load too", {"gpu.lost_when"});
  else if (lost && *lost > 0)
    opinion.wants("gpu.lost_when", weight::kStrong);
  if (const auto brake = facts.highest("gpu.held_power_brake_share"); brake && *brake > 0.01)
    opinion.supports(weight::kWeak, "the external power brake was pulled", {"gpu.held_power_brake_share"});
  if (lost && *lost == 0) opinion.rules_out("no card was lost", {"gpu.lost"});
}

/// The hottest and the coolest card of one job.
struct HeatContrast {
  double hot_c = 0, cool_c = 0, hot_mhz = 0, cool_mhz = 0;
};
std::optional<HeatContrast> heat_contrast(const FactSheet& facts) {
  std::optional<HeatContrast> out;
  for (const auto* fact : facts.all("gpu.temperature_c")) {
    const auto celsius = record::as_number(*fact);
    if (!celsius || fact->subject.empty() || fact->subject == "job") continue;
    const double mhz = facts.number("gpu.sm_clock_mhz", fact->subject).value_or(0);
    if (!out) out = HeatContrast{*celsius, *celsius, mhz, mhz};
    if (*celsius > out->hot_c) out->hot_c = *celsius, out->hot_mhz = mhz;
    if (*celsius < out->cool_c) out->cool_c = *celsius, out->cool_mhz = mhz;
  }
  return out && out->hot_c > out->cool_c ? out : std::nullopt;
}

/// The card that lost most of its clock between cold and warm.
struct ClockLoss {
  std::string subject;
  double cold_mhz = 0, warm_mhz = 0;
};
std::optional<ClockLoss> clock_loss(const FactSheet& facts) {
  std::optional<ClockLoss> out;
  for (const auto* fact : facts.all("gpu.sm_clock_cold_mhz")) {
    const auto cold = record::as_number(*fact), warm = facts.number("gpu.sm_clock_mhz", fact->subject);
    if (cold && warm && *cold > 0 && (!out || *warm / *cold < out->warm_mhz / out->cold_mhz))
      out = ClockLoss{fact->subject, *cold, *warm};
  }
  return out;
}

bool judge_heat(const FactSheet& facts, Opinion& opinion) {
  const auto held = facts.highest("gpu.held_thermal_share");
  if (held && *held < 0.01) {
    opinion.rules_out("heat held no clock", {"gpu.held_thermal_share"});
    return false;
  }
  if (held)
    opinion.supports(*held > 0.05 ? weight::kDecisive : weight::kFair,
                     fmt::format("heat held the clocks {:.0f} % of the time", 100 * *held), {"gpu.held_thermal_share"});
  else
    opinion.wants("gpu.held_thermal_share", weight::kStrong);
  const auto hottest = facts.highest("gpu.temperature_c");
  if (!held && hottest) {
    if (*hottest < 75) {
      opinion.rules_out(fmt::format("the hottest GPU has {:.0f} °C", *hottest), {"gpu.temperature_c"});
      return false;
    }
    if (*hottest >= 85)
      opinion.supports(weight::kFair, fmt::format("the hottest GPU has {:.0f} °C", *hottest), {"gpu.temperature_c"});
    const auto loss = clock_loss(facts);
    if (loss && loss->warm_mhz < 0.95 * loss->cold_mhz)
      opinion.supports(
          weight::kFair,
          fmt::format("{} clocks {:.0f} MHz cold and {:.0f} MHz warm", loss->subject, loss->cold_mhz, loss->warm_mhz),
          {"gpu.sm_clock_cold_mhz", "gpu.sm_clock_mhz"});
    const auto clock = facts.lowest("gpu.sm_clock_mhz"), most = facts.highest("gpu.sm_clock_max_mhz")
                                                                    ? facts.highest("gpu.sm_clock_max_mhz")
                                                                    : facts.highest("gpu.sm_clock_mhz");
    if (!loss && clock && most && *clock < 0.9 * *most)
      opinion.supports(weight::kFair, fmt::format("its clock falls to {:.0f} of {:.0f} MHz", *clock, *most),
                       {"gpu.sm_clock_mhz"});
  }
  return true;
}

bool stand_close(const FactSheet& facts) {
  return facts.text_holds("gpu.placement", "side by side").value_or(false) ||
         facts.text_holds("gpu.placement", "air flow").value_or(false);
}

void judge_throttling(const FactSheet& facts, Opinion& opinion) {
  if (!judge_heat(facts, opinion)) return;
  if (stand_close(facts))
    opinion.speaks_against(weight::kFair, "the cards stand close: their place matters", {"gpu.placement"});
  if (const auto contrast = heat_contrast(facts);
      contrast && contrast->hot_mhz > 0 && contrast->hot_mhz < 0.95 * contrast->cool_mhz)
    opinion.speaks_against(weight::kFair,
                           "one card is hotter and slower than its neighbour: the place of the card matters",
                           {"gpu.temperature_c"});
}

void judge_spacing(const FactSheet& facts, Opinion& opinion) {
  if (!judge_heat(facts, opinion)) return;
  const auto contrast = heat_contrast(facts);
  if (stand_close(facts))
    opinion.supports(weight::kStrong, "the cards stand close, with little air", {"gpu.placement"});
  if (!contrast)
    return void(opinion.speaks_against(weight::kFair, "no contrast between cards is known", {})
                    .wants("gpu.temperature_c", weight::kFair));
  if (contrast->hot_mhz > 0 && contrast->hot_mhz < 0.95 * contrast->cool_mhz)
    opinion.supports(weight::kStrong,
                     fmt::format("a card at {:.0f} °C clocks {:.0f} MHz, its neighbour at {:.0f} °C {:.0f} MHz",
                                 contrast->hot_c, contrast->hot_mhz, contrast->cool_c, contrast->cool_mhz),
                     {"gpu.temperature_c", "gpu.sm_clock_mhz"});
  else
    opinion.speaks_against(weight::kFair, "hot and cool cards clock alike", {"gpu.sm_clock_mhz"});
}

constexpr auto kCauses = std::to_array<CauseInfo>({
    {"power:limit-lowered", "H1", "the power limit is set below the card's default", prior::kUsual,
     "gpu.held_power_cap_share", judge_lowered_limit,
     "gradwatt control --power-limit default, or nvidia-smi -pl DEFAULT", "operator",
     "the rack's power budget allows it: ask first", "the former limit", nullptr, nullptr},
    {"power:management-cap", "H10", "the machine's management holds the power limit below what was asked for",
     prior::kRare, "gpu.power_limit_w", judge_management_cap,
     "the power cap of rack or baseboard controller (Redfish, vendor tool): raise it, or plan with it as the limit",
     "operator", "the rack's power budget allows it: ask first", "the former cap", nullptr, nullptr},
    {"power:capped-below-limit", "H2", "a power cap holds a GPU far below its limit", prior::kUsual,
     "gpu.held_power_cap_share", judge_capped_below,
     "have the board checked: power connector, voltage regulator, firmware, table of the baseboard controller",
     "operator", "", "", nullptr, nullptr},
    {"power:brake", "H3", "the external power brake holds the clocks", prior::kUsual, "gpu.held_power_brake_share",
     judge_brake, "check power supplies and their redundancy, and the log of the baseboard controller", "operator", "",
     "", nullptr, nullptr},
    {"power:supply", "", "the power supply does not carry the load", prior::kUsual, "gpu.lost", judge_supply,
     "lower the power limit to prove it; then a larger supply, one cable a connector, the machine on a circuit of its "
     "own",
     "operator", "", "the former limit", nullptr, nullptr},
    {"thermal:throttling", "H4", "heat holds the clocks", prior::kUsual, "gpu.held_thermal_share", judge_throttling,
     "air flow, inlet temperature, dust, thermal pads; a lower power limit until then", "operator", "",
     "the former limit", nullptr, nullptr},
    {"thermal:card-spacing", "H4", "a card that gets the warm air of its neighbour is held by heat", prior::kUsual,
     "gpu.held_thermal_share", judge_spacing,
     "a slot between the cards, air that reaches both; a lower power limit for the hot card. Judge by the speed lost: "
     "a few per cent may not be worth it",
     "operator", "", "the former place", nullptr, nullptr},
});

}  // namespace

std::span<const CauseInfo> power_causes() { return kCauses; }

}  // namespace gradwatt::diagnosis

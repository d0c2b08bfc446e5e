#include "gradwatt/energy/warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "gradwatt/core/text.hpp"
#include "gradwatt/energy/steps.hpp"

namespace gradwatt::energy {
namespace {

using record::SeriesQuality;

constexpr double kLeastCoverage = 0.95;
constexpr double kFailedShare = 0.01;  // under one reading in a hundred a gap changes nothing that is shown
constexpr double kLateTickShare = 0.05;

/// Smaller is more important.
enum Rank { kWrong, kMissing, kDoubtful, kHint };

class List {
 public:
  void add(Rank rank, std::string text) { items_.emplace_back(rank, std::move(text)); }
  [[nodiscard]] std::vector<std::string> take() {
    std::ranges::stable_sort(items_, {}, &std::pair<Rank, std::string>::first);
    std::vector<std::string> out;
    for (auto& [rank, text] : items_) out.push_back(std::move(text));
    return out;
  }

 private:
  std::vector<std::pair<Rank, std::string>> items_;
};

std::string short_name_at(const record::Run& run, std::uint32_t index) {
  return index < run.devices.size() ? short_name(run.devices[index]) : fmt::format("device {}", index);
}

std::string times(std::uint64_t n) { return n == 1 ? "once" : fmt::format("{} times", n); }

/// "GPU 0, GPU 1, GPU 2 and 5 more".
std::string join_names(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) out += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kShown) out += fmt::format(" and {} more", names.size() - kShown);
  return out;
}

struct Tally {
  std::uint64_t count = 0;
  std::vector<std::string> names;

  void add(std::uint64_t n, std::string name) {
    count += n;
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
};

bool carries_energy(const SeriesQuality& quality) {
  const auto candidates = energy_candidates(record::info(quality.metric).kind);
  return std::ranges::find(candidates, quality.metric) != candidates.end();
}

struct CounterFault {
  std::uint64_t SeriesQuality::*count;
  Rank rank;
  std::string_view event;     ///< kind of the events that tell of the same
  std::string_view sentence;  ///< {0}: devices, {1}: "3 times"
};
constexpr std::array kCounterFaults{
    CounterFault{&SeriesQuality::resets, kWrong, "counter.reset",
                 "The energy counter of {0} began again {1}; the energy of those moments is unknown and not counted."},
    CounterFault{&SeriesQuality::glitches, kDoubtful, "counter.glitch",
                 "The energy counter of {0} made an impossible step {1}, which was rejected."},
    CounterFault{&SeriesQuality::backward, kDoubtful, "counter.backward",
                 "The energy counter of {0} went back a little {1}; those steps count as nothing."},
    CounterFault{&SeriesQuality::stuck, kWrong, "counter.stuck",
                 "The energy counter of {0} stood still {1} while the device drew power; its energy may be too low."},
};

void add_counter_faults(const record::Run& run, List& list) {
  for (const auto& fault : kCounterFaults) {
    Tally tally;
    for (const auto& quality : run.quality)
      if (const auto n = quality.*fault.count; n > 0 && carries_energy(quality))
        tally.add(n, short_name_at(run, number(quality.device)));
    if (tally.count > 0)
      list.add(fault.rank, fmt::format(fmt::runtime(fault.sentence), join_names(tally.names), times(tally.count)));
  }
}

void add_failed_readings(const record::Run& run, List& list) {
  Tally tally;
  for (const auto& quality : run.quality) {
    const auto due = static_cast<double>(quality.readings + quality.failed);
    if (quality.failed == 0 || !carries_energy(quality)) continue;
    if (static_cast<double>(quality.failed) >= kFailedShare * due)
      tally.add(quality.failed, short_name_at(run, number(quality.device)));
  }
  if (tally.count > 0)
    list.add(kDoubtful, fmt::format("{} power or energy reading{} of {} failed; they are gaps, not zeros.", tally.count,
                                    tally.count == 1 ? "" : "s", join_names(tally.names)));
}

struct EventGroup {
  std::string_view prefix;
  Rank rank;
};
constexpr std::array kEventGroups{EventGroup{"sensor.", kMissing}, EventGroup{"counter.", kDoubtful},
                                  EventGroup{"clock.", kDoubtful}, EventGroup{"writer.", kMissing}};

/// A wrap that was corrected is nothing to worry about; the other kinds are told from the counts above.
bool told_elsewhere(const record::Run& run, const record::Event& event) {
  if (event.kind == "counter.wrap") return true;
  for (const auto& fault : kCounterFaults) {
    if (event.kind != fault.event) continue;
    for (const auto& quality : run.quality)
      if (quality.*fault.count > 0 && (!event.device || number(quality.device) == *event.device)) return true;
  }
  return false;
}

void add_events(const record::Run& run, List& list) {
  struct Group {
    Rank rank{};
    std::string text;
    std::uint64_t more = 0;
  };
  std::map<std::string_view, Group> groups;
  for (const auto& event : run.events) {
    const auto* kind = std::ranges::find_if(kEventGroups, [&](auto& g) { return event.kind.starts_with(g.prefix); });
    if (kind == kEventGroups.end() || told_elsewhere(run, event)) continue;
    const auto [it, added] = groups.try_emplace(event.kind, Group{kind->rank, event.text, 0});
    if (!added) ++it->second.more;
  }
  for (const auto& [kind, group] : groups) {
    auto text = group.text.empty() ? std::string(kind) : group.text;
    if (group.more > 0) text += fmt::format(" ({} more of this kind)", group.more);
    list.add(group.rank, std::move(text));
  }
}

/// Devices that count but have no figure.
void add_unmeasured(const record::Run& run, const std::vector<Measured>& devices, List& list) {
  std::map<std::string_view, std::vector<std::string>> by_reason;
  for (const auto& m : devices)
    if (m.figure.in_total && !m.figure.energy_j && !m.figure.why_not.empty())
      by_reason[m.figure.why_not].push_back(short_name_at(run, number(m.figure.device)));
  for (const auto& [reason, names] : by_reason)
    list.add(kMissing, fmt::format("No energy of {}: {}.", join_names(names), reason));
}

std::string_view shown_name(std::string_view component) {
  if (component == "gpu") return "GPU";
  if (component == "cpu") return "CPU";
  return component == "ram" ? "RAM" : "Node meter";
}

/// One sentence for all components that miss about the same part.
void add_coverage(const Summary& partial, List& list) {
  std::string names;
  double least = 1;
  for (const auto& component : partial.energy.components) {
    if (!component.energy_j || component.coverage >= kLeastCoverage) continue;
    if (!names.empty()) names += ", ";
    names += shown_name(component.component);
    least = std::min(least, component.coverage);
  }
  if (names.empty()) return;
  list.add(kMissing, fmt::format("{} energy covers only {:.0f} % of the run; the rest is not in the total but in the "
                                 "line \"estimated\".",
                                 names, std::floor(100 * least)));
}

void add_cross_checks(const record::Run& run, const Summary& partial, List& list) {
  const CrossCheck* worst = nullptr;
  int others = 0;
  for (const auto& check : partial.cross_checks) {
    if (check.verdict != CrossCheck::Verdict::warning && check.verdict != CrossCheck::Verdict::suspect) continue;
    if (worst != nullptr) ++others;
    if (worst == nullptr || std::abs(check.difference) > std::abs(worst->difference)) worst = &check;
  }
  if (worst == nullptr) return;
  const bool suspect = worst->verdict == CrossCheck::Verdict::suspect;
  auto text =
      fmt::format("Counter and measured power of {} differ by {:+.1f} % ({:.1f} kJ and {:.1f} kJ over {:.0f} s){}",
                  short_name_at(run, number(worst->device)), 100 * worst->difference, worst->counter_j / 1e3,
                  worst->integrated_j / 1e3, worst->window_s, suspect ? "; treat its energy as suspect" : "");
  if (others > 0) text += fmt::format("; {} other device{} differ too", others, others == 1 ? "" : "s");
  list.add(suspect ? kWrong : kDoubtful, text + ".");
}

void add_recorder(const record::Run& run, const Summary& partial, List& list) {
  if (const auto lost = fact_number(run, "sampler.rows_lost"); lost && *lost > 0)
    list.add(kMissing, fmt::format("{:.0f} rows could not be written and are missing from the record.", *lost));
  const auto ticks = fact_number(run, "sampler.ticks"), late = fact_number(run, "sampler.late_ticks");
  if (ticks && late && *ticks > 0 && *late / *ticks > kLateTickShare)
    list.add(kHint,
             fmt::format("{:.0f} % of the readings came late; the machine was too busy for this sampling period.",
                         100 * *late / *ticks));
  if (!partial.complete && run.where() == record::Where::live)
    list.add(kMissing,
             "The record was not closed (gradwatt was ended, or the run goes on); figures end at the last sample.");
}

bool says_off(const record::Fact& fact) {
  if (const auto number = as_number(fact)) return *number == 0;
  const auto text = core::to_lower(as_text(fact).value_or(""));
  return text == "off" || text == "disabled" || text == "no" || text == "0";
}

void add_device_state(const record::Run& run, const std::vector<Measured>& devices, List& list) {
  const auto off = std::ranges::count_if(
      run.facts, [](const record::Fact& f) { return f.name == "gpu.persistence_mode" && says_off(f); });
  if (off > 0)
    list.add(kHint,
             fmt::format("Persistence mode is off on {} GPU{}: the driver may unload between jobs and its energy "
                         "counter begin again (`nvidia-smi -pm 1` as root keeps it loaded).",
                         off, off == 1 ? "" : "s"));
  for (const auto& m : devices) {
    const auto& device = run.device(m.figure.device);
    if (m.figure.in_total || !m.figure.why_not.starts_with("it is a part of")) continue;
    if (device.kind != record::DeviceKind::gpu) continue;
    list.add(kDoubtful,
             "A GPU is partitioned (MIG): its energy is that of the whole GPU, other users' slices included.");
    break;
  }
}

void add_steps(const record::Run& run, const Summary& partial, List& list) {
  const auto world = fact_number(run, "job.world_size");
  if (partial.steps && world && static_cast<double>(partial.steps->ranks) < *world)
    list.add(kDoubtful, fmt::format("Steps came from {} of {:.0f} ranks; samples of the whole job are unknown.",
                                    partial.steps->ranks, *world));
}

void add_rest(const Summary& partial, List& list) {
  for (const auto& component : partial.energy.components)
    if (component.component == "rest" && !component.why_not.empty())
      list.add(kDoubtful, fmt::format("No rest of the node: {}.", component.why_not));
}

}  // namespace

std::vector<std::string> warnings_of(const record::Run& run, const std::vector<Measured>& devices,
                                     const Summary& partial) {
  List list;
  add_counter_faults(run, list);
  add_cross_checks(run, partial, list);
  add_recorder(run, partial, list);
  add_unmeasured(run, devices, list);
  add_coverage(partial, list);
  add_events(run, list);
  add_failed_readings(run, list);
  add_device_state(run, devices, list);
  add_rest(partial, list);
  add_steps(run, partial, list);
  return list.take();
}

}  // namespace gradwatt::energy

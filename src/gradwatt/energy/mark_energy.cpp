#include "gradwatt/energy/mark_energy.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace gradwatt::energy {
namespace {

using record::Mark;
using record::MarkKind;

constexpr std::int64_t kLeastRegion_ns = 1'000'000'000;

using Name = std::pair<MarkKind, std::string_view>;

bool long_enough(const Mark& mark, std::int64_t resolved) {
  const auto length = mark.end_ns - mark.begin_ns;
  if (length <= 0) return false;
  if (mark.kind == MarkKind::step) return resolved > 0 && length >= resolved;
  return length >= kLeastRegion_ns || (resolved > 0 && length >= resolved);
}

/// Of a record's many short steps nothing will be said.
bool worth_saying(const Mark& mark, std::int64_t resolved) {
  return mark.kind != MarkKind::step || long_enough(mark, resolved);
}

std::map<Name, std::int32_t> speakers(const record::Run& run, std::int64_t resolved) {
  std::map<Name, std::int32_t> out;
  for (const auto& mark : run.marks) {
    if (!worth_saying(mark, resolved)) continue;
    const auto [it, added] = out.emplace(Name{mark.kind, mark.name}, mark.rank);
    if (!added) it->second = std::min(it->second, mark.rank);
  }
  return out;
}

MarkEnergy describe(const Mark& mark, Window job) {
  MarkEnergy out{.kind = mark.kind, .name = mark.name, .number = mark.number, .rank = mark.rank};
  out.begin_s = static_cast<double>(mark.begin_ns - job.begin_ns) * kSecondsPerNanosecond;
  out.duration_s = Window{mark.begin_ns, mark.end_ns}.seconds();
  return out;
}

void charge(MarkEnergy& out, const WholeJobEnergy& energy) {
  out.energy_j = energy.energy_j;
  out.how = energy.how;
  out.low_j = std::max(0.0, energy.energy_j - energy.edges_j);
  out.high_j = energy.energy_j + energy.edges_j;
}

using Key = std::tuple<MarkKind, std::string_view, std::int64_t>;

/// Samples of all ranks; nothing for a mark of which some rank did not say.
std::map<Key, std::optional<std::int64_t>> samples_of(const record::Run& run, const std::map<Key, bool>& wanted) {
  std::map<Key, std::optional<std::int64_t>> out;
  if (wanted.empty()) return out;
  for (const auto& mark : run.marks) {
    const Key key{mark.kind, mark.name, mark.number};
    if (!wanted.contains(key)) continue;
    const auto [it, added] = out.emplace(key, mark.samples);
    if (added) continue;
    it->second = it->second && mark.samples ? std::optional(*it->second + *mark.samples) : std::nullopt;
  }
  return out;
}

}  // namespace

std::vector<MarkEnergy> mark_energies(const record::Run& run, const std::vector<Measured>& devices, Window job) {
  const auto resolved = resolved_ns(devices);
  const auto speaker = speakers(run, resolved);
  std::vector<MarkEnergy> out;
  std::map<Key, bool> wanted;
  for (const auto& mark : run.marks) {
    if (!worth_saying(mark, resolved)) continue;
    if (speaker.at({mark.kind, mark.name}) != mark.rank) continue;
    out.push_back(describe(mark, job));
    wanted.emplace(Key{mark.kind, mark.name, mark.number}, true);
    if (!long_enough(mark, resolved)) continue;
    if (const auto energy = whole_job_energy(devices, {mark.begin_ns, mark.end_ns})) charge(out.back(), *energy);
  }
  const auto samples = samples_of(run, wanted);
  for (auto& mark : out) mark.samples = samples.at({mark.kind, mark.name, mark.number});
  std::ranges::stable_sort(out, {}, &MarkEnergy::begin_s);
  return out;
}

}  // namespace gradwatt::energy

#include "gradwatt/energy/steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace gradwatt::energy {
namespace {

using record::Mark;
using record::MarkKind;

/// Phases that most steps do not have: a step that tells others and not these had none of them.
constexpr auto kOccasional = [] {
  std::array<bool, record::kPhases> occasional{};
  occasional[static_cast<std::size_t>(record::Phase::checkpoint)] = true;
  occasional[static_cast<std::size_t>(record::Phase::evaluation)] = true;
  return occasional;
}();

struct RankSteps {
  std::array<std::int64_t, record::kPhases> phase_ns{};
  std::array<std::int64_t, record::kPhases> step_ns{};  ///< time of the steps that said the phase
  std::int64_t samples = 0;
  bool all_said_samples = true;

  void add(const Mark& step) {
    samples += step.samples.value_or(0);
    all_said_samples = all_said_samples && step.samples;
    const bool tells_phases = std::ranges::any_of(step.phase_ns, [](const auto& phase) { return phase.has_value(); });
    for (std::size_t p = 0; p < record::kPhases; ++p) {
      if (!step.phase_ns[p] && !(kOccasional[p] && tells_phases)) continue;
      phase_ns[p] += step.phase_ns[p].value_or(0);
      step_ns[p] += step.end_ns - step.begin_ns;
    }
  }
};
using Ranks = std::map<std::int32_t, RankSteps>;

/// One pass: a long run has millions of steps. Those of a rank mostly follow each other.
Ranks ranks_of(const record::Run& run) {
  Ranks out;
  auto current = out.end();
  for (const auto& mark : run.marks) {
    if (mark.kind != MarkKind::step) continue;
    if (current == out.end() || current->first != mark.rank) current = out.try_emplace(mark.rank).first;
    current->second.add(mark);
  }
  return out;
}

std::array<std::optional<double>, record::kPhases> phase_shares(const Ranks& ranks) {
  std::array<std::optional<double>, record::kPhases> out{};
  for (std::size_t p = 0; p < record::kPhases; ++p) {
    double sum = 0;
    int known = 0;
    for (const auto& [number, rank] : ranks) {
      if (rank.step_ns[p] <= 0 || (kOccasional[p] && rank.phase_ns[p] == 0)) continue;
      sum += static_cast<double>(rank.phase_ns[p]) / static_cast<double>(rank.step_ns[p]);
      ++known;
    }
    if (known > 0) out[p] = sum / known;
  }
  return out;
}

/// Samples of all ranks' steps.
std::optional<std::int64_t> all_samples(const record::Run& run, const Ranks& ranks) {
  if (const auto world = fact_number(run, "job.world_size"); world && *world > static_cast<double>(ranks.size()))
    return std::nullopt;
  std::int64_t sum = 0;
  for (const auto& [number, rank] : ranks) {
    if (!rank.all_said_samples) return std::nullopt;
    sum += rank.samples;
  }
  return sum;
}

constexpr std::int64_t kLeastSpan_ns = 1'000'000'000;

double quantile(std::vector<std::int64_t>& values, double share) {
  const auto last = static_cast<double>(values.size() - 1);
  const auto nth = values.begin() + std::lround(share * last);
  std::ranges::nth_element(values, nth);
  return static_cast<double>(*nth) * kSecondsPerNanosecond;
}

void add_energy(Steps& out, const std::vector<Measured>& devices, Window span) {
  // The span of all steps is a window like an epoch's: shorter ones than this are all edge.
  if (span.length_ns() < kLeastSpan_ns) return;
  const auto energy = whole_job_energy(devices, span);
  if (!energy) return;
  // By mean power: a device that misses a few percent of the span must not make a step look cheaper.
  const double joules = energy->power_w * span.seconds();
  out.energy_how = energy->how;
  out.energy_per_step_j = joules / static_cast<double>(out.count);
  if (out.samples && *out.samples > 0) out.energy_per_sample_j = joules / static_cast<double>(*out.samples);
}

}  // namespace

std::vector<const Mark*> leading_steps(const record::Run& run) {
  auto lowest = std::numeric_limits<std::int32_t>::max();
  for (const auto& mark : run.marks)
    if (mark.kind == MarkKind::step) lowest = std::min(lowest, mark.rank);
  std::vector<const Mark*> out;
  for (const auto& mark : run.marks)
    if (mark.kind == MarkKind::step && mark.rank == lowest) out.push_back(&mark);
  std::ranges::stable_sort(out, {}, [](const Mark* m) { return m->begin_ns; });
  return out;
}

std::optional<double> fact_number(const record::Run& run, std::string_view name) {
  for (const auto& fact : run.facts)
    if (fact.name == name)
      if (const auto number = as_number(fact)) return number;
  return std::nullopt;
}

std::optional<Steps> steps_of(const record::Run& run, const std::vector<Measured>& devices) {
  const auto leading = leading_steps(run);
  if (leading.empty()) return std::nullopt;
  Steps out;
  out.count = static_cast<std::int64_t>(leading.size());
  const auto ranks = ranks_of(run);
  out.ranks = static_cast<std::int64_t>(ranks.size());

  Window span{leading.front()->begin_ns, leading.front()->end_ns};
  std::vector<std::int64_t> lengths;
  lengths.reserve(leading.size());
  for (const auto* step : leading) {
    span.end_ns = std::max(span.end_ns, step->end_ns);
    lengths.push_back(step->end_ns - step->begin_ns);
  }
  out.span_s = span.seconds();
  out.step_median_s = quantile(lengths, 0.5);
  out.step_p95_s = quantile(lengths, 0.95);
  out.samples = all_samples(run, ranks);
  if (out.span_s > 0) {
    out.steps_per_s = static_cast<double>(out.count) / out.span_s;
    if (out.samples) out.samples_per_s = static_cast<double>(*out.samples) / out.span_s;
  }
  out.phase_share = phase_shares(ranks);
  add_energy(out, devices, span);
  return out;
}

}  // namespace gradwatt::energy

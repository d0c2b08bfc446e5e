// Length of steps, what they wait for, and the pauses between otherwise equal steps.
#include <algorithm>
#include <cmath>

#include "gradwatt/diagnosis/facts/fact_list.hpp"
#include "gradwatt/energy/change_points.hpp"
#include "gradwatt/energy/rank_steps.hpp"

namespace gradwatt::diagnosis {
namespace {

using record::How;
using record::Mark;
using record::Phase;
using Steps = std::vector<const Mark*>;

/// A step this many times the usual one is a pause, not a step.
constexpr double kPause = 2.5;

std::vector<double> lengths_of(const Steps& steps) {
  std::vector<double> out;
  for (const auto* step : steps) out.push_back(energy::seconds_of(*step));
  return out;
}

struct PhaseSum {
  double phase_s = 0, step_s = 0, longest_s = 0;
  std::size_t steps = 0;
};
PhaseSum sum_of(const Steps& steps, Phase phase) {
  PhaseSum out;
  for (const auto* step : steps)
    if (const auto seconds = energy::phase_s(*step, phase)) {
      out.phase_s += *seconds;
      out.step_s += energy::seconds_of(*step);
      out.longest_s = std::max(out.longest_s, *seconds);
      ++out.steps;
    }
  return out;
}

struct PhaseFact {
  Phase phase;
  std::string_view share;
};
constexpr auto kPhaseShares = std::to_array<PhaseFact>({
    {Phase::data_wait, "step.data_wait_share"},
    {Phase::comm_exposed, "step.comm_exposed_share"},
});
/// What happens in few steps only: a step that does not tell it did not do it.
constexpr auto kRarePhases = std::to_array<PhaseFact>({
    {Phase::checkpoint, "step.checkpoint_share"},
    {Phase::evaluation, "step.evaluation_share"},
});

/// Nothing when no step has it and none tells any phase.
std::optional<double> rare_share(const Steps& steps, Phase phase) {
  double phase_sum = 0, all = 0;
  bool told = false;
  for (const auto* step : steps) {
    const auto seconds = energy::phase_s(*step, phase);
    told = told || seconds || energy::phase_s(*step, Phase::backward);
    phase_sum += seconds.value_or(0);
    all += energy::seconds_of(*step);
  }
  return told && all > 0 ? std::optional(phase_sum / all) : std::nullopt;
}

/// All ranks stand still while one of them writes or evaluates: the job loses what the busiest rank loses.
void add_rare_phases(const energy::RankSteps& ranks, FactList& out) {
  for (const auto& [phase, name] : kRarePhases) {
    std::optional<double> most;
    for (const auto& [rank, steps] : ranks) {
      const auto share = rare_share(steps, phase);
      if (ranks.size() > 1) out.add(name, energy::rank_name(rank), share);
      if (share) most = std::max(most.value_or(0), *share);
    }
    out.add(name, "job", most);
  }
}

void add_rank(const Steps& steps, const std::string& subject, FactList& out) {
  const auto lengths = lengths_of(steps);
  out.add("step.time_s", subject, energy::median_of(lengths));
  out.add("step.time_p95_s", subject, energy::percentile_of(lengths, 0.95));
  for (const auto& [phase, share] : kPhaseShares) {
    const auto sum = sum_of(steps, phase);
    if (sum.steps == 0 || sum.step_s <= 0) continue;
    const double coverage = static_cast<double>(sum.steps) / static_cast<double>(steps.size());
    out.add(share, subject, sum.phase_s / sum.step_s, How::counter, coverage);
    if (phase != Phase::data_wait) continue;
    out.add("step.data_wait_s", subject, sum.phase_s / static_cast<double>(sum.steps), How::counter, coverage);
    out.add("step.data_wait_max_s", subject, sum.longest_s, How::counter, coverage);
  }
}

/// An epoch begins inside the step: its workers start there.
bool holds_epoch_begin(const record::Run& run, const Mark& step) {
  return std::ranges::any_of(run.marks, [&](const Mark& mark) {
    return mark.kind == record::MarkKind::epoch && mark.rank == step.rank && mark.number > 0 &&
           mark.begin_ns >= step.begin_ns && mark.begin_ns < step.end_ns;
  });
}

/// What a step takes beyond the usual one, without what has a phase of its own.
double excess_s(const Mark& step, double usual_s) {
  return energy::seconds_of(step) - usual_s - energy::phase_s(step, Phase::evaluation).value_or(0) -
         energy::phase_s(step, Phase::checkpoint).value_or(0);
}

void add_pauses(const record::Run& run, const Steps& steps, double usual_s, FactList& out) {
  std::vector<double> gaps, stalls;
  std::vector<double> stall_places;
  double total_s = 0;
  bool epochs = false;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    total_s += energy::seconds_of(*steps[i]);
    const double excess = excess_s(*steps[i], usual_s);
    if (holds_epoch_begin(run, *steps[i])) {
      epochs = true;
      gaps.push_back(std::max(0.0, excess));
    } else if (excess > (kPause - 1) * usual_s) {
      stalls.push_back(excess);
      stall_places.push_back(static_cast<double>(i));
    }
  }
  const auto sum = [](const std::vector<double>& values) {
    double all = 0;
    for (const double value : values) all += value;
    return all;
  };
  if (epochs) {
    out.add("epoch.gap_s", "job", energy::median_of(gaps));
    out.add("epoch.gap_share", "job", sum(gaps) / total_s);
  }
  out.add("step.stall_share", "job", sum(stalls) / total_s);
  if (stalls.empty()) return;
  out.add("step.stall_s", "job", energy::median_of(stalls));
  std::vector<double> distances;
  for (std::size_t i = 1; i < stall_places.size(); ++i) distances.push_back(stall_places[i] - stall_places[i - 1]);
  if (distances.size() < 3) return;
  const double period = energy::median_of(distances);
  const auto regular =
      std::ranges::count_if(distances, [&](double d) { return std::abs(d - period) <= std::max(1.0, 0.1 * period); });
  if (2 * static_cast<std::size_t>(regular) > distances.size()) out.add("step.stall_every_steps", "job", period);
}

std::optional<double> fact_of(const record::Run& run, std::string_view name) {
  for (const auto& fact : run.facts)
    if (fact.name == name)
      if (const auto number = record::as_number(fact)) return number;
  return std::nullopt;
}

}  // namespace

void add_step_facts(const record::Run& run, energy::Window window, FactList& out) {
  const auto ranks = energy::steps_in(run, window);
  if (ranks.empty()) return;
  Steps all;
  for (const auto& [rank, steps] : ranks) {
    if (ranks.size() > 1) add_rank(steps, energy::rank_name(rank), out);
    all.insert(all.end(), steps.begin(), steps.end());
  }
  add_rank(all, "job", out);
  add_rare_phases(ranks, out);
  const auto& leading = ranks.begin()->second;
  const double usual_s = energy::median_of(lengths_of(leading));
  out.add("step.count", "job", static_cast<double>(leading.size()));
  add_pauses(run, leading, usual_s, out);
  std::int64_t samples = 0;
  bool known = true;
  for (const auto* step : all) known = known && step->samples.has_value(), samples += step->samples.value_or(0);
  const double span_s =
      static_cast<double>(leading.back()->end_ns - leading.front()->begin_ns) * energy::kSecondsPerNanosecond;
  if (known && span_s > 0) out.add("step.samples_per_s", "job", static_cast<double>(samples) / span_s);
  // Python does not see how long a rank waits inside backward(); what the reducer timed itself is the next best.
  const bool told = sum_of(all, Phase::comm_exposed).steps > 0;
  const auto comm = fact_of(run, "ddp.comm_s"), hidden = fact_of(run, "ddp.comm_overlap_s");
  const double mean_s = span_s / static_cast<double>(leading.size());
  if (!told && comm && hidden && mean_s > 0)
    out.add("step.comm_exposed_share", "job", std::clamp((*comm - *hidden) / mean_s, 0.0, 1.0), How::modelled);
}

}  // namespace gradwatt::diagnosis

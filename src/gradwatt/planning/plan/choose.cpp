#include "gradwatt/planning/plan/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "gradwatt/planning/plan/front.hpp"

namespace gradwatt::planning {
namespace {

std::string percent(double ratio) {
  const double change = 100 * (ratio - 1);
  return fmt::format("{:.{}f} % {}", std::abs(change), std::abs(change) < 10 ? 1 : 0, change < 0 ? "less" : "more");
}

std::string_view effort_word(const Candidate& c) { return c.energy_j ? "energy" : "GPU-hours"; }

/// Both within the limits.
std::string why_lost(const Candidate& loser, const Candidate& chosen) {
  const double effort = effort_of(loser) / effort_of(chosen), time = loser.time_s / chosen.time_s;
  const bool same = std::abs(effort - 1) <= kSameEnergy;
  auto out = same && time >= 1 ? fmt::format("no less {}, {} time", effort_word(loser), percent(time))
                               : fmt::format("{} {}, {} time", percent(effort), effort_word(loser), percent(time));
  if (loser.cost && chosen.cost && *chosen.cost > 0)
    out += fmt::format(", {} cost", percent(*loser.cost / *chosen.cost));
  return out;
}

std::string over(const std::optional<double>& value, double limit, std::string_view unit, double scale) {
  return fmt::format("{:.3g} of {:.3g} {}", value.value_or(0) / scale, limit / scale, unit);
}

/// Of a candidate that breaks limits: the first of them, with its figures.
std::string what_broke(const Question& question, const Candidate& c) {
  const auto& limits = question.limits;
  const auto& s = c.setting;
  switch (*c.broken.first()) {
    case Limit::whole_batch:
      return fmt::format("a global batch of {:g} does not divide among {:g} replicas",
                         question.axes.batches[c.batch].samples, s.replicas());
    case Limit::unknown:
      return gap_of(job_of(question, c), s).value_or("the profile does not say");
    case Limit::memory: {
      const auto& hardware = question.axes.hardware[c.hardware];
      const double most =
          std::min(hardware.most_local_batch.value_or(s.local_batch), limits.most_local_batch.value_or(s.local_batch));
      return fmt::format("local batch {:g}, of which at most {:g} fits", s.local_batch, most);
    }
    case Limit::least_batch:
      return fmt::format("its batch is under the {:g} asked for", *limits.least_batch);
    case Limit::most_batch:
      return fmt::format("its batch is over the {:g} allowed", *limits.most_batch);
    case Limit::risk:
      return fmt::format("its batch is outside {:g} to {:g}, where the quality is known", question.good_batches->least,
                         question.good_batches->most);
    case Limit::whole_nodes:
      return fmt::format("{:g} GPUs leave a node of {:g} partly empty", s.gpus, s.gpus_per_node);
    case Limit::nodes:
      return fmt::format("{:g} nodes, of which {:g} are there", s.nodes(), *limits.most_nodes);
    case Limit::deadline:
      return fmt::format("takes {}, past the deadline of {}", time_text(c.time_s), time_text(*limits.deadline_s));
    case Limit::energy:
      return "over the budget: " + over(facility_energy_j(question, c), *limits.energy_j, "kWh", 3.6e6);
    case Limit::cost:
      return "over the budget: " + over(c.cost, *limits.cost, question.prices.currency, 1);
  }
  return {};
}

/// How far from being kept, as a ratio; only for order within one limit.
double excess(const Question& question, const Candidate& c, Limit limit) {
  const auto& limits = question.limits;
  switch (limit) {
    case Limit::deadline:
      return c.time_s / *limits.deadline_s;
    case Limit::energy:
      return facility_energy_j(question, c).value_or(0) / *limits.energy_j;
    case Limit::cost:
      return c.cost.value_or(0) / *limits.cost;
    case Limit::risk:
      return c.risk.value_or(0);
    case Limit::most_batch:
      return c.setting.global_batch();
    case Limit::least_batch:
      return 1 / c.setting.global_batch();
    case Limit::memory:
      return c.setting.local_batch;
    case Limit::nodes:
      return c.setting.nodes();
    default:
      return c.setting.gpus;
  }
}

bool has_figures(const Candidate& c) { return !c.broken.has(Limit::unknown) && !c.broken.has(Limit::whole_batch); }

/// Of those that break nothing but this one limit, the one that breaks it least.
std::optional<std::size_t> nearest_without(const Question& question, std::span<const Candidate> candidates,
                                           Limit limit) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].broken.only(limit)) continue;
    const auto rank = [&](std::size_t at) {
      return std::pair(excess(question, candidates[at], limit), effort_of(candidates[at]));
    };
    if (!best || rank(i) < rank(*best)) best = i;
  }
  return best;
}

std::string with_figures(const Question& question, const Candidate& c) {
  return fmt::format("{}: {}, {}", describe(question, c), time_text(c.time_s), effort_text(c));
}

/// Limits of the machine, which nobody can give up.
bool breaks_the_machine(const Candidate& c) { return c.broken.has(Limit::memory) || c.broken.has(Limit::nodes); }

/// No single limit stands alone in the way: the candidate that breaks fewest.
Impossible several_bind(const Question& question, std::span<const Candidate> candidates) {
  Impossible out;
  const auto rank = [](const Candidate& c) {
    return std::tuple(!has_figures(c), breaks_the_machine(c), c.broken.count(), effort_of(c));
  };
  const auto nearest = std::ranges::min_element(candidates, {}, rank);
  out.nearest = nearest - candidates.begin();
  for (std::size_t i = 0; i < kLimits; ++i)
    if (nearest->broken.has(static_cast<Limit>(i))) out.binding.push_back(static_cast<Limit>(i));
  if (!has_figures(*nearest)) {
    out.sentence =
        fmt::format("none of {} settings can be planned: {}", candidates.size(), what_broke(question, *nearest));
    return out;
  }
  std::string names;
  for (const auto limit : out.binding) names += (names.empty() ? "" : " and ") + std::string(name_of(limit));
  out.sentence = fmt::format("{} would have to give way together: giving up one limit is not enough; nearest: {}",
                             names, with_figures(question, *nearest));
  return out;
}

/// Those of which giving up one would do; a limit of the machine only where there is no other.
std::vector<Limit> single_limits(std::span<const Candidate> candidates) {
  std::vector<Limit> users, machine;
  for (std::size_t i = 0; i < kLimits; ++i) {
    const auto limit = static_cast<Limit>(i);
    if (limit == Limit::unknown || limit == Limit::whole_batch) continue;
    if (std::ranges::none_of(candidates, [&](const Candidate& c) { return c.broken.only(limit); })) continue;
    (limit == Limit::memory || limit == Limit::nodes ? machine : users).push_back(limit);
  }
  return users.empty() ? machine : users;
}

}  // namespace

std::optional<std::size_t> choose(std::span<const Candidate> candidates, std::span<const std::size_t> front) {
  if (front.empty()) return std::nullopt;
  const auto effort = [&](std::size_t i) { return effort_of(candidates[i]); };
  const double least = effort(*std::ranges::min_element(front, {}, effort));
  // The front is sorted by time.
  return *std::ranges::find_if(front, [&](std::size_t i) { return effort(i) <= (1 + kSameEnergy) * least; });
}

std::vector<Rival> rivals_of(const Question& question, const Grid& grid, std::span<const std::size_t> front,
                             std::size_t chosen) {
  const auto& winner = grid.candidates[chosen];
  std::vector<Rival> out;
  const auto add = [&](std::size_t i) {
    const auto& c = grid.candidates[i];
    const auto same_as = [&](const Candidate& other) { return describe(question, other) == describe(question, c); };
    if (same_as(winner) ||
        std::ranges::any_of(out, [&](const Rival& r) { return same_as(grid.candidates[r.candidate]); }))
      return;
    out.push_back({i, c.broken.none() ? why_lost(c, winner) : what_broke(question, c)});
  };
  for (const auto i : grid.neighbours(chosen)) add(i);
  if (!front.empty()) add(front.front());  // what the fastest would cost is always asked
  return out;
}

Impossible explain_impossible(const Question& question, std::span<const Candidate> candidates) {
  Impossible out{.binding = single_limits(candidates)};
  if (out.binding.empty()) return several_bind(question, candidates);
  std::string ways;
  for (const auto limit : out.binding) {
    const auto nearest = nearest_without(question, candidates, limit);
    if (!out.nearest) out.nearest = nearest;
    const auto& c = candidates[*nearest];
    ways += fmt::format("{}without {}, nearest: {} ({})", ways.empty() ? "" : "; ", name_of(limit),
                        with_figures(question, c), what_broke(question, c));
  }
  out.sentence = out.binding.size() == 1
                     ? fmt::format("{} binds; {}", name_of(out.binding.front()), ways)
                     : fmt::format("the limits contradict each other, one of them must give way: {}", ways);
  return out;
}

}  // namespace gradwatt::planning

// Contrast between ranks. In synchronous training all ranks' steps take the same time, because the fast ones wait for
// the slowest inside the gradient exchange; the culprit is the rank that waits least.
//
// Where a rank's wait is told (comm_exposed) it is used. Else it is inferred: backward() holds the exchange, and of one
// model on equal devices backward takes a fixed multiple of forward. The smallest multiple seen on any rank is that of
// the rank that did not wait; what the others take beyond it is waiting.
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

/// Steps that are looked at together: enough that one slow batch does not make a culprit.
constexpr std::size_t kBlock = 5;

struct Ratio {
  double backward_per_forward = 0;
  bool known = false;
};
Ratio ratio_of(const Steps& steps) {
  std::vector<double> ratios;
  for (const auto* step : steps) {
    const auto forward = energy::phase_s(*step, Phase::forward), backward = energy::phase_s(*step, Phase::backward);
    if (forward && backward && *forward > 0) ratios.push_back(*backward / *forward);
  }
  return ratios.empty() ? Ratio{} : Ratio{energy::median_of(std::move(ratios)), true};
}

std::optional<double> wait_of(const Mark& step, const Ratio& least) {
  if (const auto told = energy::phase_s(step, Phase::comm_exposed)) return told;
  const auto forward = energy::phase_s(step, Phase::forward), backward = energy::phase_s(step, Phase::backward);
  if (!least.known || !forward || !backward) return std::nullopt;
  return std::max(0.0, *backward - least.backward_per_forward * *forward);
}

struct OwnTime {
  std::vector<double> own_s, wait_s;  ///< by step
};

std::optional<std::map<std::int32_t, OwnTime>> own_times(const energy::RankSteps& ranks) {
  Ratio least;
  for (const auto& [rank, steps] : ranks)
    if (const auto ratio = ratio_of(steps);
        ratio.known && (!least.known || ratio.backward_per_forward < least.backward_per_forward))
      least = ratio;
  std::map<std::int32_t, OwnTime> out;
  for (const auto& [rank, steps] : ranks)
    for (const auto* step : steps) {
      const auto wait = wait_of(*step, least);
      if (!wait) return std::nullopt;
      out[rank].wait_s.push_back(*wait);
      // Checkpoints and evaluation are causes of their own.
      const double apart =
          energy::phase_s(*step, Phase::checkpoint).value_or(0) + energy::phase_s(*step, Phase::evaluation).value_or(0);
      out[rank].own_s.push_back(energy::seconds_of(*step) - *wait - apart);
    }
  return out;
}

/// Of steps [begin, end): a single pause makes no slow rank.
double usual_of(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  return energy::median_of(
      {values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end)});
}

/// The rank with the most own time among steps [begin, end).
std::int32_t slowest(const std::map<std::int32_t, OwnTime>& times, std::size_t begin, std::size_t end) {
  return std::ranges::max_element(times, {},
                                  [&](const auto& entry) { return usual_of(entry.second.own_s, begin, end); })
      ->first;
}

}  // namespace

void add_rank_facts(const record::Run& run, energy::Window window, FactList& out) {
  const auto ranks = energy::steps_in(run, window);
  if (ranks.size() < 2) return;
  const auto times = own_times(ranks);
  if (!times) return;
  const bool told = energy::phase_s(*ranks.begin()->second.front(), Phase::comm_exposed).has_value();
  const auto how = told ? How::counter : How::modelled;
  std::size_t steps = ranks.begin()->second.size();
  for (const auto& [rank, time] : *times) steps = std::min(steps, time.own_s.size());
  if (steps < kBlock) return;
  const auto culprit = slowest(*times, 0, steps);
  std::vector<double> others;
  for (const auto& [rank, time] : *times) {
    out.add("rank.own_time_s", energy::rank_name(rank), usual_of(time.own_s, 0, steps), how);
    out.add("rank.wait_s", energy::rank_name(rank), usual_of(time.wait_s, 0, steps), how);
    if (rank != culprit) others.push_back(usual_of(time.own_s, 0, steps));
  }
  const double usual_s = energy::median_of(others);
  if (usual_s <= 0) return;
  out.add("rank.skew_share", "job", usual_of(times->at(culprit).own_s, 0, steps) / usual_s - 1, how);
  out.add("rank.culprit", "job", static_cast<double>(culprit), how);
  std::size_t same = 0, blocks = 0;
  for (std::size_t begin = 0; begin + kBlock <= steps; begin += kBlock, ++blocks)
    same += slowest(*times, begin, begin + kBlock) == culprit;
  out.add("rank.culprit_stays", "job", static_cast<double>(same) / static_cast<double>(blocks), how);
}

}  // namespace gradwatt::diagnosis

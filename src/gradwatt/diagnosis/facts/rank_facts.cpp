// Contrast between ranks. In synchronous training all ranks' steps take the same time, because the fast ones wait for
// the slowest inside the gradient exchange; the culprit is the rank that waits least.
//
// Where a rank's wait is told (comm_exposed) it is used. Else it is inferred: backward() holds the exchange, and
// without it takes a fixed multiple of forward. Where PyTorch's reducer timed the exchange on every rank, each rank has
// its own multiple: that with which its usual wait is what it communicates longer than the rank that does so least.
// Else the smallest multiple seen on any rank is that of the rank that did not wait, which is true of equal devices
// only.
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

std::optional<double> wait_of(const Mark& step, const Ratio& without_wait) {
  if (const auto told = energy::phase_s(step, Phase::comm_exposed)) return told;
  const auto forward = energy::phase_s(step, Phase::forward), backward = energy::phase_s(step, Phase::backward);
  if (!without_wait.known || !forward || !backward) return std::nullopt;
  return std::max(0.0, *backward - without_wait.backward_per_forward * *forward);
}

double usual_phase_s(const Steps& steps, Phase phase) {
  std::vector<double> values;
  for (const auto* step : steps)
    if (const auto value = energy::phase_s(*step, phase)) values.push_back(*value);
  return values.empty() ? 0 : energy::median_of(std::move(values));
}

/// The last value said of that rank.
std::optional<double> last_of(const record::Run& run, std::string_view name, std::int32_t rank) {
  std::optional<double> value;
  for (const auto& fact : run.facts)
    if (fact.name == name && fact.subject == energy::rank_name(rank)) value = record::as_number(fact);
  return value;
}

/// By rank, how much longer it communicates than the rank that does so least; nothing unless all ranks say.
std::map<std::int32_t, double> timed_waits_s(const record::Run& run, const energy::RankSteps& ranks) {
  std::map<std::int32_t, double> waits;
  for (const auto& [rank, steps] : ranks) {
    const auto comm = last_of(run, "ddp.comm_s", rank);
    if (!comm) return {};
    waits[rank] = std::max(0.0, *comm - last_of(run, "ddp.comm_overlap_s", rank).value_or(0));
  }
  const double least = std::ranges::min_element(waits, {}, [](const auto& entry) { return entry.second; })->second;
  for (auto& [rank, wait] : waits) wait -= least;
  return waits;
}

struct OwnTime {
  std::vector<double> own_s, wait_s;  ///< by step
};

/// By rank, backward over forward as it would be without waiting.
std::map<std::int32_t, Ratio> ratios_without_wait(const record::Run& run, const energy::RankSteps& ranks) {
  Ratio least;
  for (const auto& [rank, steps] : ranks)
    if (const auto ratio = ratio_of(steps);
        ratio.known && (!least.known || ratio.backward_per_forward < least.backward_per_forward))
      least = ratio;
  const auto timed = timed_waits_s(run, ranks);
  std::map<std::int32_t, Ratio> out;
  for (const auto& [rank, steps] : ranks) {
    out[rank] = least;
    if (timed.empty()) continue;
    const double forward = usual_phase_s(steps, Phase::forward);
    const double computed = usual_phase_s(steps, Phase::backward) - timed.at(rank);
    if (forward > 0 && computed > 0) out[rank] = {computed / forward, true};
  }
  return out;
}

std::optional<std::map<std::int32_t, OwnTime>> own_times(const record::Run& run, const energy::RankSteps& ranks) {
  const auto ratios = ratios_without_wait(run, ranks);
  std::map<std::int32_t, OwnTime> out;
  for (const auto& [rank, steps] : ranks)
    for (const auto* step : steps) {
      const auto wait = wait_of(*step, ratios.at(rank));
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
  const auto times = own_times(run, ranks);
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

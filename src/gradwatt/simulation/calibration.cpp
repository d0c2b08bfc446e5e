#include "gradwatt/simulation/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "gradwatt/energy/rank_steps.hpp"
#include "gradwatt/energy/steps.hpp"
#include "gradwatt/planning/gradient_bytes.hpp"

namespace gradwatt::simulation {
namespace {

using record::Phase;

constexpr double kFirstBucket_bytes = 1024.0 * 1024;
/// Of a pass forward and backward: the backward pass has twice the products of the forward pass.
constexpr double kForwardShare = 1.0 / 3;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::ranges::max_element(values.begin(), middle)) / 2;
}

/// What one rank's steps took: medians over those after the first tenth, which warm up.
struct RankTimes {
  double step_s = 0;
  std::array<std::optional<double>, record::kPhases> phase_s{};
};

RankTimes times_of(std::vector<const record::Mark*> steps) {
  if (steps.size() > 2)
    steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>((steps.size() + 9) / 10));
  RankTimes times;
  std::vector<double> lengths;
  for (const auto* step : steps) lengths.push_back(energy::seconds_of(*step));
  times.step_s = median(lengths);
  for (std::size_t phase = 0; phase < record::kPhases; ++phase) {
    std::vector<double> told;
    for (const auto* step : steps)
      if (const auto time = energy::phase_s(*step, static_cast<Phase>(phase))) told.push_back(*time);
    if (!told.empty()) times.phase_s[phase] = median(told);
  }
  return times;
}

std::vector<RankTimes> ranks_of(const record::Run& run) {
  constexpr energy::Window kAlways{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  std::vector<RankTimes> ranks;
  auto by_rank = energy::steps_in(run, kAlways);
  for (auto& [rank, steps] : by_rank) ranks.push_back(times_of(std::move(steps)));
  return ranks;
}

std::optional<double> over_ranks(const std::vector<RankTimes>& ranks, Phase phase) {
  std::vector<double> told;
  for (const auto& rank : ranks)
    if (const auto& value = rank.phase_s[static_cast<std::size_t>(phase)]) told.push_back(*value);
  return told.empty() ? std::nullopt : std::optional(median(told));
}

void set_times(const std::vector<RankTimes>& ranks, Calibration& out) {
  std::vector<double> lengths;
  for (const auto& rank : ranks) lengths.push_back(rank.step_s);
  const double step_s = median(lengths);
  auto& job = out.job;
  job.data_wait_s = over_ranks(ranks, Phase::data_wait).value_or(0);
  const auto exposed = over_ranks(ranks, Phase::comm_exposed);
  if (exposed) out.exposed_share = *exposed / step_s;
  const auto forward = over_ranks(ranks, Phase::forward), backward = over_ranks(ranks, Phase::backward);
  const double rest = std::max(0.0, step_s - job.data_wait_s - exposed.value_or(0));
  if (forward && backward) {
    job.forward_s = *forward, job.backward_s = *backward;
    job.optimizer_s = std::max(0.0, rest - *forward - *backward);
    return;
  }
  job.optimizer_s = std::min(over_ranks(ranks, Phase::optimizer).value_or(0), rest);
  job.forward_s = kForwardShare * (rest - job.optimizer_s);
  job.backward_s = rest - job.optimizer_s - job.forward_s;
  out.notes.emplace_back("the run does not tell forward and backward pass apart: a third and two thirds are assumed");
}

void set_gradients(const record::Run& run, Calibration& out) {
  planning::GradientBytes bytes{energy::fact_number(run, "simulation.gradient_bytes"), false};
  if (!bytes.known) bytes = planning::gradient_bytes_of(run);
  if (bytes.assumed_fp32) out.notes.emplace_back("gradients are taken as fp32: 4 bytes a parameter");
  out.gradients_known = bytes.known.has_value();
  out.job.gradient_bytes = bytes.known.value_or(0);
}

void set_overlap(const record::Run& run, Calibration& out) {
  const double bucket = energy::fact_number(run, "ddp.bucket_cap_bytes").value_or(25.0 * 1024 * 1024);
  out.job.pieces = usual_pieces(out.job.gradient_bytes, bucket);
  const auto all = energy::fact_number(run, "ddp.comm_s"), hidden = energy::fact_number(run, "ddp.comm_overlap_s");
  auto share = energy::fact_number(run, "simulation.overlap_share");
  if (!share && all && hidden && *all > 0) share = *hidden / *all;
  if (!share) share = energy::fact_number(run, "comm.overlap_share");
  if (!share) share = energy::fact_number(run, "trace.comm_overlap_share");
  if (share) {
    out.job.overlap = std::clamp(*share, 0.0, 1.0);
    return;
  }
  out.job.overlap = usual_overlap(out.job.gradient_bytes, bucket);
  out.notes.push_back(fmt::format(
      "the run does not tell what of the exchange runs beside the backward pass: all buckets but the last, {:.0f} %",
      100 * out.job.overlap));
}

}  // namespace

int usual_pieces(double gradient_bytes, double bucket_bytes) {
  const double after_first = std::max(0.0, gradient_bytes - kFirstBucket_bytes);
  return 1 + static_cast<int>(std::ceil(after_first / bucket_bytes));
}

double usual_overlap(double gradient_bytes, double bucket_bytes) {
  if (gradient_bytes <= kFirstBucket_bytes) return 0;
  const double after_first = gradient_bytes - kFirstBucket_bytes, rest = std::fmod(after_first, bucket_bytes);
  return 1 - (rest > 0 ? rest : bucket_bytes) / gradient_bytes;
}

core::Result<Calibration> calibrate(const record::Run& run) {
  const auto ranks = ranks_of(run);
  if (ranks.empty())
    return core::fail(core::Errc::unusable_input,
                      "the run holds no training steps to calibrate from: take a run whose report shows steps, or give "
                      "--compute-s and --gradient-bytes");
  Calibration out;
  set_times(ranks, out);
  set_gradients(run, out);
  set_overlap(run, out);
  if (const auto batch = energy::fact_number(run, "job.local_batch_size"); batch && *batch >= 1)
    out.local_batch =
        std::llround(*batch * std::max(1.0, energy::fact_number(run, "job.accumulation_steps").value_or(1)));
  for (const auto& f : run.facts)
    if (f.name == "job.model") out.model = record::as_text(f).value_or("");
  return out;
}

}  // namespace gradwatt::simulation

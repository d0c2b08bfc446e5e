#include "gradwatt/planning/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "gradwatt/core/text.hpp"
#include "gradwatt/planning/plan/choose.hpp"
#include "gradwatt/planning/plan/front.hpp"
#include "gradwatt/planning/presets/preset.hpp"

namespace gradwatt::planning {
namespace {

core::Result<void> check(const Question& question) {
  const auto& axes = question.axes;
  const auto wrong = [](std::string text) { return core::fail(core::Errc::wrong_use, std::move(text)); };
  if (axes.gpus.empty() || axes.batches.empty() || axes.accumulation.empty() || axes.hardware.empty())
    return wrong("nothing to plan: numbers of GPUs, batches and a profile are needed");
  const auto& limits = question.limits;
  if (limits.least_batch && limits.most_batch && *limits.least_batch > *limits.most_batch)
    return wrong(fmt::format("the smallest global batch, {:g}, is larger than the largest, {:g}", *limits.least_batch,
                             *limits.most_batch));
  const auto powerless = [](const HardwareOption& h) { return !h.job.energy || !h.job.energy->knows_base; };
  if ((limits.energy_j || limits.cost) && std::ranges::all_of(axes.hardware, powerless) &&
      (limits.energy_j || question.prices.per_kwh))
    return core::fail(core::Errc::unusable_input,
                      "a budget cannot be held: energy is not known, since the profile has no power of whole nodes; "
                      "measure CPU and RAM besides the GPUs, or say what a node draws without them");
  return {};
}

bool same_everywhere(const Question& question) { return question.axes.hardware.size() < 2; }

}  // namespace

core::Result<Plan> make_plan(const Question& question) {
  if (auto good = check(question); !good) return core::fail(good.error());
  Plan plan;
  plan.grid = evaluate(question);
  const auto& candidates = plan.grid.candidates;
  plan.broken_by.assign(kLimits, 0);
  for (const auto& c : candidates)
    for (std::size_t i = 0; i < kLimits; ++i) plan.broken_by[i] += c.broken.has(static_cast<Limit>(i)) ? 1U : 0U;
  plan.front = front_of(candidates);
  plan.chosen = choose(candidates, plan.front);
  if (!plan.chosen) {
    plan.impossible = explain_impossible(question, candidates);
    return plan;
  }
  plan.knee = knee_of(candidates, plan.front);
  plan.rivals = rivals_of(question, plan.grid, plan.front, *plan.chosen);
  return plan;
}

std::string time_text(double seconds) {
  return core::format_duration(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)));
}

std::string effort_text(const Candidate& candidate) {
  if (!candidate.energy_j) return fmt::format("{:.3g} GPU-hours", candidate.gpu_hours);
  return fmt::format("{:.3g} kWh", *candidate.energy_j / 3.6e6);
}

std::string describe(const Question& question, const Candidate& candidate) {
  const auto& s = candidate.setting;
  auto text = fmt::format("{:g} GPU{}, global batch {:g} ({:g} a GPU", s.gpus, s.gpus == 1 ? "" : "s", s.global_batch(),
                          s.local_batch);
  if (s.gpus_per_replica > 1)
    text = fmt::format("{:g} GPUs, global batch {:g} ({:g} a replica", s.gpus, s.global_batch(), s.local_batch);
  if (s.accumulation > 1) text += fmt::format(", {:g} passes", s.accumulation);
  text += ")";
  if (!same_everywhere(question)) text += " on " + question.axes.hardware[candidate.hardware].name;
  if (s.cap_w) text += fmt::format(", cap {:g} W", *s.cap_w);
  if (s.dataset_samples && question.axes.data.size() > 1) text += fmt::format(", {:g} samples", *s.dataset_samples);
  if (question.axes.strategies.size() > 1) text += ", " + question.axes.strategies[candidate.strategy].name;
  return text;
}

std::string next_profile(const Question& question, const Candidate& candidate) {
  const auto job = job_of(question, candidate);
  const auto& s = candidate.setting;
  const auto& t = job.throughput;
  const auto& origin = question.axes.hardware[candidate.hardware].origin;
  if (origin == kPublished)
    return "a profile of the own job: 50 steps on 1, 2 and 4 GPUs at two local batches, and on two nodes";
  if (origin.starts_with(kCarriedOver)) return "50 steps on that GPU: nothing was measured there";
  if (s.replicas() > std::max(1.0, t.most_replicas))
    return fmt::format("50 steps on {:g} GPUs at local batch {:g}: the profile ends at {:g} replicas", s.gpus,
                       s.local_batch, t.most_replicas);
  if (!job.energy || !job.energy->knows_base)
    return "a run that measures the node's power besides the GPUs' (CPU and RAM readable, or a meter)";
  if (s.local_batch < t.smallest_batch || s.local_batch > t.largest_batch)
    return fmt::format("50 steps at local batch {:g}: the profile has {:g} to {:g}", s.local_batch, t.smallest_batch,
                       t.largest_batch);
  const auto& unsure = job.energy->fit.unidentified;
  if (std::ranges::find(unsure, "waiting") != unsure.end() && s.replicas() > 1)
    return "runs with power at two sizes that wait differently long for gradients: what a waiting GPU draws is assumed";
  return "more steps of the same setting: scatter between runs is what is left";
}

}  // namespace gradwatt::planning

#include "gradwatt/planning/models/convergence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace gradwatt::planning {
namespace {

enum Place : std::size_t { kLeastSamples, kCritical };

/// Seeds differ by 3 to 8 % in the Zeus traces.
constexpr double kExpectedScatter = 0.06;
/// An end batch whose runs need this much more or less than the form is outside it.
constexpr double kFormTolerance = 0.15;
/// Fewer batches would make any form hold.
constexpr std::size_t kLeastBatches = 3;
/// A batch is admissible a little beyond the ones seen: one more doubling is a new experiment, a quarter of one is not.
constexpr double kAround = 1.2;
/// B_crit before any data: anywhere within a factor of some fifty around the batches tried.
constexpr double kCriticalSpread = 2;

using Outcomes = std::vector<TrainingOutcome>;

double samples(std::span<const double> p, double batch) { return p[kLeastSamples] * (1 + batch / p[kCritical]); }

std::vector<BatchVerdict> verdicts_of(std::span<const TrainingOutcome> outcomes) {
  std::map<double, BatchVerdict> by_batch;
  for (const auto& o : outcomes) {
    auto& v = by_batch[o.global_batch];
    v.global_batch = o.global_batch;
    ++v.runs;
    if (o.samples)
      v.samples = v.samples.value_or(0) + *o.samples;
    else
      ++v.failed;
  }
  std::vector<BatchVerdict> out;
  for (auto& [batch, v] : by_batch) {
    if (v.samples) *v.samples /= static_cast<double>(v.runs - v.failed);
    if (v.failed > 0) v.state = 2 * v.failed >= v.runs ? BatchState::does_not_converge : BatchState::unreliable;
    out.push_back(v);
  }
  return out;
}

/// The longest row of neighbours that all converge: an inner failure splits the range, and the larger part counts.
std::pair<std::size_t, std::size_t> reliable_row(const std::vector<BatchVerdict>& batches) {
  std::pair<std::size_t, std::size_t> best{0, 0};
  for (std::size_t i = 0; i < batches.size();) {
    std::size_t end = i;
    while (end < batches.size() && batches[end].state == BatchState::converges) ++end;
    if (end - i > best.second - best.first) best = {i, end};
    i = std::max(end, i + 1);
  }
  return best;
}

core::Result<Fit> fit_row(std::span<const TrainingOutcome> outcomes, double low, double high,
                          const std::optional<Known>& noise_scale) {
  Outcomes row;
  for (const auto& o : outcomes)
    if (o.samples && o.global_batch >= low && o.global_batch <= high) row.push_back(o);
  const double least = *std::ranges::min_element(row, {}, [](const auto& o) { return *o.samples; })->samples;
  const Known critical = noise_scale.value_or(Known{4 * std::sqrt(low * high), kCriticalSpread});
  Problem problem;
  problem.parameters = {{"least samples", "samples", least, 1},
                        {"critical batch", "samples", critical.value, critical.spread, 1e-6, 1e15}};
  problem.observations = row.size();
  problem.expected_scatter = kExpectedScatter;
  problem.residuals = [row](std::span<const double> p, std::span<double> r) {
    for (std::size_t i = 0; i < row.size(); ++i) r[i] = std::log(samples(p, row[i].global_batch) / *row[i].samples);
  };
  return fit(problem);
}

double misfit(const Fit& fit, const BatchVerdict& batch) {
  return std::abs(std::log(*batch.samples / samples(fit.values, batch.global_batch)));
}

core::Result<void> check(std::span<const TrainingOutcome> outcomes) {
  bool any = false;
  for (const auto& o : outcomes) {
    if (!(o.global_batch > 0) || (o.samples && !(*o.samples > 0)))
      return core::fail(
          core::Errc::unusable_input,
          fmt::format("a run with global batch {} and {} samples to the target is none: both must be above "
                      "zero (leave samples out where the target was not reached)",
                      o.global_batch, o.samples.value_or(0)));
    any |= o.samples.has_value();
  }
  if (!any)
    return core::fail(core::Errc::unusable_input,
                      "no run reached its target, so nothing says how many samples it takes; give one that did");
  return {};
}

const BatchVerdict* seen_at(const ConvergenceModel& model, double batch) {
  const auto at = std::ranges::find(model.batches, batch, &BatchVerdict::global_batch);
  return at == model.batches.end() ? nullptr : &*at;
}

}  // namespace

std::string_view name_of(BatchState state) {
  switch (state) {
    case BatchState::converges:
      return "converges";
    case BatchState::out_of_form:
      return "converges slowly";
    case BatchState::unreliable:
      return "sometimes does not converge";
    case BatchState::does_not_converge:
      return "did not converge";
  }
  return "";
}

core::Result<ConvergenceModel> fit_convergence(std::span<const TrainingOutcome> outcomes,
                                               std::optional<Known> noise_scale) {
  if (auto ok = check(outcomes); !ok) return core::fail(ok.error());
  ConvergenceModel out;
  out.batches = verdicts_of(outcomes);
  auto [begin, end] = reliable_row(out.batches);
  if (begin == end)
    return core::fail(
        core::Errc::unusable_input,
        "at every batch that was tried some run missed the target; give one batch whose runs all reach it");
  // The form is judged at its ends, where it breaks: the worse end goes until both agree with what is left.
  for (;;) {
    auto found = fit_row(outcomes, out.batches[begin].global_batch, out.batches[end - 1].global_batch, noise_scale);
    if (!found) return core::fail(found.error());
    out.fit = std::move(*found);
    const double below = misfit(out.fit, out.batches[begin]), above = misfit(out.fit, out.batches[end - 1]);
    if (end - begin <= kLeastBatches || std::max(below, above) <= kFormTolerance) break;
    out.batches[below > above ? begin++ : --end].state = BatchState::out_of_form;
  }
  out.smallest_batch = out.batches[begin].global_batch;
  out.largest_batch = out.batches[end - 1].global_batch;
  out.knows_batch = noise_scale.has_value() || end - begin > 1;
  return out;
}

double critical_batch(const ConvergenceModel& model) { return model.fit.values[kCritical]; }

double samples_to_target(const ConvergenceModel& model, double global_batch) {
  return samples(model.fit.values, global_batch);
}

Figure samples_figure(const ConvergenceModel& model, double global_batch) {
  return figure_of(model.fit, [global_batch](std::span<const double> p) { return samples(p, global_batch); });
}

std::optional<std::string> gap_of(const ConvergenceModel& model, double global_batch) {
  if (const auto* seen = seen_at(model, global_batch); seen != nullptr && seen->state != BatchState::converges)
    return fmt::format("global batch {:g} {} in {} of {} runs", global_batch, name_of(seen->state),
                       seen->failed > 0 ? seen->failed : seen->runs, seen->runs);
  const bool one = model.smallest_batch == model.largest_batch;
  const bool inside = global_batch >= model.smallest_batch / kAround && global_batch <= model.largest_batch * kAround;
  if (inside) return std::nullopt;
  if (one && !model.knows_batch)
    return fmt::format(
        "runs at global batch {:g} only do not say how many samples {:g} takes; train once at another batch, "
        "or give the gradient noise scale",
        model.smallest_batch, global_batch);
  // With a noise scale the form reaches to B_crit above and to any smaller batch that was not seen to fail.
  const bool by_noise_scale = one && global_batch <= std::max(model.largest_batch, critical_batch(model));
  if (by_noise_scale) return std::nullopt;
  return fmt::format(
      "global batch {:g} is {} the {:g} to {:g} at which runs reached the target as expected; train once there",
      global_batch, global_batch < model.smallest_batch ? "below" : "above", model.smallest_batch, model.largest_batch);
}

}  // namespace gradwatt::planning

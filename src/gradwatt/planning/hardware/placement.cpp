#include "gradwatt/planning/hardware/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace gradwatt::planning {
namespace {

using catalog::GpuRow;
using catalog::value_of;

/// Less than this apart, two estimates of energy are the same.
constexpr double kSame = 0.05;

/// Share of the way from idle to limit that the measured GPU used; of the limit where its idle power is not known.
double used_share(const Anchor& measured) {
  const auto limit = value_of(catalog::power_limit(*measured.gpu));
  const double idle = value_of(measured.gpu->power.idle_w).value_or(0);
  return limit && *limit > idle ? std::clamp((measured.power_avg_w - idle) / (*limit - idle), 0.0, 1.0) : 0;
}

std::optional<double> power_on(const GpuRow& gpu, const Anchor& measured) {
  if (&gpu == measured.gpu) return measured.power_avg_w;
  const auto limit = value_of(catalog::power_limit(gpu));
  if (!limit || !catalog::power_limit(*measured.gpu)) return std::nullopt;
  const double idle = value_of(gpu.power.idle_w).value_or(0);
  return idle + used_share(measured) * (*limit - idle);
}

Candidate judge(const GpuRow& gpu, const PlacementAsk& ask) {
  Candidate out{.gpu = &gpu, .measured = &gpu == ask.measured.gpu};
  auto batch = largest_local_batch(ask.memory, gpu);
  if (!batch) {
    out.verdict = batch.error().message;
    return out;
  }
  out.batch = *batch;
  if (ask.most_local_batch > 0) out.batch->samples = std::min(out.batch->samples, ask.most_local_batch);
  const auto gain = out.measured ? std::optional(Speedup{}) : speedup(ask.work, *ask.measured.gpu, gpu);
  out.power_w = power_on(gpu, ask.measured);
  if (!gain || !out.power_w) {
    out.verdict = fmt::format("its {} is not in the table; profile it there",
                              gain ? "power limit" : std::string(name_of(ask.work.arithmetic)) + " peak");
    return out;
  }
  const double rate = ask.measured.samples_per_s;
  out.samples_per_s = Range{rate * gain->low, rate * gain->middle, rate * gain->high};
  const double watts = *out.power_w + ask.base_w_per_gpu;
  out.energy_per_sample_j =
      Range{watts / out.samples_per_s->high, watts / out.samples_per_s->middle, watts / out.samples_per_s->low};
  return out;
}

/// A total order: within a group of equal energies the faster one first.
void sort_best_first(std::vector<Candidate>& candidates) {
  std::ranges::stable_sort(candidates, {}, [](const Candidate& c) {
    return std::tuple(!c.energy_per_sample_j, c.energy_per_sample_j ? c.energy_per_sample_j->middle : 0);
  });
  const auto judged = std::ranges::find_if(candidates, [](const Candidate& c) { return !c.energy_per_sample_j; });
  if (judged == candidates.begin()) return;
  const double least = candidates.front().energy_per_sample_j->middle;
  const auto near = std::ranges::find_if(candidates.begin(), judged, [&](const Candidate& c) {
    return c.energy_per_sample_j->middle > (1 + kSame) * least;
  });
  std::ranges::stable_sort(candidates.begin(), near, std::ranges::greater{},
                           [](const Candidate& c) { return c.samples_per_s->middle; });
}

std::string why_best(const Candidate& best) {
  return fmt::format(
      "least energy: {:.3g} J a sample{} at {:.0f} samples/s, local batch up to {}", best.energy_per_sample_j->middle,
      best.measured ? ""
                    : fmt::format(" ({:.3g}–{:.3g})", best.energy_per_sample_j->low, best.energy_per_sample_j->high),
      best.samples_per_s->middle, best.batch->samples);
}

std::string why_not(const Candidate& loser, const Candidate& best) {
  const double energy = loser.energy_per_sample_j->middle / best.energy_per_sample_j->middle;
  const double speed = loser.samples_per_s->middle / best.samples_per_s->middle;
  const bool overlap = loser.energy_per_sample_j->low <= best.energy_per_sample_j->high;
  auto text = energy <= 1 + kSame
                  ? fmt::format("the same energy within {:.0f} %, {:.2f} times the speed", 100 * kSame, speed)
                  : fmt::format("{:.2f} times the energy a sample, {:.2f} times the speed", energy, speed);
  if (overlap) text += "; the ranges overlap, so only a profile there decides";
  return text;
}

}  // namespace

core::Result<std::vector<Candidate>> place(const PlacementAsk& ask, std::span<const GpuRow* const> gpus) {
  if (gpus.empty()) return core::fail(core::Errc::wrong_use, "no GPU to choose from; name at least one");
  if (ask.measured.gpu == nullptr || !(ask.measured.samples_per_s > 0) || !(ask.measured.power_avg_w > 0))
    return core::fail(
        core::Errc::unusable_input,
        "a placement starts from a run: GPU, samples a second and mean power of one GPU; profile the job on "
        "any GPU first");
  std::vector<Candidate> out;
  for (const auto* gpu : gpus) out.push_back(judge(*gpu, ask));
  sort_best_first(out);
  if (!out.front().energy_per_sample_j) return out;
  out.front().verdict = why_best(out.front());
  for (auto& candidate : std::span(out).subspan(1))
    if (candidate.energy_per_sample_j) candidate.verdict = why_not(candidate, out.front());
  return out;
}

}  // namespace gradwatt::planning

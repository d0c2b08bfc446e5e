#include "gradwatt/energy/prediction.hpp"

#include <algorithm>
#include <cmath>

#include "gradwatt/energy/steps.hpp"
#include "gradwatt/energy/uncertainty.hpp"

namespace gradwatt::energy {
namespace {

using record::Mark;
using record::MarkKind;

constexpr std::size_t kLeastSteps = 20;
constexpr std::size_t kBlocks = 10;
constexpr std::size_t kWarmUpShare = 10;  ///< one part in so many

using Marks = std::vector<const Mark*>;

/// Ends of epochs that lie within the recorded steps count; the one still running does not.
std::optional<std::int64_t> steps_per_epoch(const record::Run& run, const Marks& steps) {
  std::vector<std::int64_t> counts;
  for (const auto& mark : run.marks) {
    if (mark.kind != MarkKind::epoch || mark.rank != steps.front()->rank) continue;
    const auto inside = [&](const Mark* s) { return s->end_ns > mark.begin_ns && s->end_ns <= mark.end_ns; };
    if (const auto n = std::ranges::count_if(steps, inside); n > 0) counts.push_back(n);
  }
  if (counts.empty()) return std::nullopt;
  const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
  std::ranges::nth_element(counts, middle);
  return *middle;
}

struct SteadyStep {
  double time_s = 0;
  double doubt_s = 0;  ///< half width of its 95 % interval
  Window window;       ///< of all blocks
};

/// Needs at least kLeastSteps steps.
SteadyStep steady_step(const Marks& steps) {
  const auto warm_up = std::max<std::size_t>(1, steps.size() / kWarmUpShare);
  const auto per_block = static_cast<double>(steps.size() - warm_up) / kBlocks;
  const auto end_of = [&](std::size_t block) {
    const auto past = warm_up + static_cast<std::size_t>(std::lround(per_block * static_cast<double>(block)));
    return std::pair{past, steps[past - 1]->end_ns};
  };
  std::vector<double> means;
  for (std::size_t block = 0; block < kBlocks; ++block) {
    const auto [from, begin_ns] = end_of(block);
    const auto [to, end_ns] = end_of(block + 1);
    if (to > from) means.push_back(Window{begin_ns, end_ns}.seconds() / static_cast<double>(to - from));
  }
  std::ranges::sort(means);
  const auto n = static_cast<double>(means.size());
  double mean = 0, squares = 0;
  for (const double m : means) mean += m / n;
  for (const double m : means) squares += (m - mean) * (m - mean);
  const double error = n > 1 ? std::sqrt(squares / (n - 1) / n) : mean;
  const auto half = means.size() / 2;
  const double median = means.size() % 2 == 1 ? means[half] : (means[half - 1] + means[half]) / 2;
  // The mean lies off the middle when blocks are lopsided: the interval must hold both.
  return {
      median, student_95(n - 1) * error + std::abs(mean - median), {steps[warm_up - 1]->end_ns, steps.back()->end_ns}};
}

/// Energy up to an instant: what was measured, and the job's mean power where nothing was.
std::optional<double> energy_until(const std::vector<Measured>& devices, Window part) {
  double sum = 0;
  bool any = false;
  for (const auto& device : devices) {
    if (!device.series || !device.figure.in_total || !device.figure.power_avg_w) continue;
    if (record::info(device.series->metric).kind == record::DeviceKind::node) continue;
    const auto measured = energy_within(device, part);
    const double covered_s = measured ? measured->covered_s : 0;
    sum += (measured ? measured->energy_j : 0) + *device.figure.power_avg_w * std::max(0.0, part.seconds() - covered_s);
    any = true;
  }
  if (!any) return std::nullopt;
  return sum;
}

double relative_doubt(const Totals& totals) {
  if (!totals.energy_j || !totals.low_j || !totals.high_j || *totals.energy_j <= 0) return 0;
  return (*totals.high_j - *totals.low_j) / 2 / *totals.energy_j;
}

}  // namespace

std::optional<std::int64_t> total_steps(const record::Run& run, const Options& options) {
  if (options.total_steps) return options.total_steps;
  const auto epochs =
      options.total_epochs ? std::optional(static_cast<double>(*options.total_epochs)) : fact_number(run, "job.epochs");
  if (!options.total_epochs)
    if (const auto known = fact_number(run, "job.total_steps")) return std::llround(*known);
  if (!epochs) return std::nullopt;
  const auto steps = leading_steps(run);
  if (steps.empty()) return std::nullopt;
  const auto each = steps_per_epoch(run, steps);
  if (!each) return std::nullopt;
  return std::llround(*epochs * static_cast<double>(*each));
}

std::optional<Prediction> predict(const record::Run& run, const std::vector<Measured>& devices, const Totals& totals,
                                  Window job, const Options& options) {
  const auto total = total_steps(run, options);
  const auto steps = leading_steps(run);
  if (!total || steps.size() < kLeastSteps || *total <= static_cast<std::int64_t>(steps.size())) return std::nullopt;
  const auto steady = steady_step(steps);
  const auto energy = whole_job_energy(devices, steady.window);
  const auto so_far_j = energy_until(devices, {job.begin_ns, steps.back()->end_ns});
  if (!energy || !so_far_j) return std::nullopt;

  Prediction out{.done_steps = static_cast<std::int64_t>(steps.size()), .total_steps = *total};
  const auto to_come = static_cast<double>(*total - out.done_steps);
  const double to_come_j = to_come * steady.time_s * energy->power_w;
  out.duration_s = Window{job.begin_ns, steps.back()->end_ns}.seconds() + to_come * steady.time_s;
  out.energy_j = *so_far_j + to_come_j;
  const double doubt_j = std::hypot(to_come * steady.doubt_s * energy->power_w, relative_doubt(totals) * out.energy_j);
  out.energy_low_j = std::max(0.0, out.energy_j - doubt_j);
  out.energy_high_j = out.energy_j + doubt_j;
  return out;
}

}  // namespace gradwatt::energy

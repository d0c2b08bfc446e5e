#include "gradwatt/planning/plan/preset_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "gradwatt/catalog/gpu_table.hpp"

namespace gradwatt::planning {
namespace {

/// The published figure of a node's base line is one run's; others of the kind differ by a tenth.
constexpr double kBaseSpread = 0.1;
/// Where none was published the coefficient of the whole node still is; how it divides is then open.
constexpr Known kUnknownBase{300, 0.5};

double nodes_of(const Preset& preset, double gpus) { return std::ceil(gpus / preset.gpus_per_node); }

template <class Visit>
void each_run(const Preset& preset, Visit visit) {
  for (const auto& run : preset.fixed_global_batch) visit(run);
  for (const auto& run : preset.fixed_local_batch) visit(run);
}

/// Where the samples of a job are not published its length cancels out: any number does.
constexpr double kAnyLength = 1e6;

double likely_batch(const Preset& preset, double gpus) {
  const auto most = [](const std::optional<Published>& figure, double otherwise) {
    return figure && figure->high ? *figure->high : otherwise;
  };
  const double by_memory = gpus * most(preset.local_batch_most, 1);
  return std::max(gpus, std::min(by_memory, most(preset.global_batch, by_memory)));
}

/// The published ones, where their work is known, and those that the user tells.
std::vector<PublishedRun> all_runs(const Preset& preset, std::span<const PublishedRun> told, bool published) {
  std::vector<PublishedRun> out;
  if (published) each_run(preset, [&](const PublishedRun& run) { out.push_back(run); });
  for (auto run : told) {
    if (run.global_batch <= 0) run.global_batch = static_cast<int>(likely_batch(preset, run.gpus));
    out.push_back(run);
  }
  return out;
}

std::vector<StepObservation> steps_of(const Preset& preset, std::span<const PublishedRun> runs, double samples) {
  std::vector<StepObservation> out;
  for (const auto& run : runs) {
    const double steps = samples / run.global_batch, gpus = run.gpus;
    out.push_back({{gpus, nodes_of(preset, gpus), run.global_batch / gpus, 1}, run.hours * 3600 / steps, std::nullopt});
  }
  return out;
}

std::optional<NodeEnergyModel> node_energy(const Preset& preset) {
  const auto& c = preset.energy_per_gpu_h_kwh;
  if (!c || !c->low || !c->high) return std::nullopt;
  std::vector<EnergyObservation> observed;
  const double gpus = preset.gpus_per_node;
  // Both ends, so that the interval spans them: full nodes at work.
  for (const double kw : {*c->low, *c->high}) observed.push_back({{1, gpus, 1, 1, 0}, 1000 * kw * gpus, std::nullopt});
  NodePowerPriors priors;
  priors.base_w = preset.node_base_kw && preset.node_base_kw->high
                      ? Known{1000 * *preset.node_base_kw->high, kBaseSpread}
                      : kUnknownBase;
  const auto* gpu = catalog::find_gpu(preset.gpu);
  if (gpu != nullptr && gpu->power.idle_w) priors.idle_w = {gpu->power.idle_w->value, 0.2};
  auto fitted = fit_node_energy(observed, priors);
  if (!fitted) return std::nullopt;
  return std::move(*fitted);
}

std::vector<double> gpu_counts(const Preset& preset, std::span<const PublishedRun> runs) {
  std::set<double> out;
  for (const auto& run : runs) out.insert(run.gpus);
  const double most = std::max<double>(*out.rbegin(), preset.gpus_per_node);
  for (double n = *out.begin(); n <= most; n *= 2) out.insert(n);
  return {out.begin(), out.end()};
}

std::vector<BatchChoice> batches_of(const Preset& preset, std::span<const PublishedRun> runs) {
  std::vector<BatchChoice> out;
  const auto add = [&](BatchRule rule, double samples) {
    const auto same = [&](const BatchChoice& b) { return b.rule == rule && b.samples == samples; };
    if (std::ranges::none_of(out, same)) out.push_back({rule, samples});
  };
  for (const auto& run : preset.fixed_global_batch) add(BatchRule::global, run.global_batch);
  for (const auto& run : preset.fixed_local_batch)
    add(BatchRule::local, static_cast<double>(run.global_batch) / run.gpus);
  for (const auto& run : runs) add(BatchRule::local, static_cast<double>(run.global_batch) / run.gpus);
  if (preset.global_batch && preset.global_batch->high) add(BatchRule::global, *preset.global_batch->high);
  std::erase_if(out, [&](const BatchChoice& b) {
    return b.rule == BatchRule::local && preset.local_batch_most && b.samples < *preset.local_batch_most->high;
  });
  return out;
}

void put_limits(const Preset& preset, PresetJob& out) {
  if (const auto& good = preset.global_batch; good && good->high)
    out.good_batches = GoodBatches{good->low.value_or(1), *good->high, std::string(good->source)};
  if (const auto& most = preset.local_batch_most; most && most->high) {
    out.most_local_batch = most->high;
    out.memory_origin = most->correction.empty() ? most->source : most->correction;
  }
}

/// Counts are written out.
std::string number(double value) {
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:g}", value);
}

std::string range(const Published& figure, double scale = 1) {
  if (!figure.low) return "up to " + number(*figure.high * scale);
  if (!figure.high || *figure.low == *figure.high) return number(*figure.low * scale);
  return number(*figure.low * scale) + " to " + number(*figure.high * scale);
}

}  // namespace

std::string what_it_says(const Preset& preset) {
  std::string out;
  const auto add = [&](const std::optional<Published>& figure, std::string_view before, std::string_view unit,
                       double scale = 1) {
    if (figure && (figure->low || figure->high))
      out += fmt::format("{}{}{}{}", out.empty() ? "" : "; ", before, range(*figure, scale), unit);
  };
  add(preset.energy_per_gpu_h_kwh, "", " kWh a GPU-hour");
  add(preset.gpu_power_kw, "a GPU alone ", " W", 1000);
  add(preset.node_base_kw, "a node without GPUs ", " W", 1000);
  add(preset.samples, "samples ", "");
  add(preset.epochs, "epochs ", "");
  add(preset.global_batch, "global batch ", "");
  add(preset.local_batch_most, "local batch ", "");
  each_run(preset, [&](const PublishedRun& run) {
    if (run.energy_kwh) out += fmt::format("; {} GPUs {:g} h and {:.3g} kWh", run.gpus, run.hours, *run.energy_kwh);
  });
  return out;
}

core::Result<PresetJob> preset_job(const Preset& preset, std::span<const ProfileRow> learnt,
                                   std::span<const PublishedRun> told) {
  const bool has_runs = !preset.fixed_global_batch.empty() || !preset.fixed_local_batch.empty();
  const bool has_length = preset.samples && preset.epochs;
  if (told.empty() && (!has_runs || !has_length))
    return core::fail(core::Errc::unusable_input,
                      fmt::format("{} publishes too little to plan its time: {}. Say what runs of it took (--hours "
                                  "GPUS=HOURS), or give a profile beside it (--from RUN or --profile TABLE.csv)",
                                  preset.name, what_it_says(preset)));
  const double samples = has_length ? *preset.samples->high * *preset.epochs->high : kAnyLength;
  const auto runs = all_runs(preset, told, has_length);
  auto steps = steps_of(preset, runs, samples);
  for (const auto& row : learnt) steps.push_back(row.step);
  auto throughput = fit_throughput(steps);
  if (!throughput) return core::fail(throughput.error());
  JobModel job;
  job.throughput = std::move(*throughput);
  if (!has_length) job.dataset_samples = samples, job.epochs = 1;
  auto out = fill_from(preset, std::move(job));
  out.gpus = gpu_counts(preset, runs);
  out.batches = batches_of(preset, runs);
  return out;
}

PresetJob fill_from(const Preset& preset, JobModel profiled) {
  PresetJob out{.job = std::move(profiled)};
  auto& job = out.job;
  if (!job.energy || !job.energy->knows_base)
    if (auto published = node_energy(preset)) {
      published->knows_base = true;
      job.energy = std::move(*published);
    }
  // Of several published sizes the largest; a job to a target gives its own samples.
  if (job.dataset_samples <= 0 && preset.samples && preset.epochs) job.dataset_samples = *preset.samples->high;
  if (!job.epochs && !job.convergence && preset.epochs) job.epochs = preset.epochs->high;
  put_limits(preset, out);
  return out;
}

}  // namespace gradwatt::planning

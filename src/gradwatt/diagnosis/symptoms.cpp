#include "gradwatt/diagnosis/symptoms.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradwatt::diagnosis {
namespace {

/// Seconds without a step or a byte from which a job counts as standing still: longer than a checkpoint or a compile.
constexpr double kHang_s = 120;
/// Kernels resident nearly always.
constexpr double kBusy_pct = 90;
/// A spin of all ranks draws little more than a loaded idle context.
constexpr double kLowPower = 0.6;

Symptom share_of(std::string_view what, double share, std::string_view fact) {
  return {share, fmt::format("{} {:.0f} % of the time", what, 100 * share), {std::string(fact)}};
}

}  // namespace

std::optional<Symptom> input_wait(const FactSheet& facts) {
  if (const auto share = facts.number("step.data_wait_share"))
    return Symptom{*share,
                   fmt::format("steps wait for their batch {:.0f} % of their time", 100 * *share),
                   {"step.data_wait_share"}};
  if (const auto share = facts.number("trace.loader_share"))
    return Symptom{
        *share,
        fmt::format("the training thread waits in the data loader {:.0f} % of the traced time", 100 * *share),
        {"trace.loader_share"}};
  const auto wait = facts.number("step.data_wait_s"), step = facts.number("step.time_s");
  if (wait && step && *step > 0)
    return Symptom{std::min(1.0, *wait / *step),
                   fmt::format("a step of {:.3g} s waits {:.3g} s for its batch", *step, *wait),
                   {"step.data_wait_s", "step.time_s"}};
  if (const auto worst = facts.number("step.data_wait_max_s"); worst && *worst >= 1)
    return Symptom{0.5, fmt::format("a step waits up to {:.3g} s for its batch", *worst), {"step.data_wait_max_s"}};
  const auto alone = facts.number("loader.alone_samples_per_s"), speed = facts.number("step.samples_per_s");
  if (const auto needed = facts.number("loader.needed_samples_per_s"); alone && needed && *needed > 0)
    return Symptom{
        std::clamp(1 - *alone / *needed, 0.0, 1.0),
        fmt::format("the loader yields {:.3g} samples a second, training would take {:.3g}", *alone, *needed),
        {"loader.alone_samples_per_s", "loader.needed_samples_per_s"}};
  if (alone && speed && *speed > 0 && *alone < 1.2 * *speed)
    return Symptom{0.5,
                   fmt::format("the loader alone yields {:.3g} samples a second, training {:.3g}", *alone, *speed),
                   {"loader.alone_samples_per_s", "step.samples_per_s"}};
  return std::nullopt;
}

std::optional<Symptom> exposed_communication(const FactSheet& facts) {
  for (const std::string_view name : {"step.comm_exposed_share", "trace.comm_exposed_share"})
    if (const auto share = facts.number(name)) return share_of("ranks wait for communication", *share, name);
  return std::nullopt;
}

std::optional<double> exposed_share(const FactSheet& facts) {
  const auto exposed = exposed_communication(facts);
  return exposed ? std::optional(exposed->value) : std::nullopt;
}

std::optional<double> usable_cpus(const FactSheet& facts) {
  for (const std::string_view name : {"host.cpu_budget", "host.cpus_allowed", "host.cpus"})
    if (const auto cores = facts.number(name)) return cores;
  return std::nullopt;
}

std::optional<Symptom> gpu_gaps(const FactSheet& facts) {
  for (const std::string_view name : {"trace.idle_share", "gpu.idle_share"})
    if (const auto share = facts.number(name)) return share_of("GPUs run no kernel", *share, name);
  if (const auto busy = facts.number("gpu.utilization_pct"))
    return Symptom{std::max(0.0, 1 - *busy / 100),
                   fmt::format("GPUs report {:.0f} % utilisation", *busy),
                   {"gpu.utilization_pct"}};
  return std::nullopt;
}

std::optional<Symptom> power_level(const FactSheet& facts) {
  auto power = facts.number("gpu.power_avg_w");
  const auto low = facts.number("gpu.power_min_w"), high = facts.number("gpu.power_max_w");
  if (!power && low && high) power = (*low + *high) / 2;
  if (const auto share = facts.number("gpu.power_range_share"))
    return Symptom{*share,
                   fmt::format("power stands at {:.0f} % of the range from idle to limit", 100 * *share),
                   {"gpu.power_range_share"}};
  const auto limit = facts.number("gpu.power_limit_w");
  if (!power || !limit || *limit <= 0) return std::nullopt;
  const double idle = facts.number("gpu.power_idle_w").value_or(0.1 * *limit);
  if (idle >= *limit) return std::nullopt;
  return Symptom{std::clamp((*power - idle) / (*limit - idle), 0.0, 1.0),
                 fmt::format("GPUs draw {:.0f} W of {:.0f} W", *power, *limit),
                 {facts.has("gpu.power_avg_w") ? "gpu.power_avg_w" : "gpu.power_max_w", "gpu.power_limit_w"}};
}

std::optional<Symptom> busy_at_low_power(const FactSheet& facts) {
  const auto busy = facts.number("gpu.utilization_pct");
  const auto power = power_level(facts);
  if (!busy || !power || *busy < kBusy_pct || power->value >= kLowPower) return std::nullopt;
  auto names = power->facts;
  names.emplace_back("gpu.utilization_pct");
  return Symptom{power->value, fmt::format("{:.0f} % utilisation, while {}", *busy, power->text), std::move(names)};
}

std::optional<Symptom> idle_cores(const FactSheet& facts) {
  const auto cores = usable_cpus(facts);
  if (!cores || *cores <= 0) return std::nullopt;
  for (const std::string_view name :
       {"job.cores_busy", "loader.cores_used", "job.cpus_used_distinct", "host.cores_busy"})
    if (const auto busy = facts.number(name))
      return Symptom{std::clamp(1 - *busy / *cores, 0.0, 1.0),
                     fmt::format("{:.3g} of {:.0f} CPUs are busy", *busy, *cores),
                     {std::string(name), "host.cpus"}};
  return std::nullopt;
}

std::optional<Symptom> scaling(const FactSheet& facts, std::string_view what) {
  for (const auto& [name, faster_is_more] : {std::pair{"scaling.samples_per_s", true},
                                             std::pair{"scaling.step_s", false}, std::pair{"scaling.epoch_s", false}}) {
    const auto points = sized(facts, name, what);
    if (points.size() < 2 || points.front().value <= 0 || points.back().value <= 0) continue;
    const auto& few = points.front();
    const auto& many = points.back();
    if (many.size <= few.size) continue;
    // A step of the same local batch keeps its length under ideal scaling, samples and epochs go by the size.
    const double growth = many.size / few.size;
    const double gained = faster_is_more ? many.value / few.value : few.value / many.value;
    const double ideal = std::string_view(name) == "scaling.step_s" ? 1 : growth;
    return Symptom{gained / ideal,
                   fmt::format("from {:.0f} to {:.0f} {} the speed changes by a factor of {:.2f} (ideal {:.0f})",
                               few.size, many.size, what, gained, ideal),
                   {name}};
  }
  if (const auto efficiency = facts.number("scaling.efficiency"))
    return Symptom{
        *efficiency, fmt::format("scaling efficiency is {:.0f} %", 100 * *efficiency), {"scaling.efficiency"}};
  return std::nullopt;
}

std::optional<bool> several_hosts(const FactSheet& facts) {
  if (const auto nodes = facts.number("job.nodes")) return *nodes > 1;
  if (sized(facts, "scaling.samples_per_s", "nodes").size() + sized(facts, "scaling.step_s", "nodes").size() > 1)
    return true;
  return std::nullopt;
}

std::optional<bool> several_ranks(const FactSheet& facts) {
  for (const std::string_view name : {"job.world_size", "gpu.count"})
    if (const auto ranks = facts.number(name); ranks && *ranks > 1) return true;
  if (const auto several = several_hosts(facts); several && *several) return true;
  if (const auto ranks = facts.number("job.world_size")) return *ranks > 1;
  return std::nullopt;
}

bool trains_on_cpus(const FactSheet& facts) { return facts.text("job.device") == "cpu"; }

std::optional<Symptom> hang(const FactSheet& facts) {
  if (const auto hangs = facts.highest("comm.hangs"); hangs && *hangs > 0)
    return Symptom{1, "a collective never ends", {"comm.hangs"}};
  if (const auto still = facts.number("job.no_progress_s"); still && *still >= kHang_s)
    return Symptom{1, fmt::format("no step and no byte for {:.0f} s", *still), {"job.no_progress_s"}};
  if (facts.is("job.hangs").value_or(false))
    return Symptom{1, "the job stands still while its processes live", {"job.hangs"}};
  return std::nullopt;
}

bool at_rest(const FactSheet& facts, std::string_view gpu) {
  constexpr double kResting_pct = 20;
  const auto busy = facts.number("gpu.utilization_pct", gpu);
  return busy && *busy < kResting_pct;
}

std::optional<Symptom> odd_gpu(const FactSheet& facts) {
  constexpr double kSpinning_pct = 25, kWorking = 2;
  const record::Fact* odd = nullptr;
  double busiest = 0, most_of_others = 0;
  std::size_t gpus = 0, spinning = 0;
  for (const auto* fact : facts.all("gpu.sm_active_pct")) {
    const auto active = record::as_number(*fact);
    const auto busy = facts.number("gpu.utilization_pct", fact->subject);
    if (fact->subject == "job" || !active || !busy) continue;
    ++gpus;
    if (*busy >= kBusy_pct && *active > 0 && *active <= kSpinning_pct) {
      ++spinning;
      most_of_others = std::max(most_of_others, *active);
    } else {
      odd = fact;
      busiest = *active;
    }
  }
  if (gpus < 2 || spinning + 1 != gpus || odd == nullptr || most_of_others <= 0 || busiest < kWorking * most_of_others)
    return std::nullopt;
  return Symptom{
      busiest / most_of_others,
      fmt::format("{} uses {:.0f} % of its SM cycles, the other {} only wait with {:.0f} % at 100 % utilisation",
                  odd->subject, busiest, spinning, most_of_others),
      {"gpu.sm_active_pct", "gpu.utilization_pct"}};
}

std::optional<bool> consumer_gpu(const FactSheet& facts) {
  const auto geforce = facts.text_holds("gpu.name", "rtx 40"), newer = facts.text_holds("gpu.name", "rtx 50");
  if (!geforce) return std::nullopt;
  return *geforce || *newer;
}

std::optional<bool> server_gpu(const FactSheet& facts) {
  std::optional<bool> is;
  for (const std::string_view name :
       {"a100", "a800", "h100", "h800", "h200", "h20", "b200", "gb200", "gh200", "mi250", "mi300"})
    if (const auto holds = facts.text_holds("gpu.name", name)) is = is.value_or(false) || *holds;
  return is;
}

std::optional<Symptom> bursty_input_wait(const FactSheet& facts) {
  constexpr double kBurst = 5;
  const auto mean = facts.number("step.data_wait_s"), most = facts.number("step.data_wait_max_s");
  if (!mean || !most || *mean <= 0 || *most < kBurst * *mean) return std::nullopt;
  // Bursts of next to nothing are no symptom.
  if (const auto share = facts.number("step.data_wait_share"); share && *share < kWorthMentioning) return std::nullopt;
  return Symptom{*most / *mean,
                 fmt::format("the wait for a batch varies from {:.3g} s on average to {:.3g} s", *mean, *most),
                 {"step.data_wait_max_s", "step.data_wait_s"}};
}

std::optional<Symptom> slower_on_more_hosts(const FactSheet& facts) {
  const auto sizes = sized(facts, "scaling.samples_per_s", "nodes");
  if (sizes.size() >= 2 && sizes.back().value < sizes.front().value)
    return Symptom{sizes.back().value / sizes.front().value,
                   fmt::format("{:.0f} hosts together do {:.3g} samples a second, {:.0f} {:.3g}", sizes.back().size,
                               sizes.back().value, sizes.front().size, sizes.front().value),
                   {"scaling.samples_per_s"}};
  if (facts.text_holds("scaling.observation", "more nodes").value_or(false))
    return Symptom{0.9, "more hosts make it slower", {"scaling.observation"}};
  return std::nullopt;
}

}  // namespace gradwatt::diagnosis

// Runs with hand-made summaries for the tests of the reports: an eight-GPU job with everything known, a laptop without
// a single power sensor, an import, and a run that was cut short.
#pragma once

#include <string>

#include "gradwatt/energy/summary.hpp"

namespace gradwatt::report::testing {

struct Example {
  record::Run run;
  energy::Summary summary;
};

inline record::DeviceIndex add_device(Example& e, record::DeviceKind kind, int index, std::string uuid,
                                      std::string name, std::string host) {
  e.run.devices.push_back({kind, std::move(uuid), std::move(name), index, std::move(host), {}});
  return static_cast<record::DeviceIndex>(e.run.devices.size() - 1);
}

inline energy::DeviceEnergy measured(record::DeviceIndex device, double power_w, double seconds, record::How how) {
  energy::DeviceEnergy d;
  d.device = device;
  d.energy_j = power_w * seconds;
  d.power_avg_w = power_w;
  d.how = how;
  d.coverage = 1;
  return d;
}

inline energy::Component component_of(std::string name, std::vector<energy::DeviceEnergy> devices, double low,
                                      double high) {
  energy::Component c;
  c.component = std::move(name);
  c.coverage = 1;
  double energy_j = 0, power_w = 0;
  for (const auto& d : devices) {
    energy_j += *d.energy_j, power_w += *d.power_avg_w;
    c.how = std::max(c.how, d.how), c.coverage = std::min(c.coverage, d.coverage);
  }
  c.energy_j = energy_j, c.power_avg_w = power_w;
  c.low_j = energy_j * low, c.high_j = energy_j * high;
  c.devices = std::move(devices);
  return c;
}

inline void add_up(energy::Totals& totals) {
  double sum = 0, low = 0, high = 0;
  totals.coverage = 1;
  for (const auto& c : totals.components) {
    if (!c.energy_j) continue;
    sum += *c.energy_j, low += c.low_j.value_or(0), high += c.high_j.value_or(0);
    totals.how = std::max(totals.how, c.how), totals.where = c.where;
    totals.coverage = std::min(totals.coverage, c.coverage);
  }
  totals.energy_j = sum, totals.low_j = low, totals.high_j = high;
  for (auto& c : totals.components)
    if (c.energy_j) c.share = *c.energy_j / sum;
}

inline record::Fact number_fact(std::string name, double value) {
  record::Fact fact;
  fact.name = std::move(name), fact.subject = "host", fact.value = value, fact.source = "gradwatt";
  return fact;
}

/// Eight H100 at 3 a.m.: everything is known.
inline Example eight_gpus() {
  constexpr double kSeconds = 11220;
  Example e;
  e.run.set(record::meta::kRunId, "20261130-030512-a3f1");
  e.run.set(record::meta::kCommand, "torchrun --nproc-per-node 8 train.py --model resnet50");
  e.run.set(record::meta::kJobBegin, std::int64_t{0});
  e.run.set(record::meta::kJobEnd, static_cast<std::int64_t>(kSeconds * 1e9));
  e.run.set(record::meta::kInterval, std::int64_t{1'000'000'000});
  std::vector<energy::DeviceEnergy> gpus, cpus;
  for (int i = 0; i < 8; ++i) {
    const auto gpu =
        add_device(e, record::DeviceKind::gpu, i, "GPU-" + std::to_string(i), "NVIDIA H100 80GB HBM3", "node07");
    gpus.push_back(measured(gpu, 262 + 3.5 * (i % 3), kSeconds, record::How::counter));
    e.run.quality.push_back({.device = gpu,
                             .metric = record::metric(record::DeviceKind::gpu, "energy"),
                             .scope = "gpu",
                             .source = "nvml total energy",
                             .cadence_ns = 1'000'000'000,
                             .readings = 11220,
                             .failed = i == 5 ? 12U : 0U});
    for (const auto& [name, mean] : {std::pair{"utilization", 98.9},
                                     {"sm_active", 34.0},
                                     {"tensor_active", 11.0},
                                     {"power_avg", 265.0},
                                     {"power_limit_enforced", 700.0},
                                     {"sm_clock", 1935.0}})
      e.summary.statistics.push_back({gpu, *record::find_metric(record::DeviceKind::gpu, name), mean, mean * 0.8,
                                      mean * 1.2, mean * 0.85, mean, mean * 1.1, kSeconds});
  }
  for (int i = 0; i < 2; ++i)
    cpus.push_back(measured(add_device(e, record::DeviceKind::cpu, i, "cpu-package-" + std::to_string(i),
                                       "Intel Xeon Platinum 8480C", "node07"),
                            175, kSeconds, record::How::counter));
  const auto ram = add_device(e, record::DeviceKind::dram, 0, "dram-host", "host memory", "node07");
  auto& s = e.summary;
  s.run_id = "20261130-030512-a3f1", s.complete = true, s.exit_status = 0, s.duration_s = kSeconds;
  s.energy.components = {component_of("gpu", std::move(gpus), 0.95, 1.05),
                         component_of("cpu", std::move(cpus), 0.97, 1.03),
                         component_of("ram", {measured(ram, 118, kSeconds, record::How::modelled)}, 0.6, 1.4)};
  add_up(s.energy);
  s.energy.not_measured = {"network", "storage", "fans", "power supply losses"};
  energy::Steps steps;
  steps.count = 71905, steps.ranks = 8, steps.span_s = 11180;
  steps.steps_per_s = 6.43, steps.samples_per_s = 13170, steps.samples = 147261440;
  steps.energy_per_sample_j = 0.1977, steps.energy_per_step_j = 404.9, steps.energy_how = record::How::modelled;
  steps.step_median_s = 0.1512, steps.step_p95_s = 0.1841;
  steps.phase_share = {0.38, 0.17, 0.31, 0.09, 0.03, std::nullopt, std::nullopt, 0.02};
  s.steps = steps;
  s.profiles.push_back({.device = record::DeviceIndex{0},
                        .idle_w = 72,
                        .mean_w = 265,
                        .p5_w = 88,
                        .p95_w = 412,
                        .swing = 1.22,
                        .falls_to_base = 132,
                        .stability = 0.6});
  s.marks = {{.kind = record::MarkKind::epoch, .number = 0, .duration_s = 3600, .energy_j = 3.8e6},
             {.kind = record::MarkKind::epoch, .number = 1, .duration_s = 3600, .energy_j = 3.9e6},
             {.kind = record::MarkKind::region, .name = "evaluation", .duration_s = 60, .energy_j = 81000}};
  s.gpu_kwh_per_gpu_hour = 0.2649;
  s.prediction = energy::Prediction{71905, 450000, 1.83e8, 70200, 1.79e8, 1.87e8};
  s.consequences = {s.energy.energy_j.value() * 1.2, 2.71, 3100};
  e.run.facts = {number_fact("sampler.ticks", 11220), number_fact("sampler.late_ticks", 3),
                 number_fact("sampler.cpu_s", 4.1), number_fact("sampler.rss_bytes", 12e6)};
  return e;
}

/// A two-core virtual machine: no GPU, CPU and RAM by model only.
inline Example small_host() {
  constexpr double kSeconds = 63.4;
  Example e;
  e.run.set(record::meta::kRunId, "20261130-141002-9c0d");
  e.run.set(record::meta::kCommand, "python3 train.py --epochs 2");
  e.run.set(record::meta::kJobBegin, std::int64_t{0});
  e.run.set(record::meta::kJobEnd, static_cast<std::int64_t>(kSeconds * 1e9));
  e.run.set(record::meta::kInterval, std::int64_t{1'000'000'000});
  const auto cpu = add_device(e, record::DeviceKind::cpu, 0, "cpu-package-0", "AMD EPYC", "vm");
  auto& s = e.summary;
  s.run_id = "20261130-141002-9c0d", s.complete = true, s.exit_status = 137, s.duration_s = kSeconds;
  energy::Component gpu{.component = "gpu", .why_not = "the job has no GPU"};
  energy::Component ram{.component = "ram", .why_not = "no sensor, and the size of the memory modules is unknown"};
  auto modelled = measured(cpu, 14.2, kSeconds * 0.97, record::How::modelled);
  modelled.coverage = 0.97;
  s.energy.components = {gpu, component_of("cpu", {modelled}, 0.55, 1.6), ram};
  add_up(s.energy);
  s.energy.estimated_j = 27.0;
  s.energy.not_measured = {"RAM", "network", "storage"};
  s.warnings = {"The clock of the host jumped by 2.00 s at 31.0 s; times after that are by the monotonic clock."};
  e.run.facts = {number_fact("sampler.ticks", 63), number_fact("sampler.late_ticks", 0),
                 number_fact("sampler.cpu_s", 0.021)};
  return e;
}

/// An nvidia-smi recording: power only, wall clock, a name that tries to steer the terminal.
inline Example imported() {
  constexpr double kSeconds = 600;
  Example e;
  e.run.set(record::meta::kRunId, "power.csv");
  e.run.set(record::meta::kSource, "power\x1b[2J.csv");
  e.run.set(record::meta::kWhere, "imported");
  e.run.set(record::meta::kClock, "wall");
  const auto gpu = add_device(e, record::DeviceKind::gpu, 0, "GPU-a", "NVIDIA A100-SXM4-40GB", "");
  const auto lost = add_device(e, record::DeviceKind::gpu, 1, "GPU-b", "NVIDIA A100-SXM4-40GB", "");
  auto& s = e.summary;
  s.run_id = "power.csv", s.complete = true, s.duration_s = kSeconds;
  auto integrated = measured(gpu, 181.2, kSeconds, record::How::integrated);
  integrated.where = record::Where::imported;
  auto component = component_of("gpu", {integrated}, 0.93, 1.07);
  component.where = record::Where::imported;
  energy::DeviceEnergy without;
  without.device = lost, without.why_not = "its power column says [N/A] in every row";
  component.devices.push_back(without);
  s.energy.components = {component,
                         {.component = "cpu", .why_not = "not in the recording"},
                         {.component = "ram", .why_not = "not in the recording"}};
  add_up(s.energy);
  s.energy.where = record::Where::imported;
  s.cross_checks.push_back({gpu, 1.0e5, 1.087e5, 600, 0.087, 0.02, energy::CrossCheck::Verdict::suspect, ""});
  s.warnings = {"GPU 0: its energy counter says 100 kJ, its power adds up to 109 kJ: one of them is wrong."};
  return e;
}

/// Thirty-two GPUs on four hosts, the recorder killed: no end, no exit status.
inline Example cut_short() {
  constexpr double kSeconds = 95;
  Example e;
  e.run.set(record::meta::kRunId, "812345.0");
  e.run.set(record::meta::kCommand, "python train.py");
  std::vector<energy::DeviceEnergy> gpus;
  for (int i = 0; i < 32; ++i)
    gpus.push_back(measured(add_device(e, record::DeviceKind::gpu, i % 8, "GPU-" + std::to_string(i), "NVIDIA A100",
                                       "node0" + std::to_string(1 + i / 8)),
                            i == 21 ? 144 : 380 + i % 5, kSeconds, record::How::counter));
  auto& s = e.summary;
  s.run_id = "812345.0", s.duration_s = kSeconds;
  s.energy.components = {component_of("gpu", std::move(gpus), 0.95, 1.05),
                         {.component = "cpu", .why_not = "reading the counters needs a right that is missing"},
                         {.component = "ram", .why_not = "no sensor"},
                         {.component = "rest", .why_not = "the node meter did not answer"}};
  add_up(s.energy);
  s.energy.coverage = 0.874;
  s.warnings = {"a", "b", "c", "d", "e", "f"};
  return e;
}

}  // namespace gradwatt::report::testing

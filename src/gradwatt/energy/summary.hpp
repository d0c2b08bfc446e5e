// Everything that a report says about a run, computed once: totals and their split, steps, power profile, cross-checks.
// Pure: same run, same summary. Each figure keeps its origin; what is not known is absent, never zero.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gradwatt/record/run.hpp"
#include "gradwatt/record/store.hpp"

namespace gradwatt::energy {

/// Energy of one device over the job's extent.
struct DeviceEnergy {
  record::DeviceIndex device{};
  std::optional<record::MetricId> metric;  ///< the series it rests on; nothing: no usable series
  std::optional<double> energy_j;          ///< over the covered time only
  std::optional<double> power_avg_w;       ///< energy_j / covered time
  record::How how = record::How::counter;
  record::Where where = record::Where::live;
  double coverage = 0;  ///< covered time / job's duration, 0–1
  std::optional<double> low_j,
      high_j;                         ///< 95 % interval of energy_j: sampling error, sensor uncertainty, counter edges
  std::string interval_contains;      ///< the same in words: "counter edges, sensor ±5 %"; empty without interval
  std::optional<double> estimated_j;  ///< filled for the time not covered, at power_avg_w; not in energy_j
  bool in_total = true;  ///< false: counted elsewhere (MIG slice of a counted parent, module beside its parts)
  std::string why_not;   ///< reason when energy_j is absent or in_total is false
};

/// gpu, cpu, ram, rest (what a node meter shows beyond the measured parts).
struct Component {
  std::string component;
  std::optional<double> energy_j, power_avg_w, share;  ///< share of the total, 0–1
  record::How how = record::How::counter;              ///< weakest of its devices
  record::Where where = record::Where::live;
  double coverage = 0;  ///< smallest of its devices
  std::optional<double> low_j, high_j, estimated_j;
  std::vector<DeviceEnergy> devices;
  std::string why_not;
};

struct Totals {
  std::optional<double> energy_j;  ///< sum of the components that have one
  record::How how = record::How::counter;
  record::Where where = record::Where::live;
  double coverage = 0;
  std::optional<double> low_j, high_j, estimated_j;
  std::vector<Component> components;      ///< gpu, cpu, ram always present, rest only beside a node meter
  std::vector<std::string> not_measured;  ///< names for the reader: "RAM", "network", …
};

/// Counter energy against integrated average power of the same device (monitors.md: warning over 2 %, suspect over 5
/// %).
struct CrossCheck {
  record::DeviceIndex device{};
  double counter_j = 0, integrated_j = 0, window_s = 0;
  double difference = 0;  ///< (integrated − counter) / counter
  double allowed = 0;     ///< combined stated uncertainty
  enum class Verdict { agrees, warning, suspect, not_judged } verdict = Verdict::not_judged;
  std::string reason;  ///< of not_judged
};

/// Time-weighted statistics of one gauge of one device.
struct Statistics {
  record::DeviceIndex device{};
  record::MetricId metric{};
  double mean = 0, min = 0, max = 0, p5 = 0, p50 = 0, p95 = 0;
  double covered_s = 0;
};

/// Optimiser steps of the job. Rank 0's steps, or the lowest rank's that has any, unless said otherwise.
struct Steps {
  std::int64_t count = 0;
  double span_s = 0;                                             ///< first begin to last end
  std::optional<double> steps_per_s, samples_per_s;              ///< samples over all ranks
  std::optional<std::int64_t> samples;                           ///< over all ranks
  std::optional<double> energy_per_sample_j, energy_per_step_j;  ///< of the span's energy
  record::How energy_how = record::How::counter;
  std::optional<double> step_median_s, step_p95_s;
  std::array<std::optional<double>, record::kPhases> phase_share{};  ///< of step time, 0–1, mean over ranks
  std::int64_t ranks = 0;                                            ///< that sent steps
};

/// Energy of an epoch, a region or (only where it spans ≥ 10 counter updates) a step.
struct MarkEnergy {
  record::MarkKind kind{};
  std::string name;
  std::int64_t number = 0;
  std::int32_t rank = 0;
  double begin_s = 0, duration_s = 0;   ///< relative to the job's begin
  std::optional<double> energy_j;       ///< of the measured devices of the whole job (mark_energy.hpp)
  std::optional<double> low_j, high_j;  ///< how far the edges between two readings may be off
  record::How how = record::How::counter;
  std::optional<std::int64_t> samples;  ///< over all ranks
};

/// The shape of one device's power over time.
struct PowerProfile {
  record::DeviceIndex device{};
  std::optional<record::MetricId> metric;  ///< the series it shows; nothing: differences of the energy counter
  std::optional<double> idle_w;            ///< base line: lowest level held; before the job where it was seen
  double mean_w = 0, p5_w = 0, p95_w = 0;
  double swing = 0;                ///< (p95 − p5) / mean
  std::int64_t falls_to_base = 0;  ///< times that power fell to the base line in mid-job
  double stability = 0;            ///< 1 − coefficient of variation, not below 0
};

/// What the user's own factors make of it; nothing is assumed.
struct Factors {
  std::optional<double> pue;
  std::optional<double> price_per_kwh;
  std::string currency;
  std::optional<double> co2_g_per_kwh;
};
struct Consequences {
  std::optional<double> facility_energy_j;  ///< energy × PUE
  std::optional<double> price, co2_g;       ///< of the facility energy where PUE is given, else of the energy
};

/// The whole job from what was seen so far, where its length is known.
struct Prediction {
  std::int64_t done_steps = 0, total_steps = 0;
  double energy_j = 0, duration_s = 0;  ///< of the whole job; always estimated
  double energy_low_j = 0, energy_high_j = 0;
};

struct Summary {
  std::string run_id;
  bool complete = false;
  std::optional<std::int64_t> exit_status;
  double duration_s = 0;
  Totals energy;
  std::vector<CrossCheck> cross_checks;
  std::vector<Statistics> statistics;
  std::vector<PowerProfile> profiles;
  std::optional<Steps> steps;
  std::vector<MarkEnergy> marks;  ///< epochs, regions, and steps that are long enough
  std::optional<double> gpu_kwh_per_gpu_hour;
  std::optional<Prediction> prediction;
  Consequences consequences;
  std::vector<std::string>
      warnings;  ///< one sentence each: lost sensors, rejected counter steps, clock jumps, lost rows
};

struct Options {
  Factors factors;
  std::optional<std::int64_t> total_steps, total_epochs;
};

[[nodiscard]] Summary summarize(const record::Run& run, const Options& options = {});

/// The columns that summarize() reads: what a report loads.
[[nodiscard]] record::LoadOptions columns_for_summary();

}  // namespace gradwatt::energy

// What a training cost on all its hosts: each host's part, and their sum. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/energy/summary.hpp"

namespace gradwatt::app {

struct HostCost {
  enum class MeasuredBy : std::uint8_t { trainer, run };  ///< run: `gradwatt run`, whose report has the energy
  MeasuredBy by = MeasuredBy::run;
  std::optional<double> energy_j, low_j, high_j;  ///< from the start to the end; 95 % interval
  record::How how = record::How::counter;         ///< weakest of its parts
  double coverage = 0;                            ///< of the time, 0–1
  std::vector<std::string> not_measured;
  std::optional<double> steps_energy_j;  ///< from the first update to the last
  std::optional<std::int64_t> samples;   ///< of this host's ranks in that time
};

[[nodiscard]] HostCost cost_of(const energy::Summary& summary);

/// One line of text, to be sent to other ranks, and back. Error: unusable_input.
[[nodiscard]] std::string to_line(const HostCost& cost);
[[nodiscard]] core::Result<HostCost> host_cost_from(const std::string& line);

struct TrainingCost {
  std::size_t hosts = 0, hosts_below_run = 0;
  std::size_t measured_hosts = 0;  ///< that the energy is of
  std::optional<double> energy_j, low_j, high_j;
  record::How how = record::How::counter;     ///< weakest of the hosts
  double coverage = 0;                        ///< smallest of the hosts
  std::vector<std::string> not_measured;      ///< on any host, each once
  std::optional<double> energy_per_sample_j;  ///< only where every host's energy is known
};

/// Energies and the ends of their intervals add up: sensors of different hosts may err the same way.
[[nodiscard]] TrainingCost sum_of(std::span<const HostCost> hosts);

/// What the user reads about it, a line each and without line breaks.
[[nodiscard]] std::vector<std::string> lines_about(const TrainingCost& cost);

}  // namespace gradwatt::app

// Which series a device's energy rests on, and the energy itself. A counter comes first: it cannot miss anything
// between two readings. Power is integrated only where no counter moved.
#pragma once

#include <optional>
#include <vector>

#include "gradwatt/energy/counter_energy.hpp"
#include "gradwatt/energy/integrate.hpp"
#include "gradwatt/energy/summary.hpp"
#include "gradwatt/energy/uncertainty.hpp"

namespace gradwatt::energy {

/// A device's energy and what is needed to ask for parts of it later.
struct Measured {
  DeviceEnergy figure;
  Spread spread;  ///< behind figure.low_j and high_j
  double covered_s = 0;
  std::optional<Series> series;        ///< what figure.metric names; refers to the run
  std::vector<std::int64_t> reset_ns;  ///< of a counter
  bool has_candidates = false;         ///< the run holds a power or energy series of it, usable or not

  [[nodiscard]] bool by_counter() const {
    return series && record::info(series->metric).type == record::MetricType::counter;
  }
  /// It counts the whole superchip module, CPU and memory included.
  [[nodiscard]] bool whole_module() const;
};

/// Never fails: a device without a usable series comes back with the reason in figure.why_not.
[[nodiscard]] Measured measure(const record::Run& run, record::DeviceIndex device, Window job);

/// Energy and covered time within any window, by the same series and rules.
struct PartEnergy {
  double energy_j = 0, covered_s = 0;
  double edges_j = 0;  ///< how far the edges may be off
};
[[nodiscard]] std::optional<PartEnergy> energy_within(const Measured& device, Window window);

/// Shortest time between two changes of the device's energy that the record can tell apart.
[[nodiscard]] std::int64_t resolution_ns(const Measured& device);

/// Series that can carry a device's energy, best first.
[[nodiscard]] std::vector<record::MetricId> energy_candidates(record::DeviceKind kind);

/// "GPU 3", "CPU 0", "RAM": a short name for sentences.
[[nodiscard]] std::string short_name(const record::Device& device);

}  // namespace gradwatt::energy

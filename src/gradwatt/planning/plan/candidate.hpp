// One setting of the grid, what it would take, and which limits it breaks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/planning/plan/question.hpp"

namespace gradwatt::planning {

/// What can keep a setting from being a plan; in this order a setting that breaks several is explained.
enum class Limit : std::uint8_t {
  whole_batch,  ///< the global batch does not divide among the replicas
  unknown,      ///< the profile cannot say what it would take
  memory,
  least_batch,
  most_batch,
  risk,
  whole_nodes,
  nodes,
  deadline,
  energy,
  cost,
};
inline constexpr std::size_t kLimits = 11;
[[nodiscard]] std::string_view name_of(Limit limit);  ///< "deadline", as in JSON and options

class LimitSet {
 public:
  void add(Limit limit) { bits_ |= bit(limit); }
  [[nodiscard]] bool has(Limit limit) const { return (bits_ & bit(limit)) != 0; }
  [[nodiscard]] bool none() const { return bits_ == 0; }
  [[nodiscard]] bool only(Limit limit) const { return bits_ == bit(limit); }
  [[nodiscard]] int count() const { return __builtin_popcount(bits_); }
  [[nodiscard]] std::optional<Limit> first() const;
  friend bool operator==(LimitSet, LimitSet) = default;

 private:
  static std::uint32_t bit(Limit limit) { return 1U << static_cast<unsigned>(limit); }
  std::uint32_t bits_ = 0;
};

/// Middle figures; those of a setting that breaks `unknown` or `whole_batch` mean nothing.
struct Candidate {
  Setting setting;
  std::uint16_t hardware = 0, strategy = 0, batch = 0;  ///< positions on the axes
  double time_s = 0;
  double gpu_hours = 0;
  std::optional<double> energy_j;  ///< of the machines; nothing where node power is not known
  std::optional<double> cost;      ///< energy at the building's meter and GPU-hours, as far as they have a price
  /// Doublings of the global batch beyond those at which the target was reached; 0 inside, nothing where none is known.
  std::optional<double> risk;
  LimitSet broken;
};

/// The whole grid; neighbours of one candidate are the settings that differ from it on one axis by one place.
struct Grid {
  std::vector<Candidate> candidates;
  std::vector<std::size_t> extent;  ///< places on each axis, the slowest first

  [[nodiscard]] std::vector<std::size_t> neighbours(std::size_t of) const;
};

[[nodiscard]] Grid evaluate(const Question& question);

/// The job on this candidate's hardware and with its way to exchange gradients.
[[nodiscard]] JobModel job_of(const Question& question, const Candidate& candidate);

/// Energy at the building's meter.
[[nodiscard]] std::optional<double> facility_energy_j(const Question& question, const Candidate& candidate);

}  // namespace gradwatt::planning

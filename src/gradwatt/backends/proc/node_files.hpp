// The files of the host as a whole: /proc/stat, /proc/meminfo, pressure stall information.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gradwatt::proc {

/// CPU time of all CPUs since boot, in user ticks. Guest time is inside user time and not counted again.
struct CpuTimes {
  std::int64_t total = 0;
  std::int64_t idle = 0;  ///< without iowait
  std::int64_t iowait = 0;
  std::int64_t steal = 0;

  [[nodiscard]] std::int64_t busy() const { return total - idle - iowait; }
};

struct StatFile {
  CpuTimes cpus;
  std::optional<std::int64_t> context_switches, running, blocked;
};
/// Nothing when the text has no "cpu" line.
[[nodiscard]] std::optional<StatFile> parse_stat(std::string_view text);

/// Shares of the time between two readings, in percent. Nothing when no time passed. A figure that went backwards
/// (the kernel's iowait may) counts as standing still.
struct CpuShares {
  double busy_pct = 0, iowait_pct = 0, steal_pct = 0;
};
[[nodiscard]] std::optional<CpuShares> shares_between(const CpuTimes& before, const CpuTimes& after);

struct Memory {
  std::int64_t total_bytes = 0;
  std::int64_t available_bytes = 0;
  std::int64_t cached_bytes = 0;
};
[[nodiscard]] std::optional<Memory> parse_meminfo(std::string_view text);

/// Total of the "some" line of a /proc/pressure file, µs.
[[nodiscard]] std::optional<std::int64_t> parse_pressure_us(std::string_view text);

}  // namespace gradwatt::proc

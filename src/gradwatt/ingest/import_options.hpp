// What a user can say about a recording that does not say it itself.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gradwatt/core/clock.hpp"

namespace gradwatt::ingest {

struct ImportOptions {
  /// Time between the lines of one GPU, where the file has no time column (`--interval 1s`).
  std::optional<core::Duration> interval;
  /// Names of the columns, where the file has no header (`--columns timestamp,power.draw`).
  std::vector<std::string> columns;
  /// Unit of a column whose name or header lies: {"gpu_power_w", "mW"} (`--unit gpu_power_w=mW`).
  std::map<std::string, std::string, std::less<>> units;
  /// Zone of times that are written without one (`--utc-offset +02:00`); nothing: unknown, read as UTC.
  std::optional<std::chrono::minutes> utc_offset;
};

}  // namespace gradwatt::ingest

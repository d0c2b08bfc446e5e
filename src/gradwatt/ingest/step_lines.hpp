// Lines that training programs print about their steps: one function a family of programs, one row each in the table.
//
// Only programs that print times are here. A line tells a step's number and how long it took, some also how much of
// that was waiting for data; running averages since the begin of the epoch are kept apart from the printed sample.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gradwatt::ingest {

struct StepLine {
  std::optional<std::int64_t> epoch, step;         ///< as printed; the step within its epoch, or since the begin
  std::optional<std::int64_t> steps;               ///< of the epoch or the whole
  std::optional<double> time_s, data_s;            ///< of the printed step, or mean since the last line
  std::optional<double> time_mean_s, data_mean_s;  ///< mean over the epoch so far
  std::optional<double> samples_per_s;             ///< over all ranks, where the program says so
  std::optional<double> elapsed_s;                 ///< since the program's begin
  std::optional<double> global_batch;
};

struct StepFormat {
  std::string_view name;  ///< of the program, for people
  /// Nothing when the line is of another kind.
  std::optional<StepLine> (*read)(std::string_view line);
  bool only_bar = false;  ///< a progress bar: used only where the file holds nothing better
};
[[nodiscard]] std::span<const StepFormat> step_formats();

}  // namespace gradwatt::ingest

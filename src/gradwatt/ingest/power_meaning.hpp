// What nvidia-smi's plain "power.draw" is: a one-second average or a short window, by the generation of the GPU.
#pragma once

#include <optional>
#include <string_view>

namespace gradwatt::ingest {

enum class PowerKind {
  average,  ///< mean over about 1 s, delayed by about as much
  window,   ///< a short window: swings are real, part of the time may be unseen
};

struct PowerMeaning {
  PowerKind kind = PowerKind::average;
  std::optional<double> duty;  ///< share of time that the reading sees; nothing: unknown
  std::string_view note;       ///< for the reader of a report
  bool known = false;          ///< false: the name tells no generation, and average is assumed
};

/// By the product name as nvidia-smi prints it ("NVIDIA H100 80GB HBM3"); an empty name is an unknown GPU.
[[nodiscard]] PowerMeaning power_draw_of(std::string_view gpu_name);
/// The same for power.draw.instant.
[[nodiscard]] std::optional<double> duty_of_instant(std::string_view gpu_name);

}  // namespace gradwatt::ingest

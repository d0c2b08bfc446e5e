// What vendors say about CPUs: the one place for thermal design powers, so that bounds and models rest on the same
// figures. A new CPU is one row in cpu_table.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gradwatt::catalog {

struct CpuRow {
  std::string_view model;        ///< as in the cleaned model name: "EPYC 7763", "Xeon Gold 6248"
  double tdp_w;                  ///< thermal design power (Intel since 2021: processor base power) of one package
  std::optional<double> peak_w;  ///< sustained turbo power where the vendor states one above the TDP
  int cores;                     ///< of one package
  int memory_channels;           ///< of one package
  std::string_view source;       ///< of all figures of the row
};
[[nodiscard]] std::span<const CpuRow> cpu_table();

/// "Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz" -> "Intel Xeon Gold 6248".
[[nodiscard]] std::string clean_cpu_name(std::string_view model_name);

/// The row of a CPU by what /proc/cpuinfo calls it; null when no row names exactly this model. A name without a model
/// number ("AMD EPYC", as guests see it) never matches: it could be any.
[[nodiscard]] const CpuRow* find_cpu(std::string_view model_name);

/// Power of one package from its utilisation u (0–1): P = idle + (full − idle) · u^alpha.
/// Valid for server and desktop CPUs under mixed load with turbo on; low and high are factors between which the true
/// package power is expected to lie. Origin: fit to package power over TDP of 0.12, 0.32, 0.75 and 1.02 at 0, 10, 50
/// and 100 % load, published by Teads Engineering ("Estimating AWS EC2 Instances Power Consumption", 2021); the fit is
/// within 8 % of each of the four. The range is an assumption: it spans what idle states, clocks and instruction mix
/// do.
struct CpuPowerCurve {
  double idle_share = 0.12;
  double alpha = 0.6;
  double low = 0.5;
  double high = 1.6;
};
[[nodiscard]] double package_power_w(double full_w, double utilization, const CpuPowerCurve& curve = {});

/// Full power of one core where the CPU is not in the table: the middle of the table, whose rows lie between 2.6 and
/// 19.4 W a core; the factors span those and, below, the curve's own range.
struct UnknownCore {
  double full_w = 5.0;
  double low = 0.25;
  double high = 4.0;
};

/// Power of memory modules in the host. The figure of a module is the middle of what makers state: Crucial support
/// ("How much power does memory use?") says 5 W for a standard module as a high estimate for sizing power supplies;
/// registered modules draw more when busy, all draw less when idle.
struct MemoryModulePower {
  double watts = 4.0;
  double low = 0.4;
  double high = 2.0;
  std::string_view source = "Crucial support, How much power does memory use? (5 W a module, a high estimate)";
};

}  // namespace gradwatt::catalog

#include "gradwatt/planning/presets/article_figures.hpp"

#include <fmt/format.h>

#include "gradwatt/planning/presets/preset.hpp"

namespace gradwatt::planning {
namespace {

const Preset& resnet() { return **find_preset("resnet50-a100"); }

std::string runs_table(std::span<const PublishedRun> runs) {
  std::string text = "  GPUs  global batch  hours (budget)  GPU-hours  energy kWh\n";
  for (const auto& run : runs) {
    const auto energy = published_energy(resnet(), run.gpus, run.hours);
    text += fmt::format("  {:>4}  {:>12}  {:>14.3g}  {:>9.0f}  {}\n", run.gpus, run.global_batch, run.hours,
                        energy->gpu_hours, fmt::format("{:.1f}–{:.1f}", energy->low_kwh, energy->high_kwh));
  }
  return text;
}

}  // namespace

std::string coefficient_table() {
  std::string text = "  preset                kWh a GPU-hour  kW a node of 4\n";
  for (const auto* name : {"resnet50-a100", "fourcastnet-a100", "fourcastnet-h100"}) {
    const auto& preset = **find_preset(name);
    const auto& c = *preset.energy_per_gpu_h_kwh;
    text += fmt::format("  {:<20}  {:>14}  {}\n", name, fmt::format("{:.2f}–{:.2f}", *c.low, *c.high),
                        fmt::format("{:.2f}–{:.2f}", *c.low * preset.gpus_per_node, *c.high * preset.gpus_per_node));
  }
  return text;
}

std::string fixed_global_batch_table() { return runs_table(resnet().fixed_global_batch); }
std::string fixed_local_batch_table() { return runs_table(resnet().fixed_local_batch); }

std::string h100_energy_line() {
  constexpr double kLeastTime = 0.70, kMostTime = 0.75;  // 25–30 % less
  const auto& a100 = *(*find_preset("fourcastnet-a100"))->energy_per_gpu_h_kwh;
  const auto& h100 = *(*find_preset("fourcastnet-h100"))->energy_per_gpu_h_kwh;
  const double ratio = (*h100.low + *h100.high) / (*a100.low + *a100.high);
  return fmt::format("  {:.2f}–{:.2f} of the time × {:.2f} of the power a GPU-hour = {:.2f}–{:.2f} of the energy\n",
                     kLeastTime, kMostTime, ratio, kLeastTime * ratio, kMostTime * ratio);
}

std::string host_share_table() {
  std::string text = "  GPUs  kWh a GPU-hour  of it CPU and memory\n";
  const double gpu = *resnet().gpu_power_kw->high, base = *resnet().node_base_kw->high;
  for (const int gpus : {1, 2, 4})
    text += fmt::format("  {:>4}  {:>14.3f}  {:.0f} %\n", gpus, gpu + base / gpus, 100 * base / (gpus * gpu + base));
  return text;
}

}  // namespace gradwatt::planning

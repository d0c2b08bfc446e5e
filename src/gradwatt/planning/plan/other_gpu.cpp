#include "gradwatt/planning/plan/other_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradwatt::planning {
namespace {

using catalog::GpuRow;
using catalog::value_of;

constexpr double kNormal90 = 1.6448536269514722;
/// How a program uses a card's power range differs between cards: an assumption, as wide as the gap between published
/// pairs (FourCastNet, A100 to H100: 49 % of the range becomes 24 %).
constexpr double kPowerSpread = 0.35;

struct PowerRatios {
  double idle = 1, active = 1;
};
std::optional<PowerRatios> power_ratios(const NodePower& power, const GpuRow& from, const GpuRow& to) {
  const auto from_limit = value_of(catalog::power_limit(from)), to_limit = value_of(catalog::power_limit(to));
  const auto from_idle = value_of(from.power.idle_w), to_idle = value_of(to.power.idle_w);
  if (!from_limit || !to_limit || power.idle_w <= 0 || power.active_w <= 0) return std::nullopt;
  const double idle = from_idle && to_idle ? *to_idle / *from_idle : 1;
  const double used = power.active_w / (*from_limit - power.idle_w);
  return PowerRatios{idle, std::max(0.05, used * (*to_limit - idle * power.idle_w) / power.active_w)};
}

/// What ran there fits here too where there is as much memory; where there is less, at most in proportion.
void scale_memory(const GpuRow& from, const GpuRow& to, HardwareOption& out) {
  if (!out.most_local_batch) return;
  const auto here = value_of(from.memory.gb), there = value_of(to.memory.gb);
  const double share = here && there ? std::min(1.0, *there / *here) : 1;
  out.most_local_batch = std::floor(*out.most_local_batch * share);
  out.memory_origin = share < 1 ? "in proportion to memory, rather less: to be tried" : "what fits the measured GPU";
}

}  // namespace

core::Result<const GpuRow*> gpu_by_name(std::string_view name) {
  if (const auto* row = catalog::find_gpu(name)) return row;
  std::string names;
  for (const auto* row : catalog::gpus_like(name)) names += (names.empty() ? "" : ", ") + std::string(row->name);
  return core::fail(core::Errc::wrong_use,
                    fmt::format("no GPU is called '{}' in the table{}", name,
                                names.empty() ? "; docs/hardware-table.md lists them" : "; it has " + names));
}

core::Result<HardwareOption> on_other_gpu(const HardwareOption& measured, const GpuRow& from, const GpuRow& to,
                                          const Workload& work) {
  const auto gain = speedup(work, from, to);
  if (!gain)
    return core::fail(core::Errc::unusable_input,
                      fmt::format("how fast {} would be cannot be said: the table lacks the {} peak or the memory "
                                  "bandwidth of one of {} and {}; profile it there",
                                  to.name, name_of(work.arithmetic), from.name, to.name));
  HardwareOption out = measured;
  out.name = to.name;
  out.job.cap.reset();
  scale_memory(from, to, out);
  const double spread = std::log(gain->high / gain->low) / 2 / kNormal90;
  out.job.throughput = scaled(std::move(out.job.throughput), 1 / gain->middle, 1, spread);
  if (out.job.energy) {
    const auto ratios = power_ratios(node_power(*out.job.energy), from, to);
    if (ratios)
      out.job.energy = with_gpu(std::move(*out.job.energy), ratios->idle, ratios->active, kPowerSpread);
    else
      out.job.energy.reset();
  }
  out.origin = fmt::format("{} from {}: {:.2g} to {:.2g} times as fast by roofline", kCarriedOver, from.name, gain->low,
                           gain->high);
  return out;
}

}  // namespace gradwatt::planning

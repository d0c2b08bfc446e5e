// The same job on a GPU that it was not measured on: time by roofline, power by the share of the way from idle to limit
// that the measured GPU used. Both are estimates; their ranges go into every interval. Model and known error:
// hardware/roofline.hpp, hardware/placement.hpp.
#pragma once

#include "gradwatt/catalog/gpu_table.hpp"
#include "gradwatt/core/result.hpp"
#include "gradwatt/planning/hardware/roofline.hpp"
#include "gradwatt/planning/plan/question.hpp"

namespace gradwatt::planning {

/// Caps do not carry over: the result has no cap curve. Unusable input where a figure that is
/// needed stands in no table: which, and what to do.
[[nodiscard]] core::Result<HardwareOption> on_other_gpu(const HardwareOption& measured, const catalog::GpuRow& from,
                                                        const catalog::GpuRow& to, const Workload& work);

/// By name. Wrong use with the rows that may be meant.
[[nodiscard]] core::Result<const catalog::GpuRow*> gpu_by_name(std::string_view name);

}  // namespace gradwatt::planning

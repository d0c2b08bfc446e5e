// What a recorded device says of itself, in the form that the catalog's rows take over.
#pragma once

#include "gradwatt/catalog/gpu_table.hpp"
#include "gradwatt/record/device.hpp"

namespace gradwatt::planning {

/// Limits, memory and slot from the device's attributes, as NVML and imports write them; what is not there or is no
/// number above zero is missing.
[[nodiscard]] catalog::LiveGpu live_gpu(const record::Device& device);

/// The catalog's row of the device with what it says of itself; a GPU in no table has that alone. The row's name refers
/// to the device where it is in no table.
[[nodiscard]] catalog::GpuRow gpu_of(const record::Device& device);

}  // namespace gradwatt::planning

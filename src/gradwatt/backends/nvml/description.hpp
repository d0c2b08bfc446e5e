// What is fixed about a GPU or slice during a run: its entry in the record, its limits, and its facts.
#pragma once

#include <string>
#include <vector>

#include "gradwatt/backends/nvml/bounds.hpp"
#include "gradwatt/backends/nvml/inventory.hpp"
#include "gradwatt/backends/nvml/series_reader.hpp"
#include "gradwatt/record/device.hpp"
#include "gradwatt/record/fact.hpp"

namespace gradwatt::nvml {

struct Description {
  record::Device device;
  DeviceLimits limits;
  CounterCeilings ceilings;
};
[[nodiscard]] Description describe_gpu(const Library& library, const Gpu& gpu);
/// The slice as a device of its own, with attribute "parent".
[[nodiscard]] Description describe_slice(const Gpu& parent, const MigSlice& slice);

/// Modes of the GPU as they are now; unknown ones are left out.
[[nodiscard]] std::vector<record::Fact> facts_of(const Library& library, const Gpu& gpu);
[[nodiscard]] record::Fact share_fact(const MigSlice& slice);

}  // namespace gradwatt::nvml

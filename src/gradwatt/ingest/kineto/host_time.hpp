// What the host does in its steps: waiting for batches, waiting for the device, allocating device memory.
#pragma once

#include <cstdint>
#include <optional>

#include "gradwatt/ingest/kineto/step_window.hpp"

namespace gradwatt::ingest::kineto {

/// Time in which the stepping thread waits in the data loader, inside the window. Nothing where the trace has no range
/// of PyTorch's DataLoader on that thread: another loader leaves none, so no range is not "no wait".
[[nodiscard]] std::optional<Intervals> loader_waits(const StepWindow& window);

/// The stepping thread loads its batches itself: every range of the loader is of the iterator that PyTorch uses for
/// num_workers=0. False where some is not, or there is none; how many workers there are else, no range says.
[[nodiscard]] bool loads_without_workers(const StepWindow& window, const NameTable& calls);

struct DeviceWaits {
  std::uint64_t calls = 0;
  Intervals time;  ///< of any thread
};
[[nodiscard]] DeviceWaits device_waits(const StepWindow& window);

/// Calls that allocate or free device memory: none in the steady state, because PyTorch keeps what it freed.
[[nodiscard]] std::uint64_t allocations(const StepWindow& window);

/// Whether the input shapes of one operator, called equally often, differ between steps. Nothing without shapes
/// (record_shapes=True) or with fewer than two steps.
[[nodiscard]] std::optional<bool> shapes_vary(const StepWindow& window);

}  // namespace gradwatt::ingest::kineto

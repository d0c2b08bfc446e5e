// Collective operations: how many, how large, how long. On a GPU they are kernels of NCCL or RCCL; without one, ranges
// of Gloo on the host.
#pragma once

#include <cstdint>
#include <optional>

#include "gradwatt/ingest/kineto/kernel_class.hpp"
#include "gradwatt/ingest/kineto/step_window.hpp"

namespace gradwatt::ingest::kineto {

struct Collectives {
  std::uint64_t count = 0;
  std::optional<std::uint64_t> bytes;  ///< that this rank put in; nothing where the trace does not say
  double time_ns = 0;                  ///< sum over them: waiting for other ranks and transfer
  bool on_host = false;                ///< ranges on the host: no device communicates
};

[[nodiscard]] Collectives collectives_of(const StepWindow& window, const std::vector<KernelTraits>& traits);

}  // namespace gradwatt::ingest::kineto

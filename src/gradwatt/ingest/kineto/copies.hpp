// Copies from host to device: from what memory, and how fast.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "gradwatt/ingest/kineto/name_table.hpp"
#include "gradwatt/ingest/kineto/trace.hpp"

namespace gradwatt::ingest::kineto {

struct HostCopies {
  std::uint64_t bytes = 0;
  double time_ns = 0;                                  ///< sum over the copies
  std::uint64_t pageable_bytes = 0, pinned_bytes = 0;  ///< ROCm says neither
  /// Bytes a second while copies run; nothing without bytes or time.
  [[nodiscard]] std::optional<double> rate() const;
  /// Nothing where the trace does not say from what memory.
  [[nodiscard]] std::optional<double> pageable_share() const;
};

[[nodiscard]] HostCopies host_copies(std::span<const DeviceEvent> work, const NameTable& kernels);

}  // namespace gradwatt::ingest::kineto

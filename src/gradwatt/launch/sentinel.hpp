// Tells whether a signal went to gradwatt alone or to its whole process group. The kernel does not say: siginfo of
// kill(pid) and kill(-group) are the same, and a launcher that signals every process of a job (Slurm, systemd) looks
// like a person who signals one. So a small process that does nothing stands in the same group and session step: what
// reached it too was meant for all, and the job has got it already.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/result.hpp"
#include "gradwatt/launch/descriptor.hpp"

namespace gradwatt::launch {

/// The process holds no descriptor of gradwatt's, has all signals blocked, and ends when gradwatt ends in any way.
class Sentinel {
 public:
  /// Start it before threads. Error: io (no new process).
  [[nodiscard]] static core::Result<Sentinel> start();
  Sentinel(Sentinel&& other) noexcept;
  Sentinel& operator=(Sentinel&& other) noexcept;
  ~Sentinel();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Signals that reached it since clear(): bit n−1 for signal n. Exact even while it waits for a CPU, as the kernel's
  /// pending set is read. Nothing when it is gone or cannot be read.
  [[nodiscard]] std::optional<std::uint64_t> received(const core::FileTree& files) const;
  void clear();
  /// Someone else reaped it: it is gone.
  void forget() { pid_ = -1; }

 private:
  Sentinel(pid_t pid, Descriptor orders) : pid_(pid), orders_(std::move(orders)) {}
  void end();
  pid_t pid_ = -1;
  Descriptor orders_;  ///< a byte: clear; closed: end
};

}  // namespace gradwatt::launch

// The processes of this host as /proc shows them: parents, groups, states. For following a tree by its root.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gradwatt/core/file_tree.hpp"

namespace gradwatt::launch {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  char state = '?';                 ///< R, S, D, T (stopped), Z (ended, not reaped), …
  std::uint64_t started_ticks = 0;  ///< since boot; with the pid an identity that is never used twice
  std::string name;

  [[nodiscard]] bool stopped() const { return state == 'T'; }
  [[nodiscard]] bool ended() const { return state == 'Z' || state == 'X'; }
};

/// Nothing when there is no such process (any more).
[[nodiscard]] std::optional<Process> read_process(const core::FileTree& files, pid_t pid);

using ProcessTable = std::map<pid_t, Process>;
/// Every process that can be seen. Takes milliseconds on a busy host: not for each tick.
[[nodiscard]] ProcessTable read_processes(const core::FileTree& files);
/// The roots that exist and all their descendants, roots first; each once.
[[nodiscard]] std::vector<pid_t> tree_of(const ProcessTable& processes, std::span<const pid_t> roots);
/// `pid` is `ancestor` or one of its descendants, by what /proc says now.
[[nodiscard]] bool descends_from(const core::FileTree& files, pid_t pid, pid_t ancestor);

}  // namespace gradwatt::launch

// The files of one process under /proc, as numbers.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/kept_file.hpp"

namespace gradwatt::proc {

/// /proc/PID/stat. Times are in the kernel's user ticks (sysconf(_SC_CLK_TCK) a second).
struct PidStat {
  char state = '?';
  pid_t parent = 0;
  std::int64_t own_ticks = 0;     ///< CPU time of its threads, ended ones included
  std::int64_t reaped_ticks = 0;  ///< CPU time of children that it waited for, and of theirs
  std::int64_t threads = 0;
  std::int64_t resident_pages = 0;
  std::uint64_t start_ticks = 0;  ///< since boot: with the pid it names the process for good
  std::optional<int> cpu;         ///< that it ran on last

  [[nodiscard]] bool ended() const { return state == 'Z' || state == 'X'; }
};
/// The command name may hold spaces, parentheses and line breaks.
[[nodiscard]] std::optional<PidStat> parse_pid_stat(std::string_view text);
[[nodiscard]] core::Result<PidStat> read_pid_stat(const core::FileTree& tree, pid_t pid);

/// /proc/PID/io: what went to or came from storage, not the page cache; children that were waited for are included.
struct PidIo {
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
};
[[nodiscard]] core::Result<PidIo> read_pid_io(const core::FileTree& tree, pid_t pid);

/// The same files of a process that is read again and again, kept open. Once the process is gone they may be those of
/// the next one with its pid: start_ticks tells.
class KeptPidFiles {
 public:
  KeptPidFiles(const core::FileTree& tree, pid_t pid);
  [[nodiscard]] core::Result<PidStat> stat(std::string& buffer);
  [[nodiscard]] core::Result<PidIo> io(std::string& buffer);

 private:
  core::KeptFile stat_, io_;
};

/// schedstat of a thread, in ns.
struct SchedStat {
  std::int64_t run_ns = 0;    ///< on a CPU
  std::int64_t delay_ns = 0;  ///< runnable without one
};
[[nodiscard]] std::optional<SchedStat> parse_schedstat(std::string_view text);
/// "17 (NCCL Progress 0) S …" -> "NCCL Progress 0".
[[nodiscard]] std::string_view name_in_stat(std::string_view text);

/// The process ids of /proc, listed in pieces: on a host with thousands of processes one listing takes milliseconds.
/// A process born or ended meanwhile may or may not be among them.
class PidListing {
 public:
  explicit PidListing(const core::FileTree& tree);
  ~PidListing();
  PidListing(const PidListing&) = delete;
  PidListing& operator=(const PidListing&) = delete;

  /// Lists one more piece (some fifty ids); false when all are listed or /proc cannot be opened.
  bool advance();
  /// What was listed, ascending.
  [[nodiscard]] std::vector<pid_t> take();

 private:
  int folder_;
  std::vector<pid_t> pids_;
};

}  // namespace gradwatt::proc

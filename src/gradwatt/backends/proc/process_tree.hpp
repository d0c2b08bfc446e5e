// Totals over the job's processes: its roots and all their descendants, those that ended included.
//
// How CPU time is kept whole when processes end. A process has its own time and that of children it waited for.
// The total is the sum of both over the living, plus `ended`. When a process is gone, the time last seen of it either
// has moved into its parent's reaped time, or is lost to the kernel's books (nobody waited, or the parent is not of
// the job). So the nearest living ancestor is read again; as much of the time as its reaped time rose by (in this and
// the last round) has moved there, and the rest goes to `ended`. The published total never falls. Children that lived
// and ended between two readings are seen through their parent's reaped time. Storage bytes are kept by the same rule;
// there the kernel adds a child's bytes to its parent's own.
//
// Cost: the pids are listed only when the kernel gave out new ones, at a pace that the listing's own cost sets, and
// only unknown pids are opened; then the job's processes are read in turn. All of it stops when the tick's budget is
// spent and goes on in the next. /proc/PID/task is never opened here.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "gradwatt/backends/proc/pid_files.hpp"
#include "gradwatt/core/clock.hpp"
#include "gradwatt/core/file_tree.hpp"

namespace gradwatt::proc {

class ProcessTree {
 public:
  struct Totals {
    std::int64_t cpu_ticks = 0;
    std::int64_t resident_pages = 0;
    std::int64_t processes = 0;
    std::int64_t threads = 0;
    std::optional<std::int64_t> read_bytes, written_bytes;  ///< nothing: no process let us read it
  };

  /// `budget`: time that one update may take; more work waits for the next. Something is always done: one piece of the
  /// list, one unknown and one known process. The constructor looks at all that runs already, however long it takes.
  ProcessTree(core::FileTree tree, const core::Clock& clock, core::Duration budget);

  void set_roots(const std::vector<pid_t>& roots);
  /// One tick's work.
  void update();
  [[nodiscard]] Totals totals() const;
  /// The job's living processes with their parents.
  [[nodiscard]] std::vector<std::pair<pid_t, pid_t>> processes() const;
  [[nodiscard]] bool contains(pid_t pid) const { return processes_.contains(pid); }

 private:
  enum Account { kCpu, kRead, kWritten };
  static constexpr std::size_t kAccounts = 3;
  /// A figure that moves to the parent when the process has been waited for.
  struct Ledger {
    std::int64_t value = 0;
    std::int64_t rise_now = 0, rise_before = 0;  ///< not yet matched with a process that is gone, by round
    void take(std::int64_t& amount);             ///< matches as much of `amount` as rose
  };
  struct Process {
    pid_t parent = 0;
    std::uint64_t start_ticks = 0;
    std::int64_t reaped_ticks = 0;
    std::int64_t threads = 0, resident_pages = 0;
    bool ended = false;  ///< a zombie: counts no more, its time does
    bool seen = false, io_seen = false;
    std::uint64_t notice = 0;  ///< value of notice_ when it was read last
    std::array<Ledger, kAccounts> ledgers{};
  };
  struct Grave {
    pid_t parent;
    std::uint64_t round;
  };

  /// True when all of the host's processes are known.
  bool scan(core::Instant deadline);
  void scan_in_turn(core::Instant begin, core::Instant deadline);
  void forget_gone(const std::vector<pid_t>& pids);
  void adopt_descendants();
  void adopt(pid_t pid, pid_t parent);
  void visit_in_turn(core::Instant deadline);
  void end_round();
  /// False when the process is gone or its pid names another one now.
  bool refresh(pid_t pid, Process& process, bool with_io);
  void retire(pid_t pid);
  Process* living_ancestor(pid_t pid);
  void publish();

  core::FileTree tree_;
  const core::Clock& clock_;
  core::Duration budget_;
  std::set<pid_t> roots_;
  std::map<pid_t, Process> processes_;
  std::unordered_map<pid_t, pid_t> others_;  // pid -> parent of what is not (yet) the job's
  std::unordered_map<pid_t, Grave> graves_;
  std::array<std::int64_t, kAccounts> ended_{};
  std::array<std::int64_t, kAccounts> published_{};
  bool io_known_ = false;
  std::uint64_t notice_ = 0;  // grows when processes are noticed to be gone: heirs read before that are stale
  std::uint64_t round_ = 0;
  pid_t next_ = 0;                     // where the round goes on
  std::string last_pid_;               // as /proc/loadavg had it when the last scan began
  std::optional<PidListing> listing_;  // a scan under way
  std::vector<pid_t> unknown_;         // found by it and not yet opened, descending
  core::Duration scan_cost_{0};
  bool roots_changed_ = false;
  core::Instant next_scan_{};
};

}  // namespace gradwatt::proc

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
// only unknown pids are opened; then the job's processes are read in turn. All of it stops when the budget is spent.
// A look for new processes goes on in catch_up() between the ticks, and its finds join all at once when it is done:
// no total is ever published of a part of them. /proc/PID/task is never opened here.
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
#include "gradwatt/core/kept_file.hpp"

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

  /// `budget`: time that one call may take; more work waits for the next. Something is always done: one piece of the
  /// list, one unknown and one known process.
  ProcessTree(core::FileTree tree, const core::Clock& clock, core::Duration budget);

  void set_roots(const std::vector<pid_t>& roots);
  /// One tick's work.
  void update();
  /// A look for new processes is under way or wanted.
  [[nodiscard]] bool behind() const { return look_ != Look::none || roots_changed_; }
  /// Goes on with it.
  void catch_up();
  /// Nothing until the first look has found all of the job's processes.
  [[nodiscard]] std::optional<Totals> totals() const;
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

  /// The stages of a look for new processes.
  enum class Look { none, listing, opening, adopting };
  void begin_look_if_due();
  /// The newest process id that the kernel gave out, in buffer_: while it stands still no process was born.
  [[nodiscard]] std::string_view newest_pid();
  void look(core::Instant deadline);
  void list(core::Instant deadline);
  void open_unknown(core::Instant deadline);
  void adopt(core::Instant deadline);
  void end_look();
  void forget_gone(const std::vector<pid_t>& pids);
  /// Those of others_ that belong to the job, parents before their children.
  [[nodiscard]] std::vector<std::pair<pid_t, pid_t>> descendants() const;
  void visit_in_turn(core::Instant deadline);
  void end_round();
  [[nodiscard]] core::Result<PidStat> read_stat(pid_t pid);
  [[nodiscard]] core::Result<PidIo> read_io(pid_t pid);
  /// Null for a job with many processes: looking up a path costs more than reading, but open files are scarce.
  [[nodiscard]] KeptPidFiles* kept_files(pid_t pid);
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
  pid_t next_ = 0;  // where the round goes on
  core::KeptFile loadavg_;
  std::map<pid_t, KeptPidFiles> files_;  // of a small job's processes
  std::string buffer_;
  std::string last_pid_;       // as /proc/loadavg had it when the last look began
  Look look_ = Look::listing;  // at what runs before the job does
  std::optional<PidListing> listing_;
  std::vector<pid_t> unknown_;                      // listed and not yet opened, descending
  std::vector<std::pair<pid_t, pid_t>> newcomers_;  // the job's, with their parents, descending: not yet read
  std::vector<std::pair<pid_t, Process>> adopted_;  // read; join when the look is done
  core::Duration look_cost_{0};
  bool roots_changed_ = false;
  bool complete_ = false;
  core::Instant next_look_{};
};

}  // namespace gradwatt::proc

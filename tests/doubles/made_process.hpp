// One process of a made /proc.
#pragma once

#include <sys/types.h>

#include <string>

#include "tests/doubles/made_tree.hpp"

namespace gradwatt::doubles {

struct MadeProcess {
  pid_t pid = 0;
  pid_t parent = 1;
  long own_ticks = 0;
  long reaped_ticks = 0;
  long threads = 1;
  long resident_pages = 10;
  char state = 'S';
  long start_ticks = 500;
  std::string name = "python3";
  int cpu = 0;  ///< that it ran on last
};

[[nodiscard]] inline std::string stat_line(const MadeProcess& p) {
  const auto n = [](long value) { return " " + std::to_string(value); };
  return std::to_string(p.pid) + " (" + p.name + ") " + p.state + n(p.parent) + " 1 1 0 -1 4194304 0 0 0 0" +
         n(p.own_ticks) + " 0" + n(p.reaped_ticks) + " 0 20 0" + n(p.threads) + " 0" + n(p.start_ticks) + " 100000" +
         n(p.resident_pages) + " 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17" + n(p.cpu) + " 0 0";
}
inline void put(MadeTree& made, const MadeProcess& p) {
  made.file("proc/" + std::to_string(p.pid) + "/stat", stat_line(p));
}
inline void put_io(MadeTree& made, pid_t pid, long read, long written) {
  made.file("proc/" + std::to_string(pid) + "/io", "rchar: 1\nwchar: 2\nread_bytes: " + std::to_string(read) +
                                                       "\nwrite_bytes: " + std::to_string(written) +
                                                       "\ncancelled_write_bytes: 0");
}
inline void put_thread(MadeTree& made, pid_t pid, pid_t thread, char state, long run_delay_ns) {
  const auto folder = "proc/" + std::to_string(pid) + "/task/" + std::to_string(thread);
  made.file(folder + "/stat", stat_line({.pid = thread, .state = state}))
      .file(folder + "/schedstat", "1000 " + std::to_string(run_delay_ns) + " 7");
}
/// The newest pid that the kernel gave out, as the end of /proc/loadavg says.
inline void put_newest_pid(MadeTree& made, pid_t pid) {
  made.file("proc/loadavg", "0.20 0.18 0.12 1/80 " + std::to_string(pid));
}
inline void bury(MadeTree& made, pid_t pid) { made.remove("proc/" + std::to_string(pid)); }

}  // namespace gradwatt::doubles

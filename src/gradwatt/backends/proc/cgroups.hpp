// Control groups of a process, version 1, 2 or both at once (hybrid): what the job may use, and what it used.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/kept_file.hpp"

namespace gradwatt::proc {

/// Where a process's control groups lie in the tree.
class Cgroups {
 public:
  /// `pid` 0: gradwatt itself. A process without readable cgroups has none: every question is then answered "nothing".
  [[nodiscard]] static Cgroups of(const core::FileTree& tree, pid_t pid);

  /// "v1", "v2", "hybrid" (version 1 controllers beside a version 2 hierarchy) or "none".
  [[nodiscard]] std::string version() const;
  /// Path of the group that accounts CPU time, as /proc/PID/cgroup names it; nothing when no hierarchy does.
  [[nodiscard]] std::optional<std::string> cpu_path() const;

  /// CPUs' worth of time that quotas allow: the tightest of the group and those above it.
  [[nodiscard]] std::optional<double> cpu_quota() const;
  /// CPUs in the group's cpuset.
  [[nodiscard]] std::optional<std::vector<int>> cpuset() const;
  [[nodiscard]] std::optional<std::int64_t> memory_limit_bytes() const;

  /// CPU time of all that ever ran in the group, µs.
  [[nodiscard]] std::optional<std::int64_t> cpu_usage_us();
  /// Time that the quota held threads of the group, µs.
  [[nodiscard]] std::optional<std::int64_t> throttled_us();
  /// Processes in the CPU group itself (not in groups below it).
  [[nodiscard]] std::vector<pid_t> members() const;
  [[nodiscard]] bool has_children() const;

 private:
  struct Place {
    bool v2 = false;
    std::string mount;  ///< relative to the tree's root: "sys/fs/cgroup/cpu"
    std::string group;  ///< below the mount, empty or with a leading slash
    std::string path;   ///< as /proc/PID/cgroup has it
    [[nodiscard]] std::string folder() const { return mount + group; }
  };
  /// The hierarchy that really has this controller: version 1 where it is mounted so, else version 2.
  [[nodiscard]] const Place* place(const std::string& controller) const;
  /// The group's folder and those above it, up to the mount.
  [[nodiscard]] static std::vector<std::string> upwards(const Place& place);

  /// Content of a file that is read at each tick.
  [[nodiscard]] std::optional<std::string_view> kept(const std::string& file);

  core::FileTree tree_;
  std::map<std::string, core::KeptFile> kept_;
  std::string buffer_;
  std::map<std::string, Place> v1_;  // by controller
  std::optional<Place> v2_;
};

}  // namespace gradwatt::proc

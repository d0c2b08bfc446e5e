#include "gradwatt/backends/proc/cgroups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "gradwatt/core/text.hpp"

namespace gradwatt::proc {
namespace {

// Version 1 writes "no limit" as the largest multiple of the page size.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 62;

struct Mount {
  std::string root, point;
  bool v2 = false;
  std::vector<std::string> controllers;
};

/// Cgroup mounts of /proc/self/mountinfo: "36 25 0:31 / /sys/fs/cgroup/cpu rw,… - cgroup cgroup rw,cpu,cpuacct".
std::vector<Mount> find_mounts(const core::FileTree& tree) {
  std::vector<Mount> mounts;
  const auto text = tree.read("proc/self/mountinfo");
  if (!text) return mounts;
  for (const auto line : core::split(*text, '\n')) {
    const auto words = core::split_words(line);
    const auto dash = std::ranges::find(words, "-");
    if (words.size() < 5 || words.end() - dash < 4 || !dash[1].starts_with("cgroup")) continue;
    Mount mount{std::string(words[3]), std::string(words[4]), dash[1] == "cgroup2", {}};
    for (const auto option : core::split(dash[3], ',')) mount.controllers.emplace_back(option);
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

/// The group below a mount: in a container the mount shows only a part of the hierarchy.
std::string below(const std::string& path, const std::string& root) {
  if (root != "/" && path.starts_with(root)) return path.substr(root.size());
  return path == "/" || path.starts_with("/..") ? std::string() : path;
}

/// "usage_usec 1234" -> 1234, for the line of that name.
std::optional<std::int64_t> field(std::optional<std::string_view> text, std::string_view name) {
  if (!text) return std::nullopt;
  for (const auto line : core::split(*text, '\n')) {
    const auto words = core::split_words(line);
    if (words.size() == 2 && words[0] == name) return core::parse_int(words[1]);
  }
  return std::nullopt;
}

std::optional<double> quota_of(const core::FileTree& tree, const std::string& folder, bool v2) {
  if (v2) {
    const auto text = tree.read(folder + "/cpu.max");
    const auto words = text ? core::split_words(*text) : std::vector<std::string_view>{};
    if (words.size() != 2) return std::nullopt;
    const auto quota = core::parse_number(words[0]);  // "max" is no number: no limit
    const auto period = core::parse_number(words[1]);
    return quota && period && *period > 0 ? std::optional(*quota / *period) : std::nullopt;
  }
  const auto quota = tree.read_int(folder + "/cpu.cfs_quota_us");
  const auto period = tree.read_int(folder + "/cpu.cfs_period_us");
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<std::vector<int>> cpu_list(const std::string& text) {
  std::vector<int> cpus;
  for (const auto piece : core::split(text, ',')) {
    const auto dash = piece.find('-');
    const auto first = core::parse_int(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : core::parse_int(piece.substr(dash + 1));
    if (!first || !last || *last < *first || *last > 1'000'000) return std::nullopt;
    for (auto cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

}  // namespace

Cgroups Cgroups::of(const core::FileTree& tree, pid_t pid) {
  Cgroups groups;
  groups.tree_ = tree;
  const auto text = tree.read(pid == 0 ? std::string("proc/self/cgroup") : fmt::format("proc/{}/cgroup", pid));
  if (!text) return groups;
  const auto mounts = find_mounts(tree);
  for (const auto line : core::split(*text, '\n')) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string controllers(line.substr(first + 1, second - first - 1));
    const std::string path(line.substr(second + 1));
    for (const auto& mount : mounts) {
      Place place{mount.v2, mount.point.substr(1), below(path, mount.root), path};
      if (mount.v2 && controllers.empty()) groups.v2_ = place;
      if (mount.v2 || controllers.empty()) continue;
      for (const auto controller : core::split(controllers, ','))
        if (std::ranges::find(mount.controllers, controller) != mount.controllers.end())
          groups.v1_.emplace(controller, place);
    }
  }
  return groups;
}

std::string Cgroups::version() const {
  const bool v1 = std::ranges::any_of(v1_, [](const auto& entry) { return !entry.first.starts_with("name="); });
  if (v1) return v2_ ? "hybrid" : "v1";
  return v2_ ? "v2" : "none";
}

const Cgroups::Place* Cgroups::place(const std::string& controller) const {
  if (const auto it = v1_.find(controller); it != v1_.end()) return &it->second;
  return v2_ ? &*v2_ : nullptr;
}

std::vector<std::string> Cgroups::upwards(const Place& place) {
  std::vector<std::string> folders{place.folder()};
  for (auto group = place.group; !group.empty();) {
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
    folders.push_back(place.mount + group);
  }
  return folders;
}

std::optional<std::string> Cgroups::cpu_path() const {
  const auto* accounting = place("cpuacct");
  return accounting != nullptr ? std::optional(accounting->path) : std::nullopt;
}

std::optional<double> Cgroups::cpu_quota() const {
  const auto* cpu = place("cpu");
  if (cpu == nullptr) return std::nullopt;
  std::optional<double> tightest;
  for (const auto& folder : upwards(*cpu))
    if (const auto quota = quota_of(tree_, folder, cpu->v2)) tightest = std::min(tightest.value_or(*quota), *quota);
  return tightest;
}

std::optional<std::vector<int>> Cgroups::cpuset() const {
  const auto* set = place("cpuset");
  if (set == nullptr) return std::nullopt;
  for (const auto* name : {"/cpuset.cpus.effective", "/cpuset.effective_cpus", "/cpuset.cpus"})
    if (const auto text = tree_.read(set->folder() + name); text && !text->empty()) return cpu_list(*text);
  return std::nullopt;
}

std::optional<std::int64_t> Cgroups::memory_limit_bytes() const {
  const auto* memory = place("memory");
  if (memory == nullptr) return std::nullopt;
  std::optional<std::int64_t> tightest;
  for (const auto& folder : upwards(*memory)) {
    const auto limit = tree_.read_int(folder + (memory->v2 ? "/memory.max" : "/memory.limit_in_bytes"));
    if (limit && *limit < kNoLimit) tightest = std::min(tightest.value_or(*limit), *limit);
  }
  return tightest;
}

std::optional<std::string_view> Cgroups::kept(const std::string& file) {
  const auto text = kept_.try_emplace(file, tree_, file).first->second.read(buffer_);
  return text ? std::optional(*text) : std::nullopt;
}

std::optional<std::int64_t> Cgroups::cpu_usage_us() {
  const auto* accounting = place("cpuacct");
  if (accounting == nullptr) return std::nullopt;
  if (accounting->v2) return field(kept(accounting->folder() + "/cpu.stat"), "usage_usec");
  const auto text = kept(accounting->folder() + "/cpuacct.usage");
  const auto ns = text ? core::parse_int(*text) : std::nullopt;
  return ns ? std::optional(*ns / 1000) : std::nullopt;
}

std::optional<std::int64_t> Cgroups::throttled_us() {
  const auto* cpu = place("cpu");
  if (cpu == nullptr) return std::nullopt;
  if (cpu->v2) return field(kept(cpu->folder() + "/cpu.stat"), "throttled_usec");
  const auto ns = field(kept(cpu->folder() + "/cpu.stat"), "throttled_time");
  return ns ? std::optional(*ns / 1000) : std::nullopt;
}

std::vector<pid_t> Cgroups::members() const {
  std::vector<pid_t> pids;
  const auto* accounting = place("cpuacct");
  const auto text = accounting != nullptr ? tree_.read(accounting->folder() + "/cgroup.procs")
                                          : core::Result<std::string>(std::string());
  if (text)
    for (const auto word : core::split_words(*text))
      if (const auto pid = core::parse_int(word)) pids.push_back(static_cast<pid_t>(*pid));
  return pids;
}

bool Cgroups::has_children() const {
  const auto* accounting = place("cpuacct");
  if (accounting == nullptr) return false;
  return std::ranges::any_of(tree_.list(accounting->folder()), [&](const std::string& name) {
    return tree_.exists(accounting->folder() + "/" + name + "/cgroup.procs");
  });
}

}  // namespace gradwatt::proc

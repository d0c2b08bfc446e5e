#include "gradwatt/launch/process_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "gradwatt/core/text.hpp"

namespace gradwatt::launch {
namespace {

std::optional<Process> parse(pid_t pid, std::string_view stat) {
  // The name stands in brackets and may itself hold brackets and spaces: the last ")" ends it.
  const auto open = stat.find('('), close = stat.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  const auto fields = core::split_words(stat.substr(close + 1));
  constexpr std::size_t kState = 0, kParent = 1, kGroup = 2, kStarted = 19;
  if (fields.size() <= kStarted) return std::nullopt;
  const auto parent = core::parse_int(fields[kParent]), group = core::parse_int(fields[kGroup]),
             started = core::parse_int(fields[kStarted]);
  if (!parent || !group || !started) return std::nullopt;
  return Process{.pid = pid,
                 .parent = static_cast<pid_t>(*parent),
                 .group = static_cast<pid_t>(*group),
                 .state = fields[kState].front(),
                 .started_ticks = static_cast<std::uint64_t>(*started),
                 .name = std::string(stat.substr(open + 1, close - open - 1))};
}

}  // namespace

std::optional<Process> read_process(const core::FileTree& files, pid_t pid) {
  const auto stat = files.read(fmt::format("proc/{}/stat", pid));
  return stat ? parse(pid, *stat) : std::nullopt;
}

ProcessTable read_processes(const core::FileTree& files) {
  ProcessTable table;
  for (const auto& name : files.list("proc")) {
    const auto pid = core::parse_int(name);
    if (!pid || *pid <= 0) continue;
    if (auto process = read_process(files, static_cast<pid_t>(*pid)))
      table.emplace(static_cast<pid_t>(*pid), std::move(*process));
  }
  return table;
}

std::vector<pid_t> tree_of(const ProcessTable& processes, std::span<const pid_t> roots) {
  std::multimap<pid_t, pid_t> children;
  for (const auto& [pid, process] : processes) children.emplace(process.parent, pid);
  std::vector<pid_t> tree;
  const auto add = [&](pid_t pid) {
    if (processes.contains(pid) && std::ranges::find(tree, pid) == tree.end()) tree.push_back(pid);
  };
  std::ranges::for_each(roots, add);
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const auto [first, last] = children.equal_range(tree[i]);
    for (const auto& [parent, child] : std::ranges::subrange(first, last)) add(child);
  }
  return tree;
}

bool descends_from(const core::FileTree& files, pid_t pid, pid_t ancestor) {
  constexpr int kDeepest = 1000;  // ends the walk should /proc ever show a circle
  for (int depth = 0; pid > 0 && depth < kDeepest; ++depth) {
    if (pid == ancestor) return true;
    const auto process = read_process(files, pid);
    if (!process) return false;
    pid = process->parent;
  }
  return false;
}

}  // namespace gradwatt::launch

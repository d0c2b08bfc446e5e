#include "gradwatt/backends/proc/thread_census.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>

namespace gradwatt::proc {

namespace {

/// Calls that give back data; what poll() and futex() wait for may be anything.
constexpr auto kReadCalls = std::to_array<long>({SYS_read, SYS_pread64, SYS_readv, SYS_preadv, SYS_recvfrom,
                                                 SYS_recvmsg, SYS_openat, SYS_getdents64, SYS_newfstatat});

/// /proc/PID/syscall: "45 0x4 …"; "running" or nothing where it cannot be read (another user's process).
bool in_a_read_call(const core::FileTree& tree, pid_t pid) {
  const auto text = tree.read(fmt::format("proc/{}/syscall", pid));
  const auto call = text ? core::parse_int(std::string_view(*text).substr(0, text->find(' '))) : std::nullopt;
  return call && std::ranges::find(kReadCalls, *call) != kReadCalls.end();
}

}  // namespace

ThreadCensus::ThreadCensus(core::FileTree tree, const core::Clock& clock, std::int64_t ticks_per_s)
    : tree_(std::move(tree)), clock_(clock), ticks_per_s_(ticks_per_s) {}

void ThreadCensus::begin(std::vector<std::pair<pid_t, pid_t>> processes) {
  processes_ = std::move(processes);
  next_ = 0;
  counts_ = {};
  worker_ticks_.reset();
  nccl_ = {};
  last_begun_ = begun_;
  begun_ = clock_.now();
  ++census_;
  under_way_ = true;
}

std::optional<ThreadCensus::Counts> ThreadCensus::advance(core::Duration budget) {
  if (!under_way_) return std::nullopt;
  const auto deadline = clock_.now() + budget;
  while (next_ < processes_.size()) {
    const auto [pid, parent] = processes_[next_++];
    visit(pid, parent);
    if (clock_.now() >= deadline && next_ < processes_.size()) return std::nullopt;
  }
  under_way_ = false;
  return finish();
}

void ThreadCensus::visit(pid_t pid, pid_t parent) {
  for (const auto& thread : tree_.list(fmt::format("proc/{}/task", pid))) visit_thread(pid, thread);
  auto& own = program(pid);
  if (is_worker(own, parent)) count_worker(pid, own);
}

bool ThreadCensus::is_worker(const Program& own, pid_t parent) const {
  if (own.name == "pt_data_worker") return true;
  const bool python = own.name.starts_with("python") || own.name.starts_with("pt_main");
  return python && !own.command_line.empty() && programs_.contains(parent) &&
         programs_.at(parent).command_line == own.command_line;
}

void ThreadCensus::count_worker(pid_t pid, Program& own) {
  ++counts_.workers;
  const auto stat = read_pid_stat(tree_, pid);
  if (!stat) return;
  counts_.workers_blocked += stat->state == 'D' || (stat->state == 'S' && in_a_read_call(tree_, pid)) ? 1 : 0;
  if (own.is_worker && stat->own_ticks >= own.ticks)
    worker_ticks_ = worker_ticks_.value_or(0) + stat->own_ticks - own.ticks;
  own.is_worker = true;
  own.ticks = stat->own_ticks;
}

void ThreadCensus::visit_thread(pid_t pid, const std::string& thread) {
  const auto folder = fmt::format("proc/{}/task/{}", pid, thread);
  const auto text = tree_.read(folder + "/stat");
  const auto stat = text ? parse_pid_stat(*text) : std::nullopt;
  if (!stat || stat->ended()) return;
  if (stat->state == 'R')
    ++counts_.running;
  else if (stat->state == 'D')
    ++counts_.blocked;
  else
    ++counts_.sleeping;
  auto& known = threads_[thread];
  see_cpu(known, *stat);
  const auto schedstat = tree_.read(folder + "/schedstat");
  const auto times = schedstat ? parse_schedstat(*schedstat) : std::nullopt;
  if (!times) return;
  delay_known_ = true;
  if (times->delay_ns < known.delay_ns) ended_delay_ns_ += known.delay_ns;  // the id names a new thread
  known.delay_ns = times->delay_ns;
  if (!name_in_stat(*text).starts_with("NCCL")) return;
  nccl_.run_ns += times->run_ns;
  nccl_.delay_ns += times->delay_ns;
}

void ThreadCensus::see_cpu(Thread& known, const PidStat& stat) {
  constexpr double kBusyShare = 0.1;
  const bool seen_before = known.census == census_ - 1 && last_begun_;
  const double seconds = seen_before ? std::chrono::duration<double>(*begun_ - *last_begun_).count() : 0;
  if (seen_before && stat.cpu &&
      static_cast<double>(stat.own_ticks - known.ticks) > kBusyShare * seconds * static_cast<double>(ticks_per_s_))
    cpus_used_.insert(*stat.cpu);
  known.ticks = stat.own_ticks;
  known.census = census_;
}

ThreadCensus::Program& ThreadCensus::program(pid_t pid) {
  auto& program = programs_[pid];
  // Names change after the start (the worker names itself), so they are read at each census.
  program.name = tree_.read(fmt::format("proc/{}/comm", pid)).value_or("");
  program.command_line = tree_.read(fmt::format("proc/{}/cmdline", pid)).value_or("");
  program.census = census_;
  return program;
}

ThreadCensus::Counts ThreadCensus::finish() {
  std::int64_t delay_ns = 0;
  std::erase_if(threads_, [&](const auto& entry) {
    if (entry.second.census == census_) return false;
    ended_delay_ns_ += entry.second.delay_ns;
    return true;
  });
  std::erase_if(programs_, [&](const auto& entry) { return entry.second.census != census_; });
  for (const auto& [id, thread] : threads_) delay_ns += thread.delay_ns;
  const double seconds = last_begun_ ? std::chrono::duration<double>(*begun_ - *last_begun_).count() : 0;
  if (counts_.workers == 0)
    counts_.workers_cpu = 0;
  else if (worker_ticks_ && seconds > 0)
    counts_.workers_cpu = static_cast<double>(*worker_ticks_) / static_cast<double>(ticks_per_s_) / seconds;
  if (const auto wanted = nccl_.run_ns + nccl_.delay_ns; wanted > 0)
    nccl_wait_share_ = static_cast<double>(nccl_.delay_ns) / static_cast<double>(wanted);
  if (delay_known_) counts_.cpu_wait_ns = ended_delay_ns_ + delay_ns;
  return counts_;
}

}  // namespace gradwatt::proc

#include "gradwatt/launch/attach.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "gradwatt/core/text.hpp"
#include "gradwatt/launch/environment.hpp"
#include "gradwatt/launch/process_table.hpp"

namespace gradwatt::launch {
namespace {

/// Entries between NUL bytes, as /proc writes environment and command line.
Environment split_at_nul(std::string_view text) {
  Environment entries;
  for (const auto entry : core::split(text, '\0'))
    if (!entry.empty()) entries.emplace_back(entry);
  return entries;
}

std::optional<int> minor_of(const std::filesystem::path& link) {
  std::error_code error;
  const auto target = std::filesystem::read_symlink(link, error).string();
  constexpr std::string_view kDevice = "/dev/nvidia";
  if (error || !target.starts_with(kDevice)) return std::nullopt;
  const auto minor = core::parse_int(std::string_view(target).substr(kDevice.size()));  // not nvidiactl, nvidia-uvm
  return minor && *minor >= 0 ? std::optional(static_cast<int>(*minor)) : std::nullopt;
}

template <class T>
void add_once(std::vector<T>& list, const T& value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

}  // namespace

core::Result<Attached> Attached::open(const core::FileTree& files, pid_t pid) {
  if (pid <= 0)
    return core::fail(core::Errc::wrong_use, fmt::format("{} is not a process id; give the number that ps shows", pid));
  Attached attached;
  attached.files_ = files;
  attached.pid_ = pid;
#ifdef SYS_pidfd_open
  // Before anything is read: what is read then belongs to the process that is held.
  if (files.root() == "/") attached.file_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
#endif
  const auto process = read_process(files, pid);
  if (!process)
    return core::fail(core::Errc::not_found,
                      fmt::format("there is no process {} on this host; ps shows those that run", pid));
  if (process->ended())
    return core::fail(core::Errc::not_found, fmt::format("process {} ({}) has ended already", pid, process->name));
  const auto environment = files.read(fmt::format("proc/{}/environ", pid));
  if (!environment && environment.error().code == core::Errc::not_permitted)
    return core::fail(
        core::Errc::not_permitted,
        fmt::format("process {} ({}) belongs to another user, so its GPUs cannot be found; run gradwatt as "
                    "that user or as root, or measure the whole host with --node",
                    pid, process->name));
  attached.name_ = process->name;
  attached.started_ticks_ = process->started_ticks;
  return attached;
}

bool Attached::ended() const {
  const auto process = read_process(files_, pid_);
  return !process || process->ended() || process->started_ticks != started_ticks_;
}

std::vector<std::string> Attached::command_line() const {
  const auto text = files_.read(fmt::format("proc/{}/cmdline", pid_));
  return text ? split_at_nul(*text) : std::vector<std::string>();
}

TreeGpus find_gpus(const core::FileTree& files, pid_t root) {
  TreeGpus gpus;
  const std::vector<pid_t> roots{root};
  for (const pid_t pid : tree_of(read_processes(files), roots)) {
    const auto folder = fmt::format("proc/{}", pid);
    if (const auto text = files.read(folder + "/environ")) {
      const auto environment = split_at_nul(*text);
      if (const auto value = find_variable(environment, "CUDA_VISIBLE_DEVICES"))
        add_once(gpus.visible, std::string(*value));
    }
    for (const auto& number : files.list(folder + "/fd"))
      if (const auto minor = minor_of(files.path(fmt::format("{}/fd/{}", folder, number))))
        add_once(gpus.minors, *minor);
  }
  std::ranges::sort(gpus.minors);
  return gpus;
}

bool follow_tree(const TreeGpus& gpus, pid_t root, telemetry::JobScope& scope) {
  const auto now = scope.snapshot();
  const std::vector<pid_t> roots{root};
  const bool all = gpus.visible.empty() && gpus.minors.empty();
  if (now->roots == roots && now->visible_gpus == gpus.visible && now->gpu_minors == gpus.minors &&
      now->all_gpus == all)
    return false;
  scope.update([&](telemetry::JobScope::Snapshot& job) {
    job.roots = roots;
    job.visible_gpus = gpus.visible;
    job.gpu_minors = gpus.minors;
    job.all_gpus = all;
  });
  return true;
}

EndOfMeasurement wait_for_end(const Attached* process, SignalInbox& inbox, std::optional<core::Instant> deadline,
                              const std::function<void()>& each_second) {
  using Clock = std::chrono::steady_clock;
  for (auto next = Clock::now() + std::chrono::seconds(1);;) {
    while (const auto signal = inbox.take())
      if (signal->number != SIGPIPE && signal->number != SIGXFSZ) return EndOfMeasurement::interrupted;
    if (process != nullptr && process->ended()) return EndOfMeasurement::process_ended;
    if (deadline && Clock::now() >= *deadline) return EndOfMeasurement::time_over;
    if (Clock::now() >= next) {
      next += std::chrono::seconds(1);
      each_second();
    }
    std::array<pollfd, 2> files{
        pollfd{.fd = inbox.descriptor(), .events = POLLIN, .revents = 0},
        pollfd{.fd = process != nullptr ? process->descriptor() : -1, .events = POLLIN, .revents = 0}};
    ::poll(files.data(), files.size(), poll_timeout_ms(deadline ? std::min<core::Instant>(next, *deadline) : next));
  }
}

}  // namespace gradwatt::launch

#include "gradwatt/launch/membership.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/hash.hpp"
#include "gradwatt/core/text.hpp"

namespace gradwatt::launch {
namespace {

constexpr std::string_view kMemberPrefix = "member-";
constexpr auto kGatePause = std::chrono::milliseconds(2);
constexpr int kGateTries = 500;  // one second: a job must not wait longer for another gradwatt
constexpr int kRemoveTries = 10;
constexpr int kJoinTries = 100;  // each lost to a leader that removed the folder at that moment
constexpr auto kEndPause = std::chrono::milliseconds(50);

/// Short and the same in every task: socket and ring paths stay short, whatever the launcher calls the run.
std::string folder_name(std::string_view run_id) {
  const auto hash = core::hash_of(run_id);
  return fmt::format("gradwatt-{}-{:08x}", ::geteuid(), static_cast<std::uint32_t>(hash ^ (hash >> 32U)));
}

bool lock(const Descriptor& file) { return file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

/// Whether some process holds the lock of this file; the probe itself holds it for an instant only.
bool is_locked(int file) {
  if (::flock(file, LOCK_SH | LOCK_NB) != 0) return true;
  ::flock(file, LOCK_UN);
  return false;
}

std::optional<pid_t> member_pid(std::string_view name) {
  if (!name.starts_with(kMemberPrefix)) return std::nullopt;
  const auto pid = core::parse_int(name.substr(kMemberPrefix.size()));
  return pid && *pid > 0 ? std::optional(static_cast<pid_t>(*pid)) : std::nullopt;
}

std::string member_name(pid_t pid) { return fmt::format("{}{}", kMemberPrefix, pid); }

void read_line(std::string_view line, Member& member) {
  const auto space = std::min(line.find(' '), line.size());
  const auto key = line.substr(0, space);
  const auto value = space < line.size() ? line.substr(space + 1) : std::string_view();
  if (key == "gpus") member.visible_gpus = std::string(value);
  const auto words = core::split_words(value);
  if (key == "start" && words.size() == 1)
    if (const auto pid = core::parse_int(words[0])) member.command = static_cast<pid_t>(*pid);
  if (key == "exit" && words.size() == 2) {
    const auto status = core::parse_int(words[0]), when = core::parse_int(words[1]);
    if (status && when) member.exit_status = static_cast<int>(*status), member.ended = core::from_ns(*when);
  }
}

core::Error errno_error(std::string_view what, const std::filesystem::path& path) {
  const int error = errno;
  return {error == EACCES || error == EPERM ? core::Errc::not_permitted : core::Errc::io,
          fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(error))};
}

}  // namespace

std::vector<std::filesystem::path> Membership::default_roots() {
  std::vector<std::filesystem::path> roots{"/dev/shm"};
  if (const char* folder = std::getenv("TMPDIR"); folder != nullptr && *folder == '/') roots.emplace_back(folder);
  roots.emplace_back("/tmp");
  return roots;
}

core::Result<Membership> Membership::join(std::string_view run_id, const Options& options) {
  core::Error last{core::Errc::not_permitted, "no folder was given to meet the run's other gradwatts in"};
  for (const auto& root : options.roots) {
    for (int i = 0; i < kJoinTries; ++i) {
      auto membership = try_join(root / folder_name(run_id));
      if (membership) {
        membership->options_ = options;
        return membership;
      }
      last = membership.error();
      if (last.code == core::Errc::timeout) return core::fail(last);  // another root would make a second leader
      if (last.code != core::Errc::lost) break;
    }
  }
  return core::fail(last);
}

// The error `lost` means: the folder was removed meanwhile, try again.
core::Result<Membership> Membership::try_join(const std::filesystem::path& folder) {
  Membership membership;
  membership.folder_ = folder;
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return core::fail(errno_error("create", folder));
  membership.folder_file_.reset(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!membership.folder_file_)
    return core::fail(errno == ENOENT ? core::Error{core::Errc::lost, "folder removed"} : errno_error("open", folder));
  struct stat status {};
  if (::fstat(membership.folder_file_.get(), &status) != 0) return core::fail(errno_error("look at", folder));
  if (status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    return core::fail(core::Errc::not_permitted,
                      fmt::format("{} is not a folder of this user alone; it is left as it is", folder.string()));
  const auto gate = membership.lock_gate();
  if (!membership.folder_is_current()) return core::fail(core::Errc::lost, "folder removed");
  if (!gate)
    return core::fail(core::Errc::timeout,
                      fmt::format("another gradwatt holds {}/gate and does not go on", folder.string()));
  if (auto entered = membership.enter(); !entered) return core::fail(entered.error());
  return membership;
}

Descriptor Membership::lock_gate() const {
  Descriptor gate(::openat(folder_file_.get(), "gate", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  for (int i = 0; gate && i < kGateTries; ++i) {
    if (lock(gate)) return gate;
    std::this_thread::sleep_for(kGatePause);
  }
  return {};
}

bool Membership::folder_is_current() const {
  struct stat held {
  }, named{};
  return ::fstat(folder_file_.get(), &held) == 0 && ::stat(folder_.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

core::Result<void> Membership::enter() {
  const int folder = folder_file_.get();
  Descriptor leader(::openat(folder, "leader.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!leader) return core::fail(errno_error("open the leader's lock in", folder_));
  if (lock(leader)) {
    leader_lock_ = std::move(leader);
    forget_the_dead();
  }
  // Locked before it has its name, so that a leader never sees it without an owner; the rename replaces what a process
  // that had our pid before left behind.
  const auto name = member_name(::getpid()), unready = "new-" + name;
  ::unlinkat(folder, unready.c_str(), 0);
  own_file_.reset(::openat(folder, unready.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
  if (!lock(own_file_) || ::renameat(folder, unready.c_str(), folder, name.c_str()) != 0)
    return core::fail(errno_error("register in", folder_));
  if (::mkdirat(folder, "marks", 0700) != 0 && errno != EEXIST)
    return core::fail(errno_error("create the folder for marks in", folder_));
  return {};
}

// A leader that was killed leaves its files; members of it that still run keep theirs.
void Membership::forget_the_dead() {
  for (const auto& name : core::FileTree(folder_).list("")) {
    if (!member_pid(name)) continue;
    const Descriptor file(::openat(folder_file_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (file && is_locked(file.get()))
      took_over_ = true;
    else
      ::unlinkat(folder_file_.get(), name.c_str(), 0);
  }
}

void Membership::append(const std::string& line) const {
  [[maybe_unused]] const auto written = ::write(own_file_.get(), line.data(), line.size());
}

void Membership::command_started(pid_t command, const std::optional<std::string>& visible_gpus) {
  std::string gpus = "gpus-all";
  if (visible_gpus) {
    gpus = "gpus " + *visible_gpus;
    std::ranges::replace(gpus, '\n', ' ');
  }
  append(fmt::format("{}\nstart {}\n", gpus, command));
}

void Membership::command_ended(int exit_status, core::Instant when) {
  append(fmt::format("exit {} {}\n", exit_status, core::to_ns(when)));
}

bool Membership::leader_alive() const {
  if (leads()) return true;
  const Descriptor file(::openat(folder_file_.get(), "leader.lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  return file && is_locked(file.get());
}

bool Membership::update(telemetry::JobScope& scope) {
  const std::lock_guard lock(*mutex_);
  poll();
  if (applied_changes_ == changes_) return false;
  applied_changes_ = changes_;
  std::vector<pid_t> roots;
  std::vector<std::string> visible;
  bool all_gpus = false;
  for (const auto& [pid, watched] : watched_) {
    const auto& member = watched.member;
    if (!member.command) continue;
    if (member.running()) roots.push_back(*member.command);
    if (member.visible_gpus)
      visible.push_back(*member.visible_gpus);
    else
      all_gpus = true;
  }
  scope.update([&](telemetry::JobScope::Snapshot& job) {
    job.roots = std::move(roots);
    job.visible_gpus = std::move(visible);
    job.all_gpus = all_gpus;
  });
  return true;
}

void Membership::poll() {
  bool changed = find_new_members();
  for (auto& [pid, watched] : watched_) {
    // The lock first: what a dying member wrote before is then surely read.
    const bool gone = !watched.member.gone && !is_locked(watched.file.get());
    changed |= read_news(watched);
    watched.member.gone |= gone;
    changed |= gone;
  }
  if (changed) ++changes_;
}

bool Membership::find_new_members() {
  if (!watch_) watch_.emplace(folder_);
  if (!watch_->may_have_changed()) return false;
  bool found = false;
  for (const auto& name : core::FileTree(folder_).list("")) {
    const auto pid = member_pid(name);
    if (!pid || watched_.contains(*pid)) continue;
    Descriptor file(::openat(folder_file_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) continue;
    watched_[*pid] = Watched{.member = {.gradwatt = *pid}, .file = std::move(file)};
    found = true;
  }
  return found;
}

bool Membership::read_news(Watched& watched) {
  bool changed = false;
  std::array<char, 1024> block{};
  for (ssize_t got = 0; (got = ::pread(watched.file.get(), block.data(), block.size(), watched.read)) > 0;) {
    watched.read += got;
    watched.rest.append(block.data(), static_cast<std::size_t>(got));
  }
  for (auto end = watched.rest.find('\n'); end != std::string::npos; end = watched.rest.find('\n')) {
    read_line(std::string_view(watched.rest).substr(0, end), watched.member);
    watched.rest.erase(0, end + 1);
    changed = true;
  }
  return changed;
}

std::vector<Member> Membership::members() const {
  const std::lock_guard lock(*mutex_);
  std::vector<Member> list;
  for (const auto& [pid, watched] : watched_) list.push_back(watched.member);
  return list;
}

bool Membership::others_running() const {
  return std::ranges::any_of(
      watched_, [](const auto& entry) { return entry.first != ::getpid() && entry.second.member.running(); });
}

bool Membership::wait_for_others(core::Clock& clock, const std::stop_token& stop) {
  // A task whose CMD ends at once may lead, before the launcher has started the others.
  const auto too_late = std::chrono::steady_clock::now() + options_.late_patience;
  for (;;) {
    {
      const std::lock_guard lock(*mutex_);
      poll();
      const bool complete = !options_.expected || watched_.size() >= static_cast<std::size_t>(*options_.expected);
      if (!others_running() && (complete || std::chrono::steady_clock::now() >= too_late)) return true;
    }
    if (!clock.sleep_until(clock.now() + kEndPause, stop)) return false;
  }
}

std::optional<int> Membership::run_exit_status() const {
  const std::lock_guard lock(*mutex_);
  const Member* first = nullptr;
  bool unknown = false;
  for (const auto& [pid, watched] : watched_) {
    const auto& member = watched.member;
    if (!member.exit_status)
      unknown = true;
    else if (*member.exit_status != 0 && (first == nullptr || member.ended < first->ended))
      first = &member;
  }
  if (first != nullptr) return first->exit_status;
  return unknown ? std::nullopt : std::optional(0);
}

bool Membership::anyone_alive() const {
  for (const auto& name : core::FileTree(folder_).list("")) {
    if (name != "leader.lock" && !member_pid(name)) continue;
    const Descriptor file(::openat(folder_file_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (file && is_locked(file.get())) return true;
  }
  return false;
}

void Membership::leave() {
  if (!own_file_) return;
  own_file_.reset();
  leader_lock_.reset();
  // Whoever comes last removes the folder: the leader as a rule, a member when the leader was killed.
  const auto gate = lock_gate();
  if (!gate || !folder_is_current() || anyone_alive()) return;
  const std::filesystem::path old = folder_.string() + fmt::format(".old-{}", ::getpid());
  std::error_code error;
  std::filesystem::rename(folder_, old, error);  // at once: who joins now finds none and makes a new one
  if (error) return;
  // Who opened the folder before it was renamed may still make its gate in it, once.
  for (int i = 0; i < kRemoveTries && std::filesystem::exists(old, error); ++i) std::filesystem::remove_all(old, error);
}

Membership::~Membership() { leave(); }

}  // namespace gradwatt::launch

#include "gradwatt/backends/proc/pid_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "gradwatt/core/text.hpp"

namespace gradwatt::proc {
namespace {

// Fields of /proc/PID/stat as proc(5) numbers them, counted from the state (3), the first after the command name.
constexpr std::size_t kParent = 4 - 3, kUserTime = 14 - 3, kSystemTime = 15 - 3, kReapedUser = 16 - 3,
                      kReapedSystem = 17 - 3, kThreads = 20 - 3, kStart = 22 - 3, kResident = 24 - 3,
                      kCpu = 39 - 3;

/// "read_bytes: 4096" -> 4096, for the line of that name.
std::optional<std::int64_t> line_value(std::string_view text, std::string_view name) {
  for (const auto line : core::split(text, '\n'))
    if (line.starts_with(name) && line.substr(name.size()).starts_with(':'))
      return core::parse_int(line.substr(name.size() + 1));
  return std::nullopt;
}

core::Result<PidStat> stat_in(const auto& text) {
  if (!text) return core::fail(text.error());
  if (const auto stat = parse_pid_stat(*text)) return *stat;
  return core::fail(core::Errc::unusable_input, "/proc/PID/stat is not in the known form");
}

core::Result<PidIo> io_in(const auto& text) {
  if (!text) return core::fail(text.error());
  const auto read = line_value(*text, "read_bytes");
  const auto written = line_value(*text, "write_bytes");
  if (!read || !written)
    return core::fail(core::Errc::unusable_input, "/proc/PID/io has no read_bytes and write_bytes");
  return PidIo{*read, *written};
}

}  // namespace

std::optional<PidStat> parse_pid_stat(std::string_view text) {
  const auto name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  const auto fields = core::split_words(text.substr(name_end + 1));
  if (fields.size() <= kResident) return std::nullopt;
  bool good = true;
  const auto number = [&](std::size_t i) {
    const auto value = core::parse_int(fields[i]);
    good = good && value.has_value();
    return value.value_or(0);
  };
  PidStat stat;
  stat.state = fields[0].front();
  stat.parent = static_cast<pid_t>(number(kParent));
  stat.own_ticks = number(kUserTime) + number(kSystemTime);
  stat.reaped_ticks = number(kReapedUser) + number(kReapedSystem);
  stat.threads = number(kThreads);
  stat.resident_pages = number(kResident);
  stat.start_ticks = static_cast<std::uint64_t>(number(kStart));
  if (fields.size() > kCpu) stat.cpu = static_cast<int>(number(kCpu));
  return good ? std::optional(stat) : std::nullopt;
}

core::Result<PidStat> read_pid_stat(const core::FileTree& tree, pid_t pid) {
  return stat_in(tree.read(fmt::format("proc/{}/stat", pid)));
}

core::Result<PidIo> read_pid_io(const core::FileTree& tree, pid_t pid) {
  return io_in(tree.read(fmt::format("proc/{}/io", pid)));
}

KeptPidFiles::KeptPidFiles(const core::FileTree& tree, pid_t pid)
    : stat_(tree, fmt::format("proc/{}/stat", pid)), io_(tree, fmt::format("proc/{}/io", pid)) {}

core::Result<PidStat> KeptPidFiles::stat(std::string& buffer) { return stat_in(stat_.read(buffer)); }

core::Result<PidIo> KeptPidFiles::io(std::string& buffer) { return io_in(io_.read(buffer)); }

std::optional<SchedStat> parse_schedstat(std::string_view text) {
  const auto fields = core::split_words(text);
  if (fields.size() < 2) return std::nullopt;
  const auto run = core::parse_int(fields[0]), delay = core::parse_int(fields[1]);
  return run && delay ? std::optional(SchedStat{*run, *delay}) : std::nullopt;
}

std::string_view name_in_stat(std::string_view text) {
  const auto begin = text.find('('), end = text.rfind(')');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
  return text.substr(begin + 1, end - begin - 1);
}

PidListing::PidListing(const core::FileTree& tree)
    : folder_(::open(tree.path("proc").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

PidListing::~PidListing() {
  if (folder_ >= 0) ::close(folder_);
}

bool PidListing::advance() {
  // readdir() would fill a buffer of 32 KiB, a thousand processes, in one call.
  alignas(dirent64) std::array<char, 2048> buffer{};
  const auto got = folder_ < 0 ? 0 : ::getdents64(folder_, buffer.data(), buffer.size());
  if (got <= 0) return false;
  for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the kernel's own layout
    const auto* entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
    if (const auto pid = core::parse_int(entry->d_name)) pids_.push_back(static_cast<pid_t>(*pid));
    at += entry->d_reclen;
  }
  return true;
}

std::vector<pid_t> PidListing::take() {
  std::ranges::sort(pids_);
  return std::exchange(pids_, {});
}

}  // namespace gradwatt::proc

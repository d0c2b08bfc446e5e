#include "gradwatt/launch/sentinel.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <span>
#include <string_view>

#include "gradwatt/core/text.hpp"

namespace gradwatt::launch {
namespace {

// Not gradwatt's own name: `pkill gradwatt` means gradwatt, and must not look like a signal to the group.
constexpr std::string_view kName = "signal-sentinel";

/// Where this process keeps its command line; empty when the kernel does not say.
std::span<char> command_line_area() {
  const auto status = core::FileTree().read("proc/self/stat");
  if (!status) return {};
  const auto fields = core::split_words(std::string_view(*status).substr(status->rfind(')') + 1));
  constexpr std::size_t kArgStart = 45, kArgEnd = 46;  // fields 48 and 49 of proc(5), counted from the third
  if (fields.size() <= kArgEnd) return {};
  const auto begin = core::parse_int(fields[kArgStart]), end = core::parse_int(fields[kArgEnd]);
  if (!begin || !end || *begin == 0 || *end <= *begin) return {};
  // An address of our own that the kernel names. NOLINTNEXTLINE(performance-no-int-to-ptr)
  return {reinterpret_cast<char*>(*begin), static_cast<std::size_t>(*end - *begin)};
}

void close_all_but(int kept) {
  if (kept > 0) ::close_range(0, static_cast<unsigned>(kept) - 1, 0);
  if (::close_range(static_cast<unsigned>(kept) + 1, ~0U, 0) == 0) return;
  for (int file = 0; file < 4096; ++file)  // kernels before 5.9
    if (file != kept) ::close(file);
}

// Runs in the child: only async-signal-safe calls.
[[noreturn]] void stand_guard(int orders, std::span<char> command_line) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  close_all_but(orders);
  ::prctl(PR_SET_NAME, kName.data(), 0, 0, 0);
  for (std::size_t i = 0; i < command_line.size(); ++i) command_line[i] = i < kName.size() ? kName[i] : '\0';
  for (char order = 0;;) {
    const auto got = ::read(orders, &order, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) ::_exit(0);
    const timespec now{};
    while (::sigtimedwait(&all, nullptr, &now) > 0) {
    }
  }
}

}  // namespace

core::Result<Sentinel> Sentinel::start() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return core::fail(core::Errc::io, fmt::format("cannot watch signals: pipe: {}", std::strerror(errno)));
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  const auto command_line = command_line_area();
  // Blocked around the fork, so that no signal meets the child before it has blocked them itself.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = ::fork();
  if (child == 0) stand_guard(reading.get(), command_line);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child < 0)
    return core::fail(core::Errc::io, fmt::format("cannot watch signals: no new process: {}", std::strerror(error)));
  return Sentinel(child, std::move(writing));
}

Sentinel::Sentinel(Sentinel&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), orders_(std::move(other.orders_)) {}

Sentinel& Sentinel::operator=(Sentinel&& other) noexcept {
  if (this == &other) return *this;
  end();
  pid_ = std::exchange(other.pid_, -1);
  orders_ = std::move(other.orders_);
  return *this;
}

Sentinel::~Sentinel() { end(); }

void Sentinel::end() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);  // works on a stopped process too, where closing the pipe would not
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::optional<std::uint64_t> Sentinel::received(const core::FileTree& files) const {
  if (pid_ < 0) return std::nullopt;
  const auto status = files.read(fmt::format("proc/{}/status", pid_));
  if (!status) return std::nullopt;
  constexpr std::string_view kKey = "\nShdPnd:";
  const auto at = status->find(kKey);
  if (at == std::string::npos) return std::nullopt;
  const auto text = core::trim(std::string_view(*status).substr(at + kKey.size(), 20));
  std::uint64_t pending = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pending, 16);
  return error == std::errc{} ? std::optional(pending) : std::nullopt;
}

void Sentinel::clear() {
  if (pid_ < 0) return;
  const char order = 'c';
  [[maybe_unused]] const auto written = ::write(orders_.get(), &order, 1);
}

}  // namespace gradwatt::launch

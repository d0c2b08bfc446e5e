#include "gradwatt/launch/command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "gradwatt/launch/descriptor.hpp"

namespace gradwatt::launch {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  // exec never writes to them. NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
  for (const auto& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

// vfork: no copy of page tables, so the start costs the same however large gradwatt is. The child shares our memory
// until exec: it calls only async-signal-safe functions and never returns from here. posix_spawn cannot ignore a
// signal in the child.
[[gnu::noinline]] pid_t start_child(char* const* arguments, char* const* environment, const SignalState& signals,
                                    int report) {
  const pid_t child = ::vfork();  // NOLINT(bugprone-unsafe-functions): see above
  if (child != 0) return child;
  signals.apply_in_child();
  ::execvpe(arguments[0], arguments, environment);
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(report, &error, sizeof error);
  ::_exit(127);
}

/// The file that exec would have taken; empty when there is none.
std::string find_program(const std::string& name) {
  struct stat status {};
  if (name.find('/') != std::string::npos) return ::stat(name.c_str(), &status) == 0 ? name : std::string();
  const char* path = ::getenv("PATH");
  for (std::string_view rest = path != nullptr ? path : "/bin:/usr/bin"; !name.empty() && !rest.empty();) {
    const auto end = std::min(rest.find(':'), rest.size());
    const auto file = fmt::format("{}/{}", end == 0 ? "." : rest.substr(0, end), name);
    if (::stat(file.c_str(), &status) == 0) return file;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

core::Error describe(int error, const std::string& name) {
  using core::Errc;
  const auto file = find_program(name);
  if (error == ENOENT && file.empty()) {
    const auto* hint = name.find('/') == std::string::npos
                           ? "no such command in PATH; check its spelling or give its path"
                           : "no such file; check its path";
    return {Errc::not_found, fmt::format("cannot start '{}': {}", name, hint)};
  }
  // A shell says 126 here too: the file is there, what its first line names is not.
  if (error == ENOENT)
    return {Errc::io,
            fmt::format("cannot start '{}': the interpreter or loader that {} names is not there", name, file)};
  struct stat status {};
  if (error == EACCES && !file.empty() && ::stat(file.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode))
      return {Errc::not_permitted, fmt::format("cannot start '{}': it is a folder, not a program", name)};
    if ((status.st_mode & 0111) == 0)
      return {Errc::not_permitted, fmt::format("cannot start '{}': it is not executable; try chmod +x {}", name, file)};
  }
  return {error == EACCES || error == EPERM ? Errc::not_permitted : Errc::io,
          fmt::format("cannot start '{}': {}", name, std::strerror(error))};
}

}  // namespace

core::Result<Command> Command::start(const Spec& spec, const core::Clock& clock) {
  if (spec.arguments.empty()) return core::fail(core::Errc::wrong_use, "no command to start: put one after --");
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return core::fail(core::Errc::io, fmt::format("cannot start a command: pipe: {}", std::strerror(errno)));
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);

  const auto arguments = pointers(spec.arguments);
  const auto environment = pointers(spec.environment);
  const auto begin = clock.now();
  const pid_t child = start_child(arguments.data(), environment.data(), spec.signals, writing.get());
  if (child < 0)
    return core::fail(core::Errc::io,
                      fmt::format("cannot start '{}': no new process: {}", spec.arguments[0], std::strerror(errno)));
  writing.reset();
  int error = 0;
  ssize_t got = 0;
  while ((got = ::read(reading.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (got == 0) return Command(child, begin);
  ::waitpid(child, nullptr, 0);
  return core::fail(describe(error, spec.arguments[0]));
}

int start_failure_status(const core::Error& error) { return error.code == core::Errc::not_found ? 127 : 126; }

}  // namespace gradwatt::launch

#include "gradwatt/simulation/own_process.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

namespace gradwatt::simulation {
namespace {

constexpr char kNumbers = 'n', kFailure = 'f';

bool write_all(int file, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const auto written = ::write(file, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written, size -= static_cast<std::size_t>(written);
  }
  return true;
}

[[noreturn]] void work_in_child(int out, const std::function<std::vector<double>()>& work) {
  bool told = false;
  try {
    const auto numbers = work();
    told = write_all(out, &kNumbers, 1) && write_all(out, numbers.data(), numbers.size() * sizeof(double));
  } catch (const std::exception& error) {
    const std::string text = error.what();
    told = write_all(out, &kFailure, 1) && write_all(out, text.data(), text.size());
  } catch (...) {  // SimGrid's own kinds, which derive from nothing
    told = write_all(out, &kFailure, 1);
  }
  ::_exit(told ? 0 : 1);
}

std::string read_all(int file) {
  std::string bytes;
  char buffer[65536];
  for (;;) {
    const auto count = ::read(file, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(count));
  }
}

std::string how_it_ended(int status) {
  if (!WIFSIGNALED(status)) return "it ended by itself";
  const int signal = WTERMSIG(status);
  return signal == SIGKILL ? "it was killed, most likely for want of memory"
                           : fmt::format("signal {} ({})", signal, ::strsignal(signal));
}

}  // namespace

core::Result<std::vector<double>> in_own_process(const std::function<std::vector<double>()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) return core::fail(core::Errc::io, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  std::fflush(nullptr);  // what is not yet written would be written twice
  const auto child = ::fork();
  if (child < 0) {
    const std::string why = std::strerror(errno);
    ::close(ends[0]), ::close(ends[1]);
    return core::fail(core::Errc::io, fmt::format("cannot start the simulation: {}", why));
  }
  if (child == 0) {
    ::close(ends[0]);
    work_in_child(ends[1], work);
  }
  ::close(ends[1]);
  const auto answer = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (answer.empty() || status != 0)
    return core::fail(core::Errc::not_supported,
                      fmt::format("the simulation ended without an answer: {}", how_it_ended(status)));
  if (answer.front() == kFailure)
    return core::fail(core::Errc::not_supported, fmt::format("the simulation failed: {}", answer.substr(1)));
  std::vector<double> numbers((answer.size() - 1) / sizeof(double));
  std::memcpy(numbers.data(), answer.data() + 1, numbers.size() * sizeof(double));
  return numbers;
}

}  // namespace gradwatt::simulation

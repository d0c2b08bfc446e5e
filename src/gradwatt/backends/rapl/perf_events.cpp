#include "gradwatt/backends/rapl/perf_events.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gradwatt::rapl {
namespace {

class SystemPerfCounter final : public PerfCounter {
 public:
  explicit SystemPerfCounter(int file) : file_(file) {}
  ~SystemPerfCounter() override { ::close(file_); }
  SystemPerfCounter(const SystemPerfCounter&) = delete;
  SystemPerfCounter& operator=(const SystemPerfCounter&) = delete;

  core::Result<std::uint64_t> read() override {
    std::uint64_t value = 0;
    const auto got = ::read(file_, &value, sizeof value);
    if (got == static_cast<ssize_t>(sizeof value)) return value;
    // The kernel answers "end of file" for an event in error state, for example after its CPU went offline.
    if (got == 0) return core::fail(core::Errc::lost, "the perf event is in error state");
    return core::fail(core::Errc::io, fmt::format("cannot read the perf event: {}", std::strerror(errno)));
  }

 private:
  int file_;
};

class SystemPerfEvents final : public PerfEvents {
 public:
  core::Result<std::unique_ptr<PerfCounter>> open(std::uint32_t type, std::uint64_t config, int cpu) override {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = type;
    attributes.config = config;
    const auto file = ::syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (file >= 0) return std::make_unique<SystemPerfCounter>(static_cast<int>(file));
    const auto code = errno == EACCES || errno == EPERM ? core::Errc::not_permitted : core::Errc::not_supported;
    return core::fail(code, fmt::format("perf_event_open of type {} event {:#x} on CPU {} failed: {}", type, config,
                                        cpu, std::strerror(errno)));
  }
};

}  // namespace

std::shared_ptr<PerfEvents> system_perf_events() { return std::make_shared<SystemPerfEvents>(); }

}  // namespace gradwatt::rapl

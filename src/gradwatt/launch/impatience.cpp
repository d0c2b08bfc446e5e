#include "gradwatt/launch/impatience.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace gradwatt::launch {
namespace {
constexpr std::array kCounted{SIGINT, SIGTERM, SIGQUIT, SIGHUP};
constexpr auto kWithin = std::chrono::seconds(2);
constexpr std::size_t kTimes = 3;
}  // namespace

bool ImpatienceCounter::count(int signal, core::Instant when) {
  if (std::ranges::find(kCounted, signal) == kCounted.end()) return false;
  recent_.push_back(when);
  while (when - recent_.front() > kWithin) recent_.pop_front();
  return recent_.size() >= kTimes;
}

Impatience::Impatience(SignalInbox& inbox, std::function<void()> give_up)
    : end_(::eventfd(0, EFD_CLOEXEC)),
      thread_([this, &inbox, give_up = std::move(give_up)] { watch(inbox, give_up); }) {}

Impatience::~Impatience() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(end_.get(), &one, sizeof one);
  thread_.join();
}

void Impatience::watch(SignalInbox& inbox, const std::function<void()>& give_up) const {
  ImpatienceCounter counter;
  std::array<pollfd, 2> files{pollfd{.fd = inbox.descriptor(), .events = POLLIN, .revents = 0},
                              pollfd{.fd = end_.get(), .events = POLLIN, .revents = 0}};
  for (;;) {
    if (::poll(files.data(), files.size(), -1) < 0) continue;
    if (files[1].revents != 0) return;
    while (const auto signal = inbox.take()) {
      if (!counter.count(signal->number, std::chrono::steady_clock::now())) continue;
      give_up();
      return;
    }
  }
}

}  // namespace gradwatt::launch

// After CMD has ended only gradwatt's own work remains. One or two Ctrl-C do not cost the report; who presses three
// times within two seconds wants out, and gets out even when the disk hangs.
#pragma once

#include <deque>
#include <functional>
#include <thread>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/launch/descriptor.hpp"
#include "gradwatt/launch/signal_inbox.hpp"

namespace gradwatt::launch {

/// The rule, without threads.
class ImpatienceCounter {
 public:
  /// True at the third SIGINT, SIGTERM, SIGQUIT or SIGHUP within two seconds; other signals do not count.
  bool count(int signal, core::Instant when);

 private:
  std::deque<core::Instant> recent_;
};

/// Watches the inbox from its own thread while it exists; nobody else may read the inbox meanwhile.
class Impatience {
 public:
  /// `give_up` runs once, in the watching thread; it ends the process or wakes who waits.
  Impatience(SignalInbox& inbox, std::function<void()> give_up);
  ~Impatience();
  Impatience(const Impatience&) = delete;
  Impatience& operator=(const Impatience&) = delete;

 private:
  void watch(SignalInbox& inbox, const std::function<void()>& give_up) const;
  Descriptor end_;  ///< readable: stop watching
  std::thread thread_;
};

}  // namespace gradwatt::launch

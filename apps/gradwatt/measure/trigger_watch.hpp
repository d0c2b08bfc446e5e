// Looks at the last minutes of the running job now and then, keeps each trigger that fires as an event, and on request
// lets the job's agents take a trace of a few steps when the first one does, which is analysed at once.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/diagnosis/triggers.hpp"
#include "gradwatt/launch/marks/ring_directory.hpp"
#include "gradwatt/record/sink.hpp"

namespace gradwatt::app {

/// One thread: the housekeeper's.
class TriggerWatch {
 public:
  struct Options {
    std::filesystem::path traces;  ///< folder for traces of a drill-down; empty: none is taken
    std::function<void(const std::string&)> say = [](const std::string&) {};  ///< a sentence for the user
  };
  TriggerWatch(Options options, record::Sink& sink) : options_(std::move(options)), sink_(sink) {}

  /// Whether it is time for a look: looking costs milliseconds, triggers hold for half a minute.
  [[nodiscard]] bool due(core::Instant now);
  void look(core::Instant now, const std::vector<diagnosis::Trigger>& alerts, launch::marks::RingDirectory* rings);
  /// Once a second while a drill-down runs; `last`: the job has ended, take what is there.
  void follow_drill_down(core::Instant now, launch::marks::RingDirectory* rings, bool last = false);

 private:
  void begin_drill_down(core::Instant now, launch::marks::RingDirectory* rings);
  void analyse(core::Instant now);
  void event(core::Instant now, std::string kind, std::string text);

  Options options_;
  record::Sink& sink_;
  std::optional<core::Instant> next_;
  std::set<std::string, std::less<>> fired_;
  std::size_t asked_ = 0;  ///< agents that were asked for a trace
  bool analysed_ = false;
};

}  // namespace gradwatt::app

// Plays schedules of messages on a platform's hosts. Private to this folder.
#pragma once

#include <simgrid/s4u.hpp>

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "gradwatt/simulation/schedule.hpp"

namespace gradwatt::simulation {

/// How a schedule is played this time.
struct Playing {
  double share = 1;           ///< of the schedule's bytes
  double more_latency_s = 0;  ///< added for each round of the algorithm: pieces that follow the first one
  double rate = -1;           ///< highest bytes a second of one message; −1: the link's
};

/// Post boxes between members; messages of one tag between two of them keep their order.
class Postage {
 public:
  simgrid::s4u::Mailbox* box(int from, int to, int tag);
  [[nodiscard]] std::uint64_t messages() const { return messages_; }

  /// Plays one track in the calling actor.
  void play(const Track& track, int member, const Playing& playing);
  /// Plays all tracks of a member: the first in the calling actor, the others beside it. Ends with the last.
  void play(const Schedule& schedule, int member, const Playing& playing);

 private:
  void play_round(const Round& round, int member, const Playing& playing);

  std::unordered_map<std::uint64_t, simgrid::s4u::Mailbox*> boxes_;
  std::uint64_t messages_ = 0;
};

}  // namespace gradwatt::simulation

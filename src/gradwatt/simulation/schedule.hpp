// Who sends what to whom in a collective, as data: tracks of rounds for every member. A round posts its sends and
// receives together and ends when all of them have ended; the tracks of a member run beside each other.
#pragma once

#include <vector>

namespace gradwatt::simulation {

struct Transfer {
  int peer = 0;
  double bytes = 0;
  int tag = 0;  ///< messages between two members with the same tag keep their order
};
struct Source {
  int peer = 0;
  int tag = 0;
};

struct Round {
  std::vector<Transfer> sends;
  std::vector<Source> receives;
  int repeat = 1;         ///< so many equal rounds follow each other
  double merged = 1;      ///< rounds of the algorithm that it stands for: their bytes in one message
  double at_least_s = 0;  ///< the round lasts so long even where its messages are through earlier
  double pause_s = 0;     ///< after it
};

using Track = std::vector<Round>;

struct Schedule {
  std::vector<std::vector<Track>> tracks;  ///< by member, then track

  [[nodiscard]] int members() const { return static_cast<int>(tracks.size()); }
};

/// Messages of one play of it, all members together.
[[nodiscard]] double message_count(const Schedule& schedule);
/// Bytes that a member sends.
[[nodiscard]] double bytes_sent(const Schedule& schedule, int member);
/// What follows `first`, member by member; both have one track.
[[nodiscard]] Schedule then(Schedule first, const Schedule& second);

}  // namespace gradwatt::simulation

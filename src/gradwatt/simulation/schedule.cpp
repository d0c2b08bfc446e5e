#include "gradwatt/simulation/schedule.hpp"

namespace gradwatt::simulation {

double message_count(const Schedule& schedule) {
  double count = 0;
  for (const auto& member : schedule.tracks)
    for (const auto& track : member)
      for (const auto& round : track) count += static_cast<double>(round.sends.size()) * round.repeat;
  return count;
}

double bytes_sent(const Schedule& schedule, int member) {
  double bytes = 0;
  for (const auto& track : schedule.tracks[static_cast<std::size_t>(member)])
    for (const auto& round : track)
      for (const auto& send : round.sends) bytes += send.bytes * round.repeat;
  return bytes;
}

Schedule then(Schedule first, const Schedule& second) {
  for (std::size_t i = 0; i < first.tracks.size(); ++i) {
    auto& track = first.tracks[i].front();
    const auto& more = second.tracks[i].front();
    track.insert(track.end(), more.begin(), more.end());
  }
  return first;
}

}  // namespace gradwatt::simulation

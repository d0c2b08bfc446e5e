#include "gradwatt/simulation/play.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gradwatt::simulation {
namespace {

namespace s4u = simgrid::s4u;

/// Messages carry a length only; SimGrid wants to move some pointer.
int no_content = 0;

}  // namespace

s4u::Mailbox* Postage::box(int from, int to, int tag) {
  const auto key = (static_cast<std::uint64_t>(from) << 36U) | (static_cast<std::uint64_t>(to) << 8U) |
                   static_cast<std::uint64_t>(tag);
  auto& place = boxes_[key];
  if (place == nullptr) place = s4u::Mailbox::by_name(fmt::format("{}>{}/{}", from, to, tag));
  return place;
}

void Postage::play_round(const Round& round, int member, const Playing& playing) {
  std::vector<s4u::CommPtr> posted;
  std::vector<int*> received(round.receives.size());
  posted.reserve(round.sends.size() + round.receives.size());
  for (const auto& send : round.sends) {
    const auto bytes = static_cast<std::uint64_t>(std::llround(send.bytes * playing.share));
    auto message = box(member, send.peer, send.tag)->put_init(&no_content, bytes);
    if (playing.rate > 0) message->set_rate(playing.rate);
    message->start();
    posted.push_back(std::move(message));
  }
  messages_ += round.sends.size();
  for (std::size_t i = 0; i < round.receives.size(); ++i)
    posted.push_back(box(round.receives[i].peer, member, round.receives[i].tag)->get_async<int>(&received[i]));
  for (auto& message : posted) message->wait();
}

void Postage::play(const Track& track, int member, const Playing& playing) {
  for (const auto& round : track)
    for (int i = 0; i < round.repeat; ++i) {
      const double begin_s = s4u::Engine::get_clock();
      play_round(round, member, playing);
      const double rest_s = begin_s + round.at_least_s * playing.share - s4u::Engine::get_clock();
      const double pause_s = std::fmax(rest_s, round.pause_s + round.merged * playing.more_latency_s);
      if (pause_s > 0) s4u::this_actor::sleep_for(pause_s);
    }
}

void Postage::play(const Schedule& schedule, int member, const Playing& playing) {
  const auto& tracks = schedule.tracks[static_cast<std::size_t>(member)];
  std::vector<s4u::ActorPtr> beside;
  for (std::size_t i = 1; i < tracks.size(); ++i)
    beside.push_back(
        s4u::Actor::create("track", s4u::this_actor::get_host(), [&, i] { play(tracks[i], member, playing); }));
  if (!tracks.empty()) play(tracks.front(), member, playing);
  for (const auto& actor : beside) actor->join();
}

}  // namespace gradwatt::simulation

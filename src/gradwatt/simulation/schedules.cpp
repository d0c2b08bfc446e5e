#include "gradwatt/simulation/schedules.hpp"

#include <functional>

#include "gradwatt/planning/collectives/recursive_doubling.hpp"

namespace gradwatt::simulation {
namespace {

/// One track a member, empty.
Schedule one_track(int members) {
  return {std::vector<std::vector<Track>>(static_cast<std::size_t>(members), std::vector<Track>(1))};
}

Track& track_of(Schedule& schedule, int member) { return schedule.tracks[static_cast<std::size_t>(member)].front(); }

Round exchange(int peer, double bytes) { return {.sends = {{peer, bytes}}, .receives = {{peer}}}; }

/// Everything through the members that a power of two holds: the others hand in first and get the result last.
void fold_around(Schedule& schedule, const planning::Fold& fold, double bytes, const std::function<void()>& core) {
  for (int i = 0; i < fold.folded; ++i) {
    track_of(schedule, fold.core + i).push_back({.sends = {{i, bytes}}});
    track_of(schedule, i).push_back({.receives = {{fold.core + i}}});
  }
  core();
  for (int i = 0; i < fold.folded; ++i) {
    track_of(schedule, i).push_back({.sends = {{fold.core + i, bytes}}});
    track_of(schedule, fold.core + i).push_back({.receives = {{i}}});
  }
}

using Rename = std::function<int(int)>;

/// Up and down one tree: pieces go up as they come, the root turns them round, and they go down.
void add_tree(Schedule& schedule, int members, double piece, int pieces, int first_tag, const Rename& name) {
  const int rising = first_tag, sinking = first_tag + 1;
  std::vector<std::vector<int>> children(static_cast<std::size_t>(members));
  std::vector<int> parent(static_cast<std::size_t>(members));
  for (int i = 0; i < members; ++i) {
    parent[static_cast<std::size_t>(i)] = in_order_parent(i, members);
    if (parent[static_cast<std::size_t>(i)] >= 0)
      children[static_cast<std::size_t>(parent[static_cast<std::size_t>(i)])].push_back(i);
  }
  // Round k receives piece k and passes on piece k − 1.
  const auto pipeline = [&](const std::vector<int>& from, int tag_from, const std::vector<int>& to, int tag_to) {
    Round first, middle, last;
    for (const int peer : from) middle.receives.push_back({name(peer), tag_from});
    for (const int peer : to) middle.sends.push_back({name(peer), piece, tag_to});
    first.receives = middle.receives;
    last.sends = middle.sends;
    middle.repeat = pieces - 1;
    Track track;
    if (from.empty()) {
      last.repeat = pieces;
      track = {last};
    } else if (to.empty()) {
      first.repeat = pieces;
      track = {first};
    } else {
      track = {first, middle, last};
    }
    return track;
  };
  for (int i = 0; i < members; ++i) {
    const auto up = parent[static_cast<std::size_t>(i)];
    const auto& down = children[static_cast<std::size_t>(i)];
    auto& tracks = schedule.tracks[static_cast<std::size_t>(name(i))];
    if (up < 0) {
      tracks.push_back(pipeline(down, rising, down, sinking));
      continue;
    }
    tracks.push_back(pipeline(down, rising, {up}, rising));
    tracks.push_back(pipeline({up}, sinking, down, sinking));
  }
}

}  // namespace

Schedule ring_schedule(int members, double bytes) {
  auto schedule = one_track(members);
  if (members == 1) return schedule;
  for (int i = 0; i < members; ++i)
    track_of(schedule, i) = {{.sends = {{(i + 1) % members, bytes / members}},
                              .receives = {{(i + members - 1) % members}},
                              .repeat = 2 * (members - 1)}};
  return schedule;
}

Schedule recursive_doubling_schedule(int members, double bytes) {
  auto schedule = one_track(members);
  const auto fold = planning::fold_to_power_of_two(members);
  fold_around(schedule, fold, bytes, [&] {
    for (int i = 0; i < fold.core; ++i)
      for (int distance = 1; distance < fold.core; distance *= 2)
        track_of(schedule, i).push_back(exchange(i ^ distance, bytes));
  });
  return schedule;
}

Schedule halving_doubling_schedule(int members, double bytes) {
  auto schedule = one_track(members);
  const auto fold = planning::fold_to_power_of_two(members);
  fold_around(schedule, fold, bytes, [&] {
    for (int i = 0; i < fold.core; ++i) {
      auto& track = track_of(schedule, i);
      double part = bytes / 2;
      for (int distance = fold.core / 2; distance >= 1; distance /= 2, part /= 2)
        track.push_back(exchange(i ^ distance, part));
      part *= 2;
      for (int distance = 1; distance < fold.core; distance *= 2, part *= 2)
        track.push_back(exchange(i ^ distance, part));
    }
  });
  return schedule;
}

Schedule binomial_schedule(int members, double bytes) {
  auto schedule = one_track(members);
  for (int distance = 1; distance < members; distance *= 2)
    for (int to = 0; to + distance < members; to += 2 * distance) {
      track_of(schedule, to + distance).push_back({.sends = {{to, bytes}}});
      track_of(schedule, to).push_back({.receives = {{to + distance}}});
    }
  int top = 1;
  while (top < members) top *= 2;
  for (int distance = top / 2; distance >= 1; distance /= 2)
    for (int from = 0; from + distance < members; from += 2 * distance) {
      track_of(schedule, from).push_back({.sends = {{from + distance, bytes}}});
      track_of(schedule, from + distance).push_back({.receives = {{from}}});
    }
  return schedule;
}

int in_order_parent(int member, int members) {
  const int number = member + 1, lowest = number & -number;
  const int above = (number ^ lowest) | (lowest << 1);
  const int parent = above <= members ? above : number ^ lowest;
  return parent - 1;
}

Schedule double_tree_schedule(int members, double bytes, int pieces) {
  Schedule schedule{std::vector<std::vector<Track>>(static_cast<std::size_t>(members))};
  if (members == 1) return schedule;
  const double piece = bytes / 2 / pieces;
  add_tree(schedule, members, piece, pieces, 0, [](int i) { return i; });
  // Mirrored, or shifted by one where mirroring would keep the leaves: a leaf here is an inner member there.
  add_tree(schedule, members, piece, pieces, 2,
           [=](int i) { return members % 2 == 0 ? members - 1 - i : (i + 1) % members; });
  return schedule;
}

Schedule all_to_all_schedule(int members, double bytes) {
  auto schedule = one_track(members);
  for (int i = 0; i < members; ++i)
    for (int k = 1; k < members; ++k)
      track_of(schedule, i)
          .push_back({.sends = {{(i + k) % members, bytes}}, .receives = {{(i + members - k) % members}}});
  return schedule;
}

Schedule two_level_schedule(int nodes, int members_per_node, double bytes) {
  const int members = nodes * members_per_node;
  auto schedule = one_track(members);
  for (int i = 0; i < members; ++i) {
    const int node = i / members_per_node, place = i % members_per_node;
    const auto in_node = [&](int p) { return node * members_per_node + (p + members_per_node) % members_per_node; };
    const auto at_node = [&](int n) { return (n + nodes) % nodes * members_per_node + place; };
    const Round inside{.sends = {{in_node(place + 1), bytes / members_per_node}},
                       .receives = {{in_node(place - 1)}},
                       .repeat = members_per_node - 1};
    const Round between{.sends = {{at_node(node + 1), bytes / members_per_node / nodes}},
                        .receives = {{at_node(node - 1)}},
                        .repeat = 2 * (nodes - 1)};
    auto& track = track_of(schedule, i);
    if (members_per_node > 1) track.push_back(inside);
    if (nodes > 1) track.push_back(between);
    if (members_per_node > 1) track.push_back(inside);
  }
  return schedule;
}

}  // namespace gradwatt::simulation

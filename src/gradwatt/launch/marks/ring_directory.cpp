#include "gradwatt/launch/marks/ring_directory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradwatt::launch::marks {
namespace {

// A writer in another pid namespace is never found by its pid; while its ring moves it is kept.
constexpr unsigned kIdlePollsOfDead = 50;

}  // namespace

RingDirectory::RingDirectory(std::filesystem::path folder, core::FileTree root)
    : folder_(std::move(folder)), root_(std::move(root)) {}

void RingDirectory::discover() {
  if (!watch_.may_have_changed()) return;
  for (const auto& name : core::FileTree(folder_).list(".")) {
    if (!name.ends_with(".ring") || name.starts_with('.') || seen_.contains(name)) continue;
    seen_.insert(name);
    if (auto reader = RingReader::open(folder_ / name))
      rings_.push_back({std::move(*reader)});
    else
      problems_.push_back(reader.error().message);
  }
}

Batch RingDirectory::poll() {
  discover();
  Batch all;
  for (auto& ring : rings_) {
    auto news = ring.reader.poll();
    if (news.empty() && !ring.reader.writer_alive(root_)) {
      news = ring.reader.finish();
      ring.idle_polls = news.empty() ? ring.idle_polls + 1 : 0;
    }
    all.append(std::move(news));
  }
  std::erase_if(rings_, [](const Ring& ring) { return ring.idle_polls >= kIdlePollsOfDead; });
  return all;
}

Batch RingDirectory::finish() {
  discover();
  Batch all;
  for (auto& ring : rings_) all.append(ring.reader.finish());
  return all;
}

std::vector<RingIdentity> RingDirectory::rings() const {
  std::vector<RingIdentity> identities;
  std::ranges::transform(rings_, std::back_inserter(identities),
                         [](const Ring& ring) { return ring.reader.identity(); });
  return identities;
}

std::size_t RingDirectory::request_profile(std::uint32_t steps, const std::filesystem::path& stem) {
  std::size_t asked = 0;
  for (auto& ring : rings_) {
    const auto path = fmt::format("{}-{}.json", stem.string(), ring.reader.identity().pid);
    if (ring.reader.writer_alive(root_) && ring.reader.request_profile(steps, path)) ++asked;
  }
  asked_ = asked;
  return asked;
}

std::size_t RingDirectory::profiles_answered() const {
  std::size_t open = 0;
  for (const auto& ring : rings_) {
    const auto state = ring.reader.request_state();
    open += state == RequestState::waiting || state == RequestState::taken ? 1 : 0;
  }
  return asked_ - std::min(asked_, open);
}

}  // namespace gradwatt::launch::marks

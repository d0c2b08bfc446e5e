#include "gradwatt/ingest/kineto/trace_picture.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "gradwatt/ingest/kineto/breakdown.hpp"
#include "gradwatt/ingest/kineto/host_time.hpp"

namespace gradwatt::ingest::kineto {
namespace {

using Track = std::pair<std::string, std::string>;  // track and kind, as a Span names them

std::string_view kind_of(const DeviceEvent& event, const std::vector<KernelTraits>& traits) {
  if (event.work != Work::kernel) return "copy";
  return traits[event.name].communicates() ? "communication" : "compute";
}

std::map<Track, std::vector<Interval>> tracks_of(const Trace& trace) {
  const auto traits = traits_of(trace.kernels);
  std::map<std::pair<NameId, std::string_view>, std::vector<Interval>> streams;
  for (const auto& event : trace.device)
    streams[{event.track, kind_of(event, traits)}].push_back({event.begin_ns, event.end_ns});
  std::map<Track, std::vector<Interval>> tracks;
  for (auto& [key, pieces] : streams)
    tracks[{trace.tracks.text(key.first), std::string(key.second)}] = std::move(pieces);
  for (const auto& event : trace.host) {
    const Interval time{event.begin_ns, event.end_ns};
    if (event.role == HostRole::loader) tracks[{"host", "data_wait"}].push_back(time);
    if (event.role == HostRole::wait) tracks[{"host", "device_wait"}].push_back(time);
  }
  return tracks;
}

}  // namespace

std::vector<record::Mark> marks_of(const Trace& trace, const StepWindow& window, std::int32_t rank) {
  const auto base = trace.base_ns.value_or(0);
  const auto loader = loader_waits(window);
  const auto activity = activity_of(window.work, traits_of(trace.kernels));
  const auto exposed = without(activity.communication, activity.compute);
  std::vector<record::Mark> marks;
  for (const auto& step : window.steps) {
    record::Mark mark{.rank = rank,
                      .kind = record::MarkKind::step,
                      .number = static_cast<std::int64_t>(marks.size()),
                      .begin_ns = base + step.time.begin_ns,
                      .end_ns = base + step.time.end_ns,
                      // Kineto writes when things ran, on the device as on the host: no host time around a launch.
                      .clock = record::PhaseClock::device_events};
    const auto phase = [&](record::Phase p) -> auto& { return mark.phase_ns.at(static_cast<std::size_t>(p)); };
    if (loader) phase(record::Phase::data_wait) = covered_ns(*loader, step.time);
    if (!activity.communication.empty()) phase(record::Phase::comm_exposed) = covered_ns(exposed, step.time);
    marks.push_back(std::move(mark));
  }
  return marks;
}

std::vector<record::Span> picture_of(const Trace& trace, std::int32_t rank) {
  std::vector<record::Span> spans;
  if (!trace.first_ns) return spans;
  const auto tracks = tracks_of(trace);
  const auto count = static_cast<std::int64_t>(tracks.size());
  const auto pieces = std::min(kMostPiecesOfTrack, kMostPieces / std::max<std::int64_t>(1, count));
  const auto gap = (*trace.last_ns - *trace.first_ns) / std::max<std::int64_t>(1, pieces);
  const auto base = trace.base_ns.value_or(0);
  for (const auto& [track, times] : tracks)
    for (const auto& piece : united(times, gap))
      if (spans.size() < kMostPieces)
        spans.push_back({.rank = rank,
                         .track = track.first,
                         .kind = track.second,
                         .begin_ns = base + piece.begin_ns,
                         .end_ns = base + piece.end_ns});
  return spans;
}

}  // namespace gradwatt::ingest::kineto

#include "gradwatt/ingest/kineto/kineto_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>

#include "gradwatt/ingest/kineto/event_parser.hpp"
#include "gradwatt/ingest/kineto/head_sections.hpp"
#include "gradwatt/ingest/kineto/rank_of_file.hpp"
#include "gradwatt/ingest/kineto/step_window.hpp"
#include "gradwatt/ingest/kineto/trace_facts.hpp"
#include "gradwatt/ingest/kineto/trace_picture.hpp"
#include "gradwatt/ingest/kineto/trace_text.hpp"

namespace gradwatt::ingest::kineto {
namespace {

core::Error unusable(std::string reason) { return {core::Errc::unusable_input, std::move(reason)}; }

/// Takes the text apart into rows, as long as they fit.
class RowCollector final : public TraceVisitor {
 public:
  RowCollector(Trace& trace, std::uint64_t limit) : trace_(trace), parser_(trace), limit_(limit) {}
  [[nodiscard]] bool wants(std::string_view key) const override { return is_head_section(key); }
  void section(std::string_view key, std::string_view json) override { read_head_section(key, json, trace_); }
  bool event(std::string_view json) override {
    parser_.add(json);
    return memory() < limit_;
  }

 private:
  [[nodiscard]] std::uint64_t memory() const {
    const auto names = trace_.kernels.bytes() + trace_.calls.bytes() + trace_.tracks.bytes() + trace_.threads.bytes();
    return trace_.device.capacity() * sizeof(DeviceEvent) + trace_.host.capacity() * sizeof(HostEvent) + 2 * names;
  }

  Trace& trace_;
  EventParser parser_;
  std::uint64_t limit_;
};

void note_reading(const TextEnd& end, const Trace& trace, std::uint64_t limit, Diagnostics& notes) {
  if (end.stopped)
    notes.note(
        fmt::format("its events take more than {} MiB, a quarter of the memory that is available; the first {} are "
                    "used, so its end is missing",
                    limit >> 20U, trace.events));
  if (!end.stopped && !end.whole)
    notes.note(fmt::format("is not complete: {}; the {} events before are used", end.why, trace.events));
  if (trace.unreadable > 0)
    notes.note(fmt::format("{} events are no JSON or have no time; they are not used", trace.unreadable));
}

void note_window(const Trace& trace, const StepWindow& window, Diagnostics& notes) {
  if (window.steps.empty())
    notes.note("has no ProfilerStep, so its figures are of the whole trace and none is a step's; call prof.step()");
  if (window.cut_steps > 0) notes.note("its last step was begun only when the profiler stopped; it is left out");
  if (trace.device.empty())
    notes.note("has no work of a device: a profile of the CPU alone (ProfilerActivity.CUDA adds the rest)");
  if (!trace.device.empty() && window.work.empty())
    notes.note("no device worked in its steps, so nothing is known of the device's time");
  if (lacks_collectives(trace, window))
    notes.note(
        fmt::format("is of one of {} ranks but holds no collective (kernels of nccl, rccl or hccl, ranges of gloo): "
                    "communication and stragglers cannot be judged from it",
                    *trace.world_size));
}

/// The earliest wall time that a trace can have: PyTorch's profiler is younger than 2015. Times before count from some
/// other zero.
constexpr Nanoseconds kFirstWallTime = 1'420'070'400'000'000'000;

void describe_trace(record::Run& run, const Trace& trace, const RankOfFile& rank) {
  const bool wall = trace.base_ns || trace.first_ns.value_or(0) >= kFirstWallTime;
  run.set(record::meta::kZoneKnown, std::string(wall ? "1" : "0"));
  run.set(record::meta::kComplete, std::string(trace.complete ? "1" : "0"));
  run.set(kRankKey, rank.rank);
  run.set(kRankOriginKey, std::string(name_of(rank.origin)));
  if (!wall) run.set("import_time", std::string("relative"));
  if (trace.first_ns) {
    const auto base = trace.base_ns.value_or(0);
    run.set(record::meta::kJobBegin, base + *trace.first_ns);
    run.set(record::meta::kJobEnd, base + *trace.last_ns);
  }
}

}  // namespace

bool may_be_trace(const LineReader& file) {
  const auto head = file.head();
  const auto first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos || (head[first] != '{' && head[first] != '[')) return false;
  constexpr auto kSigns = std::to_array<std::string_view>(
      {"\"traceEvents\"", "\"deviceProperties\"", "\"distributedInfo\"", "\"displayTimeUnit\"", "\"ph\""});
  return std::ranges::any_of(kSigns, [&](auto sign) { return head.find(sign) != std::string_view::npos; });
}

std::uint64_t default_memory_limit() {
  constexpr std::uint64_t kUnknown = std::uint64_t{1} << 30U;
  std::ifstream info("/proc/meminfo");
  for (std::string word; info >> word;)
    if (std::uint64_t kib = 0; word == "MemAvailable:" && info >> kib) return kib * 1024 / 4;
  return kUnknown;
}

core::Result<Trace> read_trace(ByteSource& bytes, Diagnostics& notes, std::uint64_t memory_limit) {
  Trace trace;
  RowCollector collector(trace, memory_limit);
  const auto end = walk_trace(bytes, collector);
  if (!end) return core::fail(end.error());
  if (!end->has_events)
    return core::fail(unusable(end->whole ? "line 1: JSON, but no trace of a profiler: it has no \"traceEvents\""
                                          : fmt::format("line 1: no event of a trace before its end: {}", end->why)));
  if (trace.events == 0)
    return core::fail(unusable(
        fmt::format("line 1: a trace without one event that has a duration{}", end->whole ? "" : "; " + end->why)));
  note_reading(*end, trace, memory_limit, notes);
  trace.complete = end->whole;
  connect_launches(trace);
  return trace;
}

core::Result<ImportedFile> read_kineto(LineReader& file, const std::string& name, const ImportOptions& /*options*/,
                                       Diagnostics& notes) {
  const auto trace = read_trace(file.bytes(), notes, default_memory_limit());
  if (!trace) return core::fail(trace.error());
  const auto window = select_window(*trace);
  const auto rank = rank_of(*trace, name);
  note_rank(rank, notes);
  note_window(*trace, window, notes);
  ImportedFile imported{.rows = trace->events};
  const auto mark_rank = static_cast<std::int32_t>(rank.rank);
  imported.run.marks = marks_of(*trace, window, mark_rank);
  imported.run.spans = picture_of(*trace, mark_rank);
  imported.run.facts = facts_of(*trace, window, rank.rank, name);
  describe(imported, name, kFormatName);
  describe_trace(imported.run, *trace, rank);
  return imported;
}

}  // namespace gradwatt::ingest::kineto

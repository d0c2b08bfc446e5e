#include "gradwatt/launch/marks/mark_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>

#include "gradwatt/core/file_tree.hpp"

namespace gradwatt::launch::marks {
namespace {

constexpr std::size_t kMostOpenTexts = 64;  // a text whose other parts were overrun must not stay for ever

/// No time and no count is negative: not the unknown one, and not what a job's mistake made.
std::optional<std::int64_t> known(std::int64_t value) {
  static_assert(GRADWATT_MARKS_UNKNOWN < 0);
  return value >= 0 ? std::optional(value) : std::nullopt;
}

std::int32_t rank_of(const gradwatt_marks_slot& slot, const RingIdentity& ring) {
  return slot.rank >= 0 ? slot.rank : ring.rank;
}

std::optional<record::Mark> span_mark(const gradwatt_marks_slot& slot, const RingIdentity& ring) {
  const auto& span = slot.content.span;
  record::Mark mark;
  mark.rank = std::max(0, rank_of(slot, ring));
  mark.number = slot.number;
  mark.begin_ns = span.begin_ns;
  mark.end_ns = span.end_ns;
  mark.samples = known(span.samples);
  mark.clock = slot.phase_clock == 1 ? record::PhaseClock::device_events : record::PhaseClock::host;
  if (mark.begin_ns < 0 || mark.end_ns < mark.begin_ns) return std::nullopt;
  if (slot.kind == GRADWATT_MARKS_REGION) {
    mark.kind = record::MarkKind::region;
    mark.name.assign(span.detail.name, strnlen(span.detail.name, GRADWATT_MARKS_NAME_BYTES));
    return mark;
  }
  mark.kind = slot.kind == GRADWATT_MARKS_STEP ? record::MarkKind::step : record::MarkKind::epoch;
  std::ranges::transform(span.detail.phase_ns, mark.phase_ns.begin(), known);
  return mark;
}

std::string subject_of(std::string_view kind, std::int32_t rank, std::int32_t pid) {
  if (kind == "job" || kind == "host") return std::string(kind);
  return rank >= 0 ? fmt::format("rank {}", rank) : fmt::format("pid {}", pid);
}

/// "name=n1.5", "name=e1.5" (estimated) or "name=ttext"; nothing when it is none of them.
std::optional<record::Fact> parse_fact(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos || equals + 1 >= text.size()) return std::nullopt;
  record::Fact fact;
  fact.name = text.substr(0, equals);
  const char type = text[equals + 1];
  const auto value = text.substr(equals + 2);
  if (type == 't') {
    fact.value = std::string(value);
    return fact;
  }
  const auto number = core::parse_number(value);
  if ((type != 'n' && type != 'e') || !number) return std::nullopt;
  fact.value = *number;
  if (type == 'e') fact.how = record::How::estimated;
  return fact;
}

}  // namespace

void Batch::append(Batch other) {
  std::ranges::move(other.marks, std::back_inserter(marks));
  std::ranges::move(other.facts, std::back_inserter(facts));
  overruns += other.overruns;
  torn += other.torn;
  malformed += other.malformed;
}

void MarkDecoder::decode(const gradwatt_marks_slot& slot, const RingIdentity& ring, Batch& into) {
  if (slot.kind == GRADWATT_MARKS_TEXT) return decode_text(slot, ring, into);
  const bool is_span = slot.kind >= GRADWATT_MARKS_STEP && slot.kind <= GRADWATT_MARKS_REGION;
  auto mark = is_span ? span_mark(slot, ring) : std::nullopt;
  if (mark)
    into.marks.push_back(std::move(*mark));
  else
    ++into.malformed;
}

void MarkDecoder::decode_text(const gradwatt_marks_slot& slot, const RingIdentity& ring, Batch& into) {
  const auto& text = slot.content.text;
  if (text.bytes > GRADWATT_MARKS_TEXT_BYTES || text.parts == 0 || text.parts > GRADWATT_MARKS_TEXT_PARTS ||
      slot.part >= text.parts) {
    ++into.malformed;
    return;
  }
  auto& open = texts_[slot.number];
  open.parts[slot.part].assign(text.text, text.bytes);
  if (open.parts.size() < text.parts) {
    if (texts_.size() > kMostOpenTexts) texts_.erase(texts_.begin());
    return;
  }
  std::string whole;
  for (const auto& [part, piece] : open.parts) whole += piece;
  texts_.erase(slot.number);
  auto fact = parse_fact(whole);
  if (!fact) {
    ++into.malformed;
    return;
  }
  const auto* known_fact = record::find_fact(fact->name);
  fact->subject = subject_of(known_fact != nullptr ? known_fact->subject : "process", rank_of(slot, ring), ring.pid);
  if (known_fact != nullptr) fact->unit = known_fact->unit;
  fact->time_ns = known(text.time_ns);
  fact->source = fmt::format("{} of process {}", ring.writer == "python" ? "agent" : "marks", ring.pid);
  into.facts.push_back(std::move(*fact));
}

}  // namespace gradwatt::launch::marks

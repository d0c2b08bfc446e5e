#include "gradwatt/ingest/file_clock.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace gradwatt::ingest {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kHour = 3600 * kSecond, kDay = 24 * kHour;
constexpr std::string_view kJump = "jumps of the clock";
/// Summer time ends once a year, a day once a day: a file with more jumps is no recording on such a clock.
constexpr int kMostSummers = 8, kMostMidnights = 4000;

}  // namespace

std::optional<std::int64_t> FileClock::place(const ParsedTime& time, std::size_t line, Diagnostics& diagnostics) {
  const bool absolute = time.kind == TimeKind::utc || time.kind == TimeKind::local;
  if (kind_ && absolute != is_absolute()) return std::nullopt;
  if (kind_ && !absolute && *kind_ != time.kind) return std::nullopt;
  if (!kind_ || time.kind == TimeKind::local) kind_ = time.kind;
  whole_seconds_ = whole_seconds_ && time.whole_seconds;
  std::int64_t ns = time.ns;
  if (time.kind == TimeKind::local && options_.utc_offset) ns -= std::chrono::nanoseconds(*options_.utc_offset).count();
  return undo_jump(ns + shift_, time.kind, line, diagnostics);
}

std::int64_t FileClock::undo_jump(std::int64_t ns, TimeKind kind, std::size_t line, Diagnostics& diagnostics) {
  const auto step = last_ ? ns - *last_ : 0;
  // A row comes at most a few periods after the one before; a log that is begun again is off by more.
  const auto slack = std::clamp(3 * std::min(period_, kHour), 5 * kSecond, 600 * kSecond);
  const bool summer_ends = kind == TimeKind::local && step < 0 && std::abs(step + kHour) <= slack;
  const bool midnight = kind == TimeKind::clock && step < -kDay / 2;
  if ((summer_ends && jumps_undone_ < kMostSummers) || (midnight && jumps_undone_ < kMostMidnights)) {
    const auto back = midnight ? kDay : kHour;
    shift_ += back, ns += back;
    ++jumps_undone_;
    diagnostics.add(kJump, line,
                    midnight
                        ? "the time of day passes midnight; the rows below count as the next day"
                        : "local time goes back by an hour, as at the end of summer time; the rows below count as an "
                          "hour later");
  } else if (step > 0) {
    const bool summer_begins =
        kind == TimeKind::local && std::abs(step - kHour - period_) <= std::max(period_, kSecond);
    if (summer_begins && period_ > 0 && period_ < kHour / 4)
      diagnostics.add(kJump, line, "an hour is missing here: no readings, or the begin of summer time");
    period_ = step;
  }
  last_ = ns;
  return ns;
}

}  // namespace gradwatt::ingest

#include "gradwatt/ingest/timestamp.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"

namespace gradwatt::ingest {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

bool digit(char c) { return c >= '0' && c <= '9'; }
bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Reads a text from the front, piece by piece.
struct Scanner {
  std::string_view rest;

  [[nodiscard]] bool done() const { return rest.empty(); }
  [[nodiscard]] char peek() const { return rest.empty() ? '\0' : rest.front(); }
  bool eat(char c) { return peek() == c && (rest.remove_prefix(1), true); }
  void spaces() {
    while (peek() == ' ') rest.remove_prefix(1);
  }
  /// An unsigned number of `min` to `max` digits, nothing else consumed where it is none.
  std::optional<int> number(std::size_t min, std::size_t max) {
    std::size_t n = 0;
    int value = 0;
    for (; n < rest.size() && n < max && digit(rest[n]); ++n) value = value * 10 + (rest[n] - '0');
    if (n < min || (n < rest.size() && digit(rest[n]))) return std::nullopt;
    rest.remove_prefix(n);
    return value;
  }
  std::string_view word() {
    std::size_t n = 0;
    while (n < rest.size() && letter(rest[n])) ++n;
    const auto found = rest.substr(0, n);
    rest.remove_prefix(n);
    return found;
  }
};

struct Date {
  int year, month, day;
};
struct TimeOfDay {
  std::int64_t ns = 0;
  bool whole_seconds = true;
};

/// Digits after the point, as nanoseconds; at least one digit.
std::optional<std::int64_t> fraction_ns(Scanner& in) {
  std::int64_t ns = 0, scale = kSecond / 10;
  if (!digit(in.peek())) return std::nullopt;
  for (; digit(in.peek()); in.rest.remove_prefix(1), scale /= 10) ns += (in.peek() - '0') * scale;
  return ns;
}

/// "AM" or "PM" after a 12-hour time. False when the hour does not fit it.
bool half_of_day(Scanner& in, int& hour) {
  Scanner ahead = in;
  ahead.spaces();
  const auto word = core::to_lower(ahead.word());
  if (word != "am" && word != "pm") return true;
  if (hour < 1 || hour > 12) return false;
  hour = hour % 12 + (word == "pm" ? 12 : 0);
  in = ahead;
  return true;
}

std::optional<TimeOfDay> time_of_day(Scanner& in) {
  auto hour = in.number(1, 2);
  if (!hour || !in.eat(':')) return std::nullopt;
  const auto minute = in.number(2, 2);
  if (!minute) return std::nullopt;
  int second = 0;
  TimeOfDay time;
  if (in.eat(':')) {
    const auto s = in.number(2, 2);
    if (!s) return std::nullopt;
    second = *s;
    if (in.eat('.') || in.eat(',')) {
      const auto fraction = fraction_ns(in);
      if (!fraction) return std::nullopt;
      time.ns = *fraction;
      time.whole_seconds = false;
    }
  }
  if (!half_of_day(in, *hour) || *hour > 23 || *minute > 59 || second > 60) return std::nullopt;
  time.ns += ((*hour * 60 + *minute) * 60 + second) * kSecond;
  return time;
}

/// Seconds east of UTC; `named` zones other than UTC are not known and leave the time local.
struct Zone {
  bool known = false;
  std::int64_t offset_s = 0;
};
std::optional<Zone> zone(Scanner& in) {
  in.spaces();
  if (in.done()) return Zone{};
  if (in.peek() == '+' || in.peek() == '-') {
    const int sign = in.eat('-') ? -1 : (in.eat('+'), 1);
    const auto compact = in.number(4, 4);
    if (compact) {
      if (*compact / 100 > 14 || *compact % 100 > 59) return std::nullopt;
      return Zone{true, sign * (*compact / 100 * 3600LL + *compact % 100 * 60)};
    }
    const auto hours = in.number(1, 2);
    const auto minutes = hours && in.eat(':') ? in.number(2, 2) : std::optional(0);
    if (!hours || !minutes || *hours > 14 || *minutes > 59) return std::nullopt;
    return Zone{true, sign * (*hours * 3600LL + *minutes * 60)};
  }
  const auto name = core::to_lower(in.word());
  if (name.empty() || name.size() > 5) return std::nullopt;
  return Zone{name == "z" || name == "utc" || name == "gmt", 0};
}

std::optional<std::int64_t> day_ns(const Date& date) {
  const std::chrono::year_month_day day{std::chrono::year(date.year), std::chrono::month(unsigned(date.month)),
                                        std::chrono::day(unsigned(date.day))};
  if (!day.ok() || date.year < 1971 || date.year > 2200) return std::nullopt;
  return std::chrono::sys_days(day).time_since_epoch().count() * std::int64_t{86400} * kSecond;
}

std::optional<ParsedTime> joined(const Date& date, const TimeOfDay& time, const Zone& where) {
  const auto begin = day_ns(date);
  if (!begin) return std::nullopt;
  return ParsedTime{*begin + time.ns - where.offset_s * kSecond, where.known ? TimeKind::utc : TimeKind::local,
                    time.whole_seconds};
}

std::optional<int> month_named(std::string_view word) {
  constexpr std::array<std::string_view, 12> kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                                                     "jul", "aug", "sep", "oct", "nov", "dec"};
  const auto lower = core::to_lower(word);
  if (lower.size() < 3) return std::nullopt;
  const auto* it = std::ranges::find(kMonths, std::string_view(lower).substr(0, 3));
  if (it == kMonths.end()) return std::nullopt;
  return static_cast<int>(it - kMonths.begin()) + 1;
}

/// Year first, or the year last and one of the others above 12.
std::optional<Date> numeric_date(Scanner& in) {
  const auto first = in.number(1, 4);
  const char between = in.peek();
  if (!first || (between != '/' && between != '-' && between != '.') || !in.eat(between)) return std::nullopt;
  const auto second = in.number(1, 2);
  if (!second || !in.eat(between)) return std::nullopt;
  const auto third = in.number(1, 4);
  if (!third) return std::nullopt;
  if (*first > 31) return Date{*first, *second, *third};
  if (*first > 12 && *second <= 12) return Date{*third, *second, *first};
  if (*second > 12 && *first <= 12) return Date{*third, *first, *second};
  return std::nullopt;
}

std::optional<ParsedTime> numeric_date_time(std::string_view text) {
  Scanner in{text};
  const auto date = numeric_date(in);
  if (!date) return std::nullopt;
  if (!in.eat('T') && !in.eat('_') && in.peek() != ' ') return std::nullopt;
  in.spaces();
  const auto time = time_of_day(in);
  if (!time) return std::nullopt;
  const auto where = zone(in);
  if (!where || !in.done()) return std::nullopt;
  return joined(*date, *time, *where);
}

/// Words in any order: a month's name, a day, a year and a time; weekday and zone names around them.
std::optional<ParsedTime> worded_date_time(std::string_view text) {
  std::optional<int> month, day, year;
  std::optional<TimeOfDay> time;
  Zone where;
  Scanner in{text};
  for (in.spaces(); !in.done(); in.spaces()) {
    in.eat(',');
    if (letter(in.peek())) {
      const auto word = in.word();
      if (!month) month = month_named(word);
      if (word == "UTC" || word == "GMT" || word == "Z") where.known = true;
      continue;
    }
    if (Scanner ahead = in; !time && (time = time_of_day(ahead))) {
      in = ahead;
    } else if (const auto four = in.number(4, 4); four && !year) {
      year = four;
    } else if (const auto two = in.number(1, 2); two && !day) {
      day = two;
    } else if (!in.eat(',') && !in.eat(' ')) {
      return std::nullopt;
    }
  }
  if (!month || !day || !year || !time) return std::nullopt;
  return joined({*year, *month, *day}, *time, where);
}

std::optional<ParsedTime> clock_time(std::string_view text) {
  Scanner in{text};
  const auto time = time_of_day(in);
  if (!time || !in.done()) return std::nullopt;
  return ParsedTime{time->ns, TimeKind::clock, time->whole_seconds};
}

/// Digits with an optional fraction, exact to the nanosecond where a double is not.
struct Decimal {
  std::int64_t whole = 0, ns = 0;  // ns: of the fraction
  bool has_fraction = false;
};
std::optional<Decimal> decimal(std::string_view text) {
  Decimal value;
  std::size_t n = 0;
  for (; n < text.size() && digit(text[n]); ++n) {
    if (n >= 18 + 1) return std::nullopt;
    if (value.whole > (INT64_MAX - 9) / 10) return std::nullopt;
    value.whole = value.whole * 10 + (text[n] - '0');
  }
  if (n == 0) return std::nullopt;
  Scanner in{text.substr(n)};
  if (in.done()) return value;
  if (!in.eat('.') && !in.eat(',')) return std::nullopt;
  value.has_fraction = true;
  if (in.done()) return value;
  const auto fraction = fraction_ns(in);
  if (!fraction || !in.done()) return std::nullopt;
  value.ns = *fraction;
  return value;
}

std::optional<Decimal> number(std::string_view text) {
  if (const auto exact = decimal(text)) return exact;
  const auto value = core::parse_number(text);  // exponents, as spreadsheets write them
  if (!value || *value < 0 || *value > 9e18) return std::nullopt;
  const double whole = std::floor(*value);
  return Decimal{static_cast<std::int64_t>(whole), std::llround((*value - whole) * 1e9), true};
}

TimeUnit unit_by_size(std::int64_t whole) {
  if (whole < 100'000'000'000) return TimeUnit::s;
  if (whole < 100'000'000'000'000) return TimeUnit::ms;
  return whole < 100'000'000'000'000'000 ? TimeUnit::us : TimeUnit::ns;
}

std::optional<ParsedTime> numeric_time(std::string_view text, TimeUnit unit) {
  const auto value = number(text);
  if (!value) return std::nullopt;
  if (unit == TimeUnit::automatic) unit = unit_by_size(value->whole);
  constexpr std::array<std::int64_t, 5> kNs{kSecond, kSecond, 1'000'000, 1000, 1};
  const auto scale = kNs.at(static_cast<std::size_t>(unit));
  constexpr std::int64_t kLast = 7'258'118'400;  // 2200-01-01
  if (value->whole / (kSecond / scale) >= kLast) return std::nullopt;
  ParsedTime time{value->whole * scale + value->ns / (kSecond / scale), TimeKind::utc, false};
  time.whole_seconds = unit == TimeUnit::s && !value->has_fraction;
  if (time.ns < 100'000'000 * kSecond) time.kind = TimeKind::relative;
  return time;
}

}  // namespace

std::optional<ParsedTime> parse_time(std::string_view text, TimeUnit unit) {
  text = core::trim(text);
  if (text.empty() || text.size() > 64) return std::nullopt;
  if (const auto time = numeric_date_time(text)) return time;
  if (const auto time = numeric_time(text, unit)) return time;
  if (const auto time = clock_time(text)) return time;
  return worded_date_time(text);
}

}  // namespace gradwatt::ingest

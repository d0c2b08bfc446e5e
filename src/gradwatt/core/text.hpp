// Small text helpers that every user-facing part shares.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gradwatt::core {

[[nodiscard]] std::string_view trim(std::string_view text);
/// Pieces between separators; empty pieces are kept.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
/// Calls `visit` with each line in turn; no list of them is made.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    visit(text.substr(begin, end - begin));
    begin = end + 1;
  }
}
/// Pieces between runs of white space; no empty pieces.
[[nodiscard]] std::vector<std::string_view> split_words(std::string_view text);
[[nodiscard]] std::string to_lower(std::string_view text);

/// The candidate that a mistyped word most likely meant, if one is near enough (edit distance ≤ 1/3 of its length).
[[nodiscard]] std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> candidates);

/// "90s", "1.5m", "2h", "250ms", "3d"; a bare number is seconds. Nothing for anything else or a value below zero.
[[nodiscard]] std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);
/// "0.42 s", "12.3 s", "4 min 05 s", "3 h 07 min", "2 d 04 h".
[[nodiscard]] std::string format_duration(std::chrono::nanoseconds duration);

/// Three significant digits with an SI prefix: 1234 W -> "1.23 kW"; 0.0042 J -> "4.20 mJ".
[[nodiscard]] std::string format_si(double value, std::string_view unit);

/// 2026-11-30T13:05:09.123Z
[[nodiscard]] std::string format_utc(std::chrono::sys_time<std::chrono::nanoseconds> time);

/// One CSV cell: quoted when it holds a comma, quote or line break.
[[nodiscard]] std::string csv_cell(std::string_view text);

}  // namespace gradwatt::core

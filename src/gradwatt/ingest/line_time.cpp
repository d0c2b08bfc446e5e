#include "gradwatt/ingest/line_time.hpp"

#include <algorithm>
#include <string>

namespace gradwatt::ingest {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

/// A date and time as ISO 8601 or near it, at the begin of `text`.
std::optional<ParsedTime> iso_time(std::string_view text) {
  constexpr std::size_t kShortest = 19;  // 2024-07-28 10:09:47
  if (text.size() < kShortest || !digit(text[0]) || !digit(text[3]) || (text[4] != '-' && text[4] != '/')) return {};
  std::size_t end = kShortest;
  if (end < text.size() && (text[end] == '.' || text[end] == ',')) {
    ++end;
    while (end < text.size() && digit(text[end])) ++end;
  }
  if (end < text.size() && text[end] == 'Z') {
    ++end;
  } else if (end < text.size() && (text[end] == '+' || text[end] == '-')) {
    auto zone = end + 1;
    while (zone < text.size() && (digit(text[zone]) || text[zone] == ':')) ++zone;
    if (zone - end >= 5) end = zone;
  }
  std::string moment(text.substr(0, end));
  std::ranges::replace(moment, ',', '.');
  return parse_time(moment);
}

}  // namespace

std::optional<ParsedTime> line_time(std::string_view text) {
  text = text.substr(0, 80);
  if (text.starts_with("DLL ")) text.remove_prefix(4);
  if (!text.starts_with('[')) return iso_time(text);
  const auto close = text.find(']');
  if (close == std::string_view::npos) return {};
  if (const auto time = iso_time(text.substr(1, close - 1))) return time;
  const auto time = digit(text[close - 1]) && close > 20 ? parse_time(text.substr(1, close - 1)) : std::nullopt;
  return time && time->kind != TimeKind::relative && time->kind != TimeKind::clock ? time : std::nullopt;
}

}  // namespace gradwatt::ingest

#include "gradwatt/ingest/kineto/event_time.hpp"

#include <charconv>
#include <cmath>

namespace gradwatt::ingest::kineto {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Exponents and whatever else a plain decimal is not.
std::optional<std::int64_t> parse_slowly(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  value *= 1000;
  if (!(std::abs(value) < static_cast<double>(kLatest))) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

}  // namespace

std::optional<std::int64_t> parse_microseconds(std::string_view text) {
  constexpr std::size_t kSafeDigits = 17;
  const bool negative = text.starts_with('-');
  const auto digits = negative ? text.substr(1) : text;
  std::uint64_t whole = 0;
  std::size_t at = 0;
  for (; at < digits.size() && is_digit(digits[at]) && at < kSafeDigits; ++at)
    whole = 10 * whole + static_cast<std::uint64_t>(digits[at] - '0');
  if (at == 0 || whole > static_cast<std::uint64_t>(kLatest) / 1000 - 1) return std::nullopt;
  std::uint64_t fraction = 0;
  if (at < digits.size() && digits[at] == '.') {
    std::uint64_t scale = 100;
    for (++at; at < digits.size() && is_digit(digits[at]); ++at, scale /= 10)
      fraction += scale * static_cast<std::uint64_t>(digits[at] - '0');
  }
  if (at < digits.size()) return parse_slowly(text);
  const auto value = static_cast<std::int64_t>(whole * 1000 + fraction);
  return negative ? -value : value;
}

}  // namespace gradwatt::ingest::kineto

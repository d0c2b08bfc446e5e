// Reading a line from the front, piece by piece: what the readers of free text need instead of regular expressions,
// which are slow and overflow the stack on long hostile lines.
#pragma once

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gradwatt::ingest {

class TextScan {
 public:
  explicit TextScan(std::string_view text) : rest_(text) {}

  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[nodiscard]] bool done() const { return rest_.empty(); }
  TextScan& spaces() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
    return *this;
  }
  /// Goes past `word` where it stands next, after spaces.
  bool eat(std::string_view word) {
    spaces();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  /// Goes past the next place where `word` stands; stays where it is when it stands nowhere.
  bool skip_past(std::string_view word) {
    const auto at = rest_.find(word);
    if (at == std::string_view::npos) return false;
    rest_.remove_prefix(at + word.size());
    return true;
  }
  /// A finite number such as 12, -0.5, 1.6e+07, after spaces.
  std::optional<double> number() {
    spaces();
    double value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  std::optional<std::int64_t> integer() {
    spaces();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{}) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  /// Up to the next white space or one of `stops`, after spaces; may be empty.
  std::string_view word(std::string_view stops = {}) {
    spaces();
    std::size_t n = 0;
    while (n < rest_.size() && std::isspace(static_cast<unsigned char>(rest_[n])) == 0 &&
           stops.find(rest_[n]) == std::string_view::npos)
      ++n;
    const auto found = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return found;
  }

 private:
  std::string_view rest_;
};

/// The number behind the next "key": number_after("rank 3 nranks 8", "nranks ") is 8.
[[nodiscard]] inline std::optional<double> number_after(std::string_view text, std::string_view key) {
  TextScan scan(text);
  return scan.skip_past(key) ? scan.number() : std::nullopt;
}

}  // namespace gradwatt::ingest

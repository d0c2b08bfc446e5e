// Lines for a terminal: width in columns instead of bytes, wrapping under a label, colours that can be left out, and
// ASCII stand-ins where the terminal does not speak UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gradwatt::report {

/// Columns that a UTF-8 text takes; one for each code point (no wide or combining characters in our own texts).
[[nodiscard]] std::size_t columns(std::string_view text);
/// Spaces in front of / behind the text up to `width` columns.
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t width);
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t width);
/// At most `width` columns; what is cut is shown by "…".
[[nodiscard]] std::string shorten(std::string_view text, std::size_t width);
/// The same text with spaces at which no line is broken; Screen prints them as plain spaces.
[[nodiscard]] std::string unbroken(std::string_view text);
/// Lines of at most `width` columns, broken at spaces; a longer word gets a line of its own.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);
/// Control characters of foreign texts (commands, device names) replaced, so that no record can steer a terminal.
[[nodiscard]] std::string printable(std::string_view text);
/// "±" -> "+/-", "·" -> "-", "…" -> "...", "→" -> "->"; every other character beyond ASCII -> "?".
[[nodiscard]] std::string to_ascii(std::string_view text);

enum class Style { plain, strong, dim, good, bad };

class Screen {
 public:
  struct Options {
    std::size_t width = 80;
    bool color = false;  ///< for terminals only; nothing is said by colour alone
    bool utf8 = true;
  };
  explicit Screen(Options options) : options_(options) {}

  [[nodiscard]] std::size_t width() const { return options_.width; }
  /// One line, cut at the width.
  void line(std::string_view text, Style style = Style::plain);
  void blank() { text_ += '\n'; }
  /// "  label     text …", wrapped, further lines indented below the text.
  void entry(std::string_view label, std::string_view text, Style style = Style::plain);
  /// All lines so far.
  [[nodiscard]] std::string text() const { return text_; }

 private:
  void put(std::string_view raw, Style style);
  Options options_;
  std::string text_;
};

/// Columns before the text of an entry.
inline constexpr std::size_t kLabelColumns = 13;

}  // namespace gradwatt::report

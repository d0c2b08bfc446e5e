#include "gradwatt/report/screen.hpp"

#include <algorithm>
#include <array>

#include "gradwatt/core/text.hpp"

namespace gradwatt::report {
namespace {

constexpr std::string_view kNoBreakSpace = "\u00a0";

constexpr bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

/// Bytes of the first `count` code points.
std::size_t bytes_of(std::string_view text, std::size_t count) {
  std::size_t i = 0;
  for (; i < text.size(); ++i)
    if (starts_code_point(text[i]) && count-- == 0) break;
  return i;
}

std::string_view code_of(Style style) {
  constexpr std::array<std::string_view, 5> kCodes{"", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[33m"};
  return kCodes.at(static_cast<std::size_t>(style));
}

std::string with_plain_spaces(std::string_view text) {
  std::string plain(text);
  for (auto at = plain.find(kNoBreakSpace); at != std::string::npos; at = plain.find(kNoBreakSpace, at))
    plain.replace(at, kNoBreakSpace.size(), " ");
  return plain;
}

struct Replacement {
  std::string_view from, to;
};
constexpr auto kAscii = std::to_array<Replacement>({{"±", "+/-"},
                                                    {"−", "-"},
                                                    {"–", "-"},
                                                    {"·", "-"},
                                                    {"…", "..."},
                                                    {"→", "->"},
                                                    {"×", "x"},
                                                    {"µ", "u"},
                                                    {"≥", ">="},
                                                    {"✓", "yes"},
                                                    {"✗", "no"}});

}  // namespace

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_code_point));
}

std::string pad_left(std::string_view text, std::size_t width) {
  const auto used = columns(text);
  return std::string(width > used ? width - used : 0, ' ').append(text);
}

std::string pad_right(std::string_view text, std::size_t width) {
  const auto used = columns(text);
  return std::string(text).append(width > used ? width - used : 0, ' ');
}

std::string shorten(std::string_view text, std::size_t width) {
  if (columns(text) <= width) return std::string(text);
  if (width == 0) return {};
  return std::string(text.substr(0, bytes_of(text, width - 1))).append("…");
}

std::string unbroken(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (c == ' ')
      result += kNoBreakSpace;
    else
      result += c;
  return result;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  for (const auto word : core::split_words(text)) {
    if (!lines.empty() && columns(lines.back()) + 1 + columns(word) <= width)
      lines.back().append(" ").append(word);
    else
      lines.emplace_back(word);
  }
  return lines;
}

std::string printable(std::string_view text) {
  std::string clean;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    clean += byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  return clean;
}

std::string to_ascii(std::string_view text) {
  std::string ascii;
  while (!text.empty()) {
    const auto size = std::max<std::size_t>(1, bytes_of(text, 1));
    const auto character = text.substr(0, size);
    const auto* known = std::ranges::find(kAscii, character, &Replacement::from);
    if (known != kAscii.end())
      ascii += known->to;
    else
      ascii += size == 1 && static_cast<unsigned char>(character[0]) < 0x80 ? character : std::string_view("?");
    text.remove_prefix(size);
  }
  return ascii;
}

void Screen::put(std::string_view raw, Style style) {
  const auto text = with_plain_spaces(raw);
  const auto code = options_.color ? code_of(style) : std::string_view();
  text_.append(code).append(options_.utf8 ? text : to_ascii(text));
  if (!code.empty()) text_ += "\x1b[0m";
  text_ += '\n';
}

void Screen::line(std::string_view text, Style style) { put(shorten(text, options_.width), style); }

void Screen::entry(std::string_view label, std::string_view text, Style style) {
  const auto room = options_.width > kLabelColumns + 20 ? options_.width - kLabelColumns : 20;
  auto head = pad_right(std::string("  ").append(label), kLabelColumns);
  if (columns(head) >= kLabelColumns && !head.ends_with(' ')) head += ' ';
  for (const auto& piece : wrap(text, room)) {
    put(head + piece, style);
    head = std::string(kLabelColumns, ' ');
  }
}

}  // namespace gradwatt::report

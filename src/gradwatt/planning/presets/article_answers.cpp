#include "gradwatt/planning/presets/article_answers.hpp"

#include <fmt/format.h>

#include "gradwatt/core/text.hpp"
#include "gradwatt/planning/presets/preset.hpp"

namespace gradwatt::planning {
namespace {

constexpr std::size_t kColumns = 100;

/// Characters on screen: every byte but those that continue a UTF-8 character.
std::size_t width(std::string_view text) {
  std::size_t n = 0;
  for (const char c : text) n += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  return n;
}

/// "  label    words …", further lines under the first word.
std::string paragraph(std::string_view label, std::string_view words) {
  constexpr std::size_t kIndent = 12;
  std::string text = fmt::format("  {:<{}}", label, kIndent - 2);
  std::size_t column = kIndent;
  for (const auto word : core::split_words(words)) {
    if (column > kIndent && column + 1 + width(word) > kColumns) {
      text += '\n' + std::string(kIndent, ' ');
      column = kIndent;
    } else if (column > kIndent) {
      text += ' ';
      ++column;
    }
    text += word;
    column += width(word);
  }
  return text + '\n';
}

std::string answer_to(const ArticleQuestion& question) {
  std::string text = fmt::format("{}\n", question.question);
  text += paragraph("article", question.claim);
  text += paragraph(words_of(question.standing), question.answer);
  if (question.figures != nullptr) text += '\n' + question.figures() + '\n';
  text += paragraph("source", question.source);
  return text;
}

}  // namespace

std::string_view words_of(Standing standing) {
  switch (standing) {
    case Standing::holds:
      return "holds";
    case Standing::corrected:
      return "corrected";
    case Standing::wrong:
      return "wrong";
    case Standing::unsupported:
      break;
  }
  return "no source";
}

std::string article_answers() {
  std::string text = fmt::format("Questions of two articles, answered from published figures ({}).\n", kPublished);
  std::string_view topic;
  for (const auto& question : article_questions()) {
    if (question.topic != topic) text += fmt::format("\n== {} ==\n", question.topic);
    topic = question.topic;
    text += '\n' + answer_to(question);
  }
  return text;
}

}  // namespace gradwatt::planning

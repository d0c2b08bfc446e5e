// The two articles that the project grew from, asked as questions: what each of their tables claims, and the answer
// that published figures and facts give. Some claims were wrong; none reaches a user without its correction.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gradwatt::planning {

enum class Standing : std::uint8_t {
  holds,
  corrected,    ///< another quantity, scope or direction
  wrong,        ///< the opposite, or harmful
  unsupported,  ///< no source was found: measure it
};
[[nodiscard]] std::string_view words_of(Standing standing);

struct ArticleQuestion {
  std::string_view topic;  ///< section of the answers; questions of one stand together
  std::string_view question, claim;
  Standing standing;
  std::string_view answer;
  std::string_view source;
  std::string (*figures)() = nullptr;  ///< lines made from the presets, under the answer
};
[[nodiscard]] std::span<const ArticleQuestion> article_questions();

/// All of them as plain text of at most 100 columns, with the tables that follow from the presets.
[[nodiscard]] std::string article_answers();

}  // namespace gradwatt::planning

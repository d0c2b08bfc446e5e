#include "gradwatt/planning/presets/article_answers.hpp"

#include <gmock/gmock.h>

#include <set>

#include "gradwatt/core/text.hpp"
#include "gradwatt/report/golden.hpp"

namespace gradwatt::planning {
namespace {

using testing::HasSubstr;

TEST(ArticleAnswers, AreTheCorrectedOnes) {
  report::testing::expect_same_as_file(article_answers(), "tests/golden/article_answers.txt");
}

TEST(ArticleAnswers, EveryQuestionHasAClaimAnAnswerAndASource) {
  std::set<std::string_view> asked;
  for (const auto& q : article_questions()) {
    EXPECT_TRUE(asked.insert(q.question).second) << q.question;
    EXPECT_FALSE(q.claim.empty() || q.answer.empty() || q.source.empty()) << q.question;
  }
}

TEST(ArticleAnswers, QuestionsOfOneTopicStandTogether) {
  std::set<std::string_view> left;
  std::string_view topic;
  for (const auto& q : article_questions()) {
    EXPECT_FALSE(left.contains(q.topic)) << q.question;
    if (!topic.empty() && topic != q.topic) left.insert(topic);
    topic = q.topic;
  }
}

TEST(ArticleAnswers, TheTablesAreComputedFromThePresets) {
  const auto text = article_answers();
  EXPECT_THAT(text, HasSubstr("   4           256              22         88  23.8–27.3\n"));
  EXPECT_THAT(text, HasSubstr("256         65536             0.5        128  34.6–39.7\n"));
  EXPECT_THAT(text, HasSubstr("= 0.92–0.99 of the energy\n"));
  EXPECT_THAT(text, HasSubstr("   1           0.553  48 %\n"));
}

}  // namespace
}  // namespace gradwatt::planning

#include "gradwatt/ingest/kineto/json_cursor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gradwatt::ingest::kineto {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> members(std::string_view text, bool* fine = nullptr) {
  std::vector<std::string> all;
  JsonCursor cursor(text);
  const bool read = for_each_member(cursor, [&](std::string_view key, JsonCursor& at) {
    all.push_back(std::string(key) + "=" + std::string(at.value()));
    return true;
  });
  if (fine != nullptr) *fine = read;
  return all;
}

TEST(JsonCursor, HandsOutMembersAsTheyAreWritten) {
  EXPECT_THAT(members(R"( { "a" : 1.50 ,"b":"x y", "c": [1, {"d": "]"}], "e": {}, "f": null, "g": inf } )"),
              ElementsAre("a=1.50", "b=x y", R"(c=[1, {"d": "]"}])", "e={}", "f=null", "g=inf"));
}

TEST(JsonCursor, FindsTheEndOfAStringBehindEscapes) {
  EXPECT_THAT(members(R"({"a": "\"", "b": "\\", "c": "\\\"}"})"), ElementsAre(R"(a=\")", R"(b=\\)", R"(c=\\\"})"));
}

TEST(JsonCursor, KnowsAnEmptyObjectFromNone) {
  bool fine = false;
  EXPECT_THAT(members("{}", &fine), IsEmpty());
  EXPECT_TRUE(fine);
  EXPECT_THAT(members("[]", &fine), IsEmpty());
  EXPECT_FALSE(fine);
}

TEST(JsonCursor, FailsAtWhatIsNoJson) {
  for (const auto* text :
       {"{", R"({"a")", R"({"a" 1})", R"({"a": })", R"({"a": "x)", R"({a: 1})", R"({"a": [1})", R"({"a": 1 2})", ""}) {
    bool fine = true;
    members(text, &fine);
    EXPECT_FALSE(fine) << text;
  }
}

TEST(JsonCursor, LeavesTheRestWhereTheVisitorHasEnough) {
  JsonCursor cursor(R"({"a": 1, "b": no json at all)");
  EXPECT_TRUE(for_each_member(cursor, [](std::string_view, JsonCursor& at) { return at.value() != "1"; }));
}

TEST(JsonCursor, WalksArrays) {
  JsonCursor cursor(R"([1, "x", [2]])");
  std::vector<std::string> all;
  ASSERT_TRUE(cursor.enter('['));
  while (cursor.next_element()) all.emplace_back(cursor.value());
  EXPECT_THAT(all, ElementsAre("1", "x", "[2]"));
  EXPECT_FALSE(cursor.failed());
}

}  // namespace
}  // namespace gradwatt::ingest::kineto

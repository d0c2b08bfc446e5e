#include "gradwatt/ingest/kineto/trace_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace gradwatt::ingest::kineto {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Gives its text in pieces of so many bytes.
class Dribble final : public ByteSource {
 public:
  Dribble(std::string text, std::size_t piece) : text_(std::move(text)), piece_(piece) {}
  std::optional<std::string_view> next(std::size_t most) override {
    const auto bytes = std::string_view(text_).substr(at_, std::min(most, piece_));
    at_ += bytes.size();
    return bytes;
  }
  void rewind() override { at_ = 0; }
  [[nodiscard]] std::string failure() const override { return {}; }

 private:
  std::string text_;
  std::size_t piece_, at_ = 0;
};

class Notebook final : public TraceVisitor {
 public:
  [[nodiscard]] bool wants(std::string_view key) const override { return key != "unwanted"; }
  void section(std::string_view key, std::string_view json) override {
    sections.push_back(std::string(key) + "=" + std::string(json));
  }
  bool event(std::string_view json) override {
    events.emplace_back(json);
    return events.size() < most_events;
  }
  std::vector<std::string> sections;
  std::vector<std::string> events;
  std::size_t most_events = 1'000'000;
};

const std::string kTrace = R"({ "schemaVersion": 1, "text": "a \"quoted\" }", "unwanted": {"a": [1, 2]},
  "distributedInfo": {"rank": 3, "groups": [[0], {"x": "]}"}]},
  "traceEvents": [ {"ph": "X", "name": "]}"}, {"ph": "M", "args": {"a": [{}, {}]}} ,
  {"ph": "i"} ], "baseTimeNanoseconds": 17, "empty": []})";

TEST(TraceText, HandsOutSectionsAndEventsInWhateverPiecesTheTextComes) {
  for (std::size_t piece = 1; piece < 400; piece += piece < 70 ? 1 : 37) {
    Dribble source(kTrace, piece);
    Notebook notebook;
    const auto end = walk_trace(source, notebook);
    ASSERT_TRUE(end) << end.error().message;
    EXPECT_TRUE(end->whole) << piece << end->why;
    EXPECT_TRUE(end->has_events);
    EXPECT_THAT(notebook.sections, ElementsAre("schemaVersion=1", R"(text="a \"quoted\" }")",
                                               R"(distributedInfo={"rank": 3, "groups": [[0], {"x": "]}"}]})",
                                               "baseTimeNanoseconds=17", "empty=[]"))
        << piece;
    EXPECT_THAT(notebook.events, ElementsAre(R"({"ph": "X", "name": "]}"})", R"({"ph": "M", "args": {"a": [{}, {}]}})",
                                             R"({"ph": "i"})"))
        << piece;
  }
}

TEST(TraceText, ReadsABareArrayOfEvents) {
  Dribble source(R"(  [{"ph": "X"}, {"ph": "X"}])", 5);
  Notebook notebook;
  const auto end = walk_trace(source, notebook);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->whole && end->has_events);
  EXPECT_THAT(notebook.events, ElementsAre(R"({"ph": "X"})", R"({"ph": "X"})"));
}

TEST(TraceText, HandsOutTheEventsBeforeACutAndSaysThatItIsOne) {
  const auto whole_events = kTrace.find(" ,\n  {\"ph\": \"i\"}");
  for (auto length = whole_events; length < kTrace.find("{\"ph\": \"i\"}") + 5; ++length) {
    Dribble source(kTrace.substr(0, length), 16);
    Notebook notebook;
    const auto end = walk_trace(source, notebook);
    ASSERT_TRUE(end);
    EXPECT_FALSE(end->whole);
    EXPECT_THAT(end->why, HasSubstr("cut off"));
    EXPECT_EQ(notebook.events.size(), 2U);
  }
}

TEST(TraceText, StopsWhenTheVisitorHasEnough) {
  std::string text = "[";
  for (int i = 0; i < 100; ++i) text += R"({"ph": "X"},)";
  Dribble source(text + "{}]", 100);
  Notebook notebook;
  notebook.most_events = 2;
  const auto end = walk_trace(source, notebook);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->stopped);
  EXPECT_EQ(notebook.events.size(), 2U);
}

TEST(TraceText, RefusesWhatIsNoJson) {
  for (const auto* text : {"", "   \n ", "hello", "\"text\"", "12"}) {
    Dribble source(text, 4);
    Notebook notebook;
    const auto end = walk_trace(source, notebook);
    ASSERT_FALSE(end) << text;
    EXPECT_THAT(end.error().message, HasSubstr("line 1: "));
  }
}

TEST(TraceText, SaysWhatIsNoJsonInsideOfTheObject) {
  for (const auto* text : {"{\"a\" 1}", "{a: 1}", "{\"a\": ]"}) {
    Dribble source(text, 64);
    Notebook notebook;
    const auto end = walk_trace(source, notebook);
    ASSERT_TRUE(end) << text;
    EXPECT_FALSE(end->whole) << text;
    EXPECT_THAT(end->why, HasSubstr("is no JSON")) << text;
  }
}

TEST(TraceText, GivesUpOnAPieceThatNeverEnds) {
  Dribble source("{\"traceEvents\": [{\"name\": \"" + std::string(std::size_t{40} << 20U, 'x'), std::size_t{1} << 18U);
  Notebook notebook;
  const auto end = walk_trace(source, notebook);
  ASSERT_TRUE(end);
  EXPECT_THAT(end->why, HasSubstr("longer than 16 MiB"));
}

TEST(TraceText, PassesOverASectionOfAnySizeThatNobodyWants) {
  Dribble source(
      "{\"unwanted\": [\"" + std::string(std::size_t{40} << 20U, 'x') + "\"], \"traceEvents\": [{\"ph\": 1}]}",
      std::size_t{1} << 18U);
  Notebook notebook;
  const auto end = walk_trace(source, notebook);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->whole) << end->why;
  EXPECT_THAT(notebook.events, ElementsAre("{\"ph\": 1}"));
}

}  // namespace
}  // namespace gradwatt::ingest::kineto

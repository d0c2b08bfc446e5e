#include "gradwatt/ingest/kineto/element_ends.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace gradwatt::ingest::kineto {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Places {
  std::vector<std::size_t> ends;
  std::optional<std::size_t> close;
};

/// In one call, and the rest of less than a stride.
Places scan_all(std::string_view text) {
  ElementEnds elements;
  Places all;
  const auto found = elements.scan(text, all.ends);
  all.close = found.close;
  if (found.close) return all;
  std::vector<std::size_t> late;
  const auto last = elements.finish(text.substr(found.scanned), late);
  for (const auto end : late) all.ends.push_back(found.scanned + end);
  if (last.close) all.close = found.scanned + *last.close;
  return all;
}

TEST(ElementEnds, FindsEachElementAndTheBracketThatClosesTheArray) {
  const std::string text = R"({"a": 1}, {"b": [1, {"c": 2}]} ], "x": 1})";
  const auto found = scan_all(text);
  EXPECT_EQ(found.close, text.find(" ]") + 1);
  EXPECT_THAT(found.ends, ElementsAre(8, text.find(" ]")));
}

TEST(ElementEnds, SeesNoBracketsInStringsWhateverIsEscapedInThem) {
  const std::string text = R"({"a": "}]", "b": "\"}]", "c": "\\"}, {"d": "\\\"]}"})";
  const auto found = scan_all(text);
  EXPECT_THAT(found.ends, ElementsAre(text.find(", {"), text.size()));
  EXPECT_FALSE(found.close);
}

TEST(ElementEnds, ReportsNoEndOfAnElementThatGoesOn) {
  const auto found = scan_all(R"({"a": {"b": 1}, "c": [)");
  EXPECT_THAT(found.ends, IsEmpty());
}

TEST(ElementEnds, KeepsStringsAndBackslashesOverStrides) {
  // A string that begins, is escaped and ends at every place of a stride.
  const std::string element = R"({"k\\": "\\\"}]"})";
  for (std::size_t shift = 0; shift < 2 * ElementEnds::kStride; ++shift) {
    const auto text = std::string(shift, ' ') + element + std::string(70, ' ') + "]";
    const auto found = scan_all(text);
    EXPECT_THAT(found.ends, ElementsAre(shift + element.size())) << shift;
    EXPECT_EQ(found.close, text.size() - 1) << shift;
  }
}

TEST(ElementEnds, CountsMillionsOfBracketsWithoutGoingDeep) {
  const std::string text(1U << 20U, '[');
  EXPECT_THAT(scan_all(text).ends, IsEmpty());
}

}  // namespace
}  // namespace gradwatt::ingest::kineto

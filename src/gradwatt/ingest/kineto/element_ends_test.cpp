#include "gradwatt/ingest/kineto/element_ends.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gradwatt::ingest::kineto {
namespace {

/// In one call, and the rest of less than a stride.
ElementEnds::Found scan_all(std::string_view text) {
  ElementEnds ends;
  auto found = ends.scan(text);
  if (found.close) return found;
  const auto done = found.scanned;
  const auto last = ends.finish(text.substr(done));
  if (last.last_end > 0) found.last_end = done + last.last_end;
  if (last.close) found.close = done + *last.close;
  return found;
}

TEST(ElementEnds, FindsTheLastElementAndTheBracketThatClosesTheArray) {
  const std::string text = R"({"a": 1}, {"b": [1, {"c": 2}]} ], "x": 1})";
  const auto found = scan_all(text);
  EXPECT_EQ(found.close, text.find(" ]") + 1);
  EXPECT_EQ(found.last_end, text.find(" ]"));
}

TEST(ElementEnds, SeesNoBracketsInStringsWhateverIsEscapedInThem) {
  const std::string text = R"({"a": "}]", "b": "\"}]", "c": "\\"}, {"d": "\\\"]}"})";
  const auto found = scan_all(text);
  EXPECT_EQ(found.last_end, text.size());
  EXPECT_FALSE(found.close);
}

TEST(ElementEnds, ReportsNoEndOfAnElementThatGoesOn) {
  const auto found = scan_all(R"({"a": {"b": 1}, "c": [)");
  EXPECT_EQ(found.last_end, 0U);
}

TEST(ElementEnds, KeepsStringsAndBackslashesOverStrides) {
  // A string that begins, is escaped and ends at every place of a stride.
  const std::string element = R"({"k\\": "\\\"}]"})";
  for (std::size_t shift = 0; shift < 2 * ElementEnds::kStride; ++shift) {
    const auto text = std::string(shift, ' ') + element + std::string(70, ' ') + "]";
    const auto found = scan_all(text);
    EXPECT_EQ(found.last_end, shift + element.size()) << shift;
    EXPECT_EQ(found.close, text.size() - 1) << shift;
  }
}

TEST(ElementEnds, CountsMillionsOfBracketsWithoutGoingDeep) {
  const std::string text(1U << 20U, '[');
  EXPECT_EQ(scan_all(text).last_end, 0U);
}

}  // namespace
}  // namespace gradwatt::ingest::kineto

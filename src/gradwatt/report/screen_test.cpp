#include "gradwatt/report/screen.hpp"

#include <gmock/gmock.h>

namespace gradwatt::report {
namespace {

using ::testing::ElementsAre;

TEST(Screen, CountsColumnsAndNotBytes) {
  EXPECT_EQ(columns("±5 %"), 4U);
  EXPECT_EQ(pad_left("µW", 4), "  µW");
  EXPECT_EQ(pad_right("×", 3), "×  ");
}

TEST(Screen, ShortensWithoutCuttingACharacterInTwo) {
  EXPECT_EQ(shorten("±±±±", 3), "±±…");
  EXPECT_EQ(shorten("abc", 3), "abc");
  EXPECT_EQ(shorten("abc", 0), "");
}

TEST(Screen, WrapsAtSpacesButNotInsideUnbrokenPieces) {
  EXPECT_THAT(wrap("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("a " + unbroken("b c d"), 5), ElementsAre("a", unbroken("b c d")));
  EXPECT_THAT(wrap("unbreakable x", 4), ElementsAre("unbreakable", "x"));
  EXPECT_THAT(wrap("", 4), ElementsAre());
}

TEST(Screen, IndentsFurtherLinesBelowTheText) {
  Screen screen({.width = 40});
  screen.entry("label", "some words that need more than a single line");
  EXPECT_EQ(screen.text(), "  label      some words that need more\n             than a single line\n");
}

TEST(Screen, KeepsControlCharactersOfForeignTextsFromTheTerminal) {
  EXPECT_EQ(printable("a\x1b[2Jb\nc\x7f"), "a [2Jb c ");
}

TEST(Screen, HasAnAsciiTextForWhatItPrints) {
  EXPECT_EQ(to_ascii("±5 % · 2 × …"), "+/-5 % - 2 x ...");
  EXPECT_EQ(to_ascii("ü\xff"), "??");
}

}  // namespace
}  // namespace gradwatt::report

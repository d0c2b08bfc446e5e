#include "gradwatt/core/shell.hpp"

#include <gtest/gtest.h>

namespace gradwatt::core {
namespace {

TEST(ShellQuote, LeavesPlainWordsAlone) {
  EXPECT_EQ(shell_quote("--lr=0.1"), "--lr=0.1");
  EXPECT_EQ(shell_quote("/data/train,val:1@2"), "/data/train,val:1@2");
}

TEST(ShellQuote, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(shell_quote(""), "''");
  EXPECT_EQ(shell_quote("a b"), "'a b'");
  EXPECT_EQ(shell_quote("$HOME/*"), "'$HOME/*'");
  EXPECT_EQ(shell_quote("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quote("a\nb"), "'a\nb'");
}

}  // namespace
}  // namespace gradwatt::core

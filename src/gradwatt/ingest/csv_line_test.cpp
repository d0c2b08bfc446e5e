#include "gradwatt/ingest/csv_line.hpp"

#include <gtest/gtest.h>

namespace gradwatt::ingest {
namespace {

using Cells = std::vector<std::string>;

TEST(CsvLine, SplitsAndTrims) {
  EXPECT_EQ(split_cells("a, b ,c", ','), (Cells{"a", "b", "c"}));
  EXPECT_EQ(split_cells("", ','), (Cells{""}));
  EXPECT_EQ(split_cells("a,,", ','), (Cells{"a", "", ""}));
  EXPECT_EQ(split_cells("a\t b", '\t'), (Cells{"a", "b"}));
}

TEST(CsvLine, QuotesHideSeparators) {
  EXPECT_EQ(split_cells(R"("a,b", "c ""d""",e)", ','), (Cells{"a,b", R"(c "d")", "e"}));
}

TEST(CsvLine, AnOpenQuoteEndsWithTheLine) {
  EXPECT_EQ(split_cells(R"(a,"b,c)", ','), (Cells{"a", R"("b,c)"}));
  EXPECT_EQ(split_cells("\"", ','), (Cells{"\""}));
}

TEST(CsvLine, ManyCellsWithOddQuotesKeepTheirText) {
  std::string line;
  Cells expected;
  for (int i = 0; i < 40; ++i) {
    line += (i == 0 ? "" : ",") + std::string(R"("a"b")");
    expected.emplace_back(R"(a"b)");
  }
  EXPECT_EQ(split_cells(line, ','), expected);
}

TEST(CsvLine, AQuoteInsideACellIsText) { EXPECT_EQ(split_cells(R"(a"b,c)", ','), (Cells{R"(a"b)", "c"})); }

}  // namespace
}  // namespace gradwatt::ingest

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

TEST(CsvLine, CellsWithASingleQuoteInsideTheirQuotesStayWhereTheyAre) {
  EXPECT_EQ(split_cells(R"("the first cell" of three","the second cell" of three","the third cell" of three")", ','),
            (Cells{R"(the first cell" of three)", R"(the second cell" of three)", R"(the third cell" of three)"}));
}

TEST(CsvLine, AQuoteInsideACellIsText) { EXPECT_EQ(split_cells(R"(a"b,c)", ','), (Cells{R"(a"b)", "c"})); }

}  // namespace
}  // namespace gradwatt::ingest

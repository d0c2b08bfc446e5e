#include "gradwatt/core/kept_file.hpp"

#include <gtest/gtest.h>

#include "tests/doubles/made_tree.hpp"

namespace gradwatt::core {
namespace {

class KeptFileTest : public ::testing::Test {
 protected:
  doubles::MadeTree made_;
  std::string buffer_;
};

TEST_F(KeptFileTest, EachReadGivesTheContentAsOfThen) {
  made_.file("proc/stat", "cpu 1\n");
  KeptFile file(made_.tree(), "proc/stat");
  EXPECT_EQ(file.read(buffer_).value(), "cpu 1");
  made_.file("proc/stat", "cpu 22\nmore\n");
  EXPECT_EQ(file.read(buffer_).value(), "cpu 22\nmore");
  made_.file("proc/stat", "3");
  EXPECT_EQ(file.read(buffer_).value(), "3");
}

TEST_F(KeptFileTest, AFileLongerThanTheBufferIsReadWhole) {
  const std::string text(10'000, 'x');
  made_.file("long", text);
  KeptFile file(made_.tree(), "long");
  EXPECT_EQ(file.read(buffer_).value(), text);
}

TEST_F(KeptFileTest, AMissingFileIsNotFoundAndReadOnceItIsThere) {
  KeptFile file(made_.tree(), "late");
  EXPECT_EQ(file.read(buffer_).error().code, Errc::not_found);
  made_.file("late", "here");
  EXPECT_EQ(file.read(buffer_).value(), "here");
}

TEST_F(KeptFileTest, AFileThatWasRemovedIsNotReadAsIfItWereThere) {
  made_.file("gone/stat", "old");
  KeptFile file(made_.tree(), "gone/stat");
  ASSERT_TRUE(file.read(buffer_));
  made_.remove("gone");
  EXPECT_EQ(file.read(buffer_).error().code, Errc::not_found);
}

TEST_F(KeptFileTest, AMovedFileIsReadByItsNewOwnerOnly) {
  made_.file("a", "1").file("b", "2");
  KeptFile a(made_.tree(), "a");
  ASSERT_TRUE(a.read(buffer_));
  KeptFile b(made_.tree(), "b");
  ASSERT_TRUE(b.read(buffer_));
  b = std::move(a);
  EXPECT_EQ(b.read(buffer_).value(), "1");
}

TEST(KeptFile, TheKernelsFilesChangeBetweenReads) {
  KeptFile schedstat(FileTree{}, "proc/thread-self/schedstat");
  std::string buffer;
  const std::string first(schedstat.read(buffer).value());
  std::string now = first;
  for (int i = 0; i < 1'000'000 && now == first; ++i) now = schedstat.read(buffer).value();
  EXPECT_NE(now, first);
}

}  // namespace
}  // namespace gradwatt::core

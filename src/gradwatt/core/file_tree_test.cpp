#include "gradwatt/core/file_tree.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace gradwatt::core {
namespace {

class FileTreeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(root_ / "sys/class");
    std::ofstream(root_ / "sys/class/energy_uj") << "123456\n";
    std::ofstream(root_ / "sys/class/name") << "package-0\n";
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("gradwatt-tree-" + std::to_string(::getpid()));
  FileTree tree_{root_};
};

TEST_F(FileTreeTest, ReadsTextWithoutTheLineEnd) { EXPECT_EQ(tree_.read("sys/class/name").value(), "package-0"); }

TEST_F(FileTreeTest, ReadsIntegers) { EXPECT_EQ(tree_.read_int("sys/class/energy_uj").value(), 123456); }

TEST_F(FileTreeTest, TextWhereANumberShouldBeIsAnErrorThatNamesTheFile) {
  const auto value = tree_.read_int("sys/class/name");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, Errc::unusable_input);
  EXPECT_NE(value.error().message.find("sys/class/name"), std::string::npos);
}

TEST_F(FileTreeTest, AMissingFileIsNotFound) {
  EXPECT_EQ(tree_.read("sys/nothing").error().code, Errc::not_found);
  EXPECT_FALSE(tree_.exists("sys/nothing"));
}

TEST_F(FileTreeTest, ListsSortedNamesAndNothingForAMissingFolder) {
  EXPECT_EQ(tree_.list("sys/class"), (std::vector<std::string>{"energy_uj", "name"}));
  EXPECT_TRUE(tree_.list("nowhere").empty());
}

TEST(ParseNumber, WantsTheWholeText) {
  EXPECT_EQ(parse_int(" 42 "), 42);
  EXPECT_EQ(parse_int("42 W"), std::nullopt);
  EXPECT_EQ(parse_int(""), std::nullopt);
  EXPECT_EQ(parse_number("74.25"), 74.25);
  EXPECT_EQ(parse_number(".0059"), 0.0059);
  EXPECT_EQ(parse_number("nan"), std::nullopt);
  EXPECT_EQ(parse_number("N/A"), std::nullopt);
}

}  // namespace
}  // namespace gradwatt::core

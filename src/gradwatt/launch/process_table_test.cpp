#include "gradwatt/launch/process_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace gradwatt::launch {
namespace {

using ::testing::ElementsAre;

class ProcessTableTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(root_); }
  void process(pid_t pid, pid_t parent, const std::string& name = "python3", char state = 'S') {
    const auto folder = root_ / "proc" / std::to_string(pid);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "stat") << pid << " (" << name << ") " << state << ' ' << parent << " 77 77 0 -1 4194304"
                                   << " 1 2 3 4 5 6 7 8 20 0 1 0 " << 1000 + pid << " 1000 100 0\n";
  }
  std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("gradwatt-processes-" + std::to_string(::getpid()));
  core::FileTree files_{root_};
};

TEST_F(ProcessTableTest, ReadsNamesWithSpacesAndBrackets) {
  process(12, 1, "a) R 1 (b", 'T');
  const auto found = read_process(files_, 12);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "a) R 1 (b");
  EXPECT_TRUE(found->stopped());
  EXPECT_EQ(found->parent, 1);
  EXPECT_EQ(found->group, 77);
  EXPECT_EQ(found->started_ticks, 1012U);
}

TEST_F(ProcessTableTest, NothingForAProcessThatIsNotThereOrCutOff) {
  EXPECT_FALSE(read_process(files_, 5));
  std::filesystem::create_directories(root_ / "proc/6");
  std::ofstream(root_ / "proc/6/stat") << "6 (python3) S 1";
  EXPECT_FALSE(read_process(files_, 6));
}

TEST_F(ProcessTableTest, ATreeHoldsRootsAndAllDescendantsOnce) {
  process(10, 1), process(11, 10), process(12, 11), process(20, 1), process(13, 10);
  const auto table = read_processes(files_);
  EXPECT_THAT(tree_of(table, std::vector<pid_t>{10, 11}), ElementsAre(10, 11, 13, 12));
  EXPECT_THAT(tree_of(table, std::vector<pid_t>{99}), ElementsAre());
}

TEST_F(ProcessTableTest, DescentIsFollowedUpwards) {
  process(10, 1), process(11, 10), process(12, 11);
  EXPECT_TRUE(descends_from(files_, 12, 10));
  EXPECT_TRUE(descends_from(files_, 10, 10));
  EXPECT_FALSE(descends_from(files_, 10, 12));
  EXPECT_FALSE(descends_from(files_, 99, 10));
}

TEST(ProcessTable, SeesThisProcessInTheRealTree) {
  const core::FileTree files;
  const auto self = read_process(files, ::getpid());
  ASSERT_TRUE(self);
  EXPECT_EQ(self->parent, ::getppid());
  EXPECT_EQ(self->group, ::getpgrp());
  EXPECT_TRUE(read_processes(files).contains(::getpid()));
}

}  // namespace
}  // namespace gradwatt::launch

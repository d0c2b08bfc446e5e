#include "gradwatt/training/models/atomic_file.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/doubles/made_tree.hpp"

namespace gradwatt::training {
namespace {

using doubles::MadeTree;

std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// No file of this process may grow beyond `bytes`, as on a full disk.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(AtomicFile, TheNameHoldsTheOldContentUntilCommit) {
  MadeTree tree;
  tree.file("weights", "old");
  auto file = AtomicFile::create(tree.path("weights"));
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("new", 3));
  EXPECT_EQ(content(tree.path("weights")), "old\n");
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(content(tree.path("weights")), "new");
  EXPECT_EQ(tree.tree().list("").size(), 1U) << "no temporary file stays";
}

TEST(AtomicFile, WithoutCommitNothingStays) {
  MadeTree tree;
  {
    auto file = AtomicFile::create(tree.path("weights"));
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("half", 4));
  }
  EXPECT_TRUE(tree.tree().list("").empty());
}

TEST(AtomicFile, AFullDiskLeavesTheOldFileAndNoOther) {
  MadeTree tree;
  tree.file("weights", "old");
  const std::string large(1 << 16, 'x');
  {
    const SmallDisk disk(4096);
    auto file = AtomicFile::create(tree.path("weights"));
    ASSERT_TRUE(file);
    const auto written = file->write(large.data(), large.size());
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().message, testing::HasSubstr(tree.path("weights").string()));
  }
  EXPECT_EQ(content(tree.path("weights")), "old\n");
  EXPECT_EQ(tree.tree().list("").size(), 1U);
}

TEST(AtomicFile, AFolderThatIsNotThereIsNamed) {
  MadeTree tree;
  const auto file = AtomicFile::create(tree.path("no/such/weights"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, core::Errc::not_found);
  EXPECT_THAT(file.error().message, testing::HasSubstr("no/such"));
}

TEST(AtomicFile, TwoWritersOfOneNameDoNotMix) {
  MadeTree tree;
  auto first = AtomicFile::create(tree.path("weights")), second = AtomicFile::create(tree.path("weights"));
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(first->write("first", 5));
  ASSERT_TRUE(second->write("second", 6));
  ASSERT_TRUE(second->commit());
  ASSERT_TRUE(first->commit());
  EXPECT_EQ(content(tree.path("weights")), "first");
}

}  // namespace
}  // namespace gradwatt::training

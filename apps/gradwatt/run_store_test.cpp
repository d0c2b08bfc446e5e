#include "run_store.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

namespace gradwatt::app {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

namespace fs = std::filesystem;

class RunStoreTest : public ::testing::Test {
 protected:
  RunStoreTest() : root_(fs::temp_directory_path() / ("gradwatt-store-" + std::to_string(::getpid()))), store_(root_) {
    fs::create_directories(root_);
  }
  ~RunStoreTest() override { fs::remove_all(root_); }

  /// A run whose record was last written to `age` ago.
  void add(const std::string& id, std::chrono::hours age) const {
    fs::create_directories(root_ / id);
    const auto file = root_ / id / "host.db";
    std::ofstream(file) << "record";
    fs::last_write_time(file, fs::file_time_type::clock::now() - age);
  }
  fs::path root_;
  RunStore store_;
};

TEST_F(RunStoreTest, ListsRunsLatestFirstAndNothingElse) {
  add("20261130-a", std::chrono::hours(3));
  add("20261130-b", std::chrono::hours(1));
  fs::create_directories(root_ / "no-record");
  fs::create_directory_symlink(root_ / "20261130-a", root_ / "link");
  const auto entries = store_.entries();
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(entries[0].id, "20261130-b");
  EXPECT_EQ(store_.find("last")->id, "20261130-b");
}

TEST_F(RunStoreTest, FindsByIdNameAndUniqueBeginning) {
  add("run-10", std::chrono::hours(1));
  add("run-1", std::chrono::hours(2));
  ASSERT_TRUE(store_.set_name(*store_.find("run-10"), "baseline"));
  EXPECT_EQ(store_.find("run-1")->id, "run-1") << "an exact id wins over a beginning";
  EXPECT_EQ(store_.find("baseline")->id, "run-10");
  EXPECT_EQ(store_.find("base")->id, "run-10");
  EXPECT_EQ(name_in(root_ / "run-10"), "baseline");
  EXPECT_EQ(store_.find("last")->id, "run-10");
}

TEST_F(RunStoreTest, NamingAnOldRunDoesNotMakeItTheLatest) {
  add("old", std::chrono::hours(9));
  add("new", std::chrono::hours(1));
  ASSERT_TRUE(store_.set_name(*store_.find("old"), "keep"));
  EXPECT_EQ(store_.find("last")->id, "new");
}

TEST_F(RunStoreTest, SaysWhichRunsAnAmbiguousBeginningFits) {
  add("run-10", std::chrono::hours(1));
  add("run-11", std::chrono::hours(2));
  const auto found = store_.find("run");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, core::Errc::unusable_input);
  EXPECT_THAT(found.error().message, HasSubstr("'run' fits 2 runs: run-10, run-11"));
}

TEST_F(RunStoreTest, SaysWhatThereIsWhenARunIsUnknown) {
  EXPECT_THAT(store_.find("last").error().message, HasSubstr("holds no runs yet"));
  add("run-10", std::chrono::hours(1));
  const auto found = store_.find("rum-10");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, core::Errc::not_found);
  EXPECT_THAT(found.error().message, HasSubstr("did you mean 'run-10'?"));
  EXPECT_FALSE(store_.find(""));
}

TEST_F(RunStoreTest, RefusesNamesThatLeadElsewhereOrAreTaken) {
  add("run-1", std::chrono::hours(1));
  add("run-2", std::chrono::hours(1));
  const auto entry = *store_.find("run-1");
  const std::vector<std::string> bad{"",        "last", "../x", "a/b", ".hidden", "-x", "a b", std::string(65, 'a'),
                                     "\xc3\xa4"};
  for (const auto& name : bad) EXPECT_FALSE(store_.set_name(entry, name)) << name;
  const auto taken = store_.set_name(entry, "run-2");
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr("already names the run run-2"));
}

TEST_F(RunStoreTest, ANameFileThatIsNoNameIsIgnored) {
  add("run-1", std::chrono::hours(1));
  std::ofstream(root_ / "run-1" / "name") << "../../etc\n";
  EXPECT_FALSE(store_.entries().front().name.has_value());
}

TEST_F(RunStoreTest, RemovesAFinishedRunButNotOneThatIsBeingRecorded) {
  add("done", std::chrono::hours(1));
  add("crashed", std::chrono::hours(1));
  add("going", std::chrono::hours(1));
  std::ofstream(root_ / "going" / "host.db-wal") << "log";
  std::ofstream(root_ / "crashed" / "host.db-wal") << "log";
  fs::last_write_time(root_ / "crashed" / "host.db-wal", fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_TRUE(store_.remove(*store_.find("done")));
  EXPECT_TRUE(store_.remove(*store_.find("crashed")));
  EXPECT_FALSE(fs::exists(root_ / "done"));
  const auto refused = store_.remove(*store_.find("going"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("still being recorded"));
}

}  // namespace
}  // namespace gradwatt::app

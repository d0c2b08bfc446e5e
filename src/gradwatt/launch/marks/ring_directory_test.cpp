#include "gradwatt/launch/marks/ring_directory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <fstream>

#include "gradwatt/launch/marks/mark_ring.h"
#include "gradwatt/launch/marks/marks_test_folder.hpp"

namespace gradwatt::launch::marks {
namespace {

void write_in_child(int steps, const char* rank) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("RANK", rank, 1);
    gradwatt_marks* marks = gradwatt_marks_open();
    for (int i = 0; i < steps; ++i) gradwatt_step(marks, i, i + 1, 1, nullptr);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
}

TEST(RingDirectory, AMissingOrEmptyFolderBringsNothing) {
  RingDirectory missing("/nonexistent/marks");
  EXPECT_TRUE(missing.poll().empty());
  MarksFolder folder;
  RingDirectory empty(folder.path());
  EXPECT_TRUE(empty.poll().empty());
}

TEST(RingDirectory, FindsRingsThatAppearLaterAndEmptiesThoseOfDeadProcesses) {
  MarksFolder folder;
  RingDirectory rings(folder.path());
  EXPECT_TRUE(rings.poll().empty());
  write_in_child(10, "0");
  EXPECT_EQ(rings.poll().marks.size(), 10);
  write_in_child(20, "1");
  const auto batch = rings.poll();
  ASSERT_EQ(batch.marks.size(), 20);
  EXPECT_EQ(batch.marks[0].rank, 1);
  EXPECT_EQ(rings.rings().size(), 2);
}

TEST(RingDirectory, ForgetsADeadRingAfterItWasStillForLong) {
  MarksFolder folder;
  RingDirectory rings(folder.path());
  write_in_child(10, "0");
  for (int i = 0; i < 60; ++i) rings.poll();
  EXPECT_TRUE(rings.rings().empty());
  EXPECT_TRUE(rings.poll().empty());
}

TEST(RingDirectory, ALivingRingThatIsStillIsKept) {
  MarksFolder folder;
  gradwatt_marks* marks = gradwatt_marks_open();
  RingDirectory rings(folder.path());
  for (int i = 0; i < 60; ++i) rings.poll();
  gradwatt_step(marks, 1, 2, 3, nullptr);
  EXPECT_EQ(rings.poll().marks.size(), 1);
  gradwatt_marks_close(marks);
}

TEST(RingDirectory, NamesAnUnreadableFileOnceAndReadsTheOthers) {
  MarksFolder folder;
  std::ofstream(folder.path() / "1-1-c0.ring") << "not a ring";
  write_in_child(3, "0");
  RingDirectory rings(folder.path());
  EXPECT_EQ(rings.poll().marks.size(), 3);
  rings.poll();
  ASSERT_EQ(rings.problems().size(), 1);
  EXPECT_NE(rings.problems()[0].find("1-1-c0.ring"), std::string::npos);
}

TEST(RingDirectory, AsksOnlyLivingProcessesForAProfile) {
  MarksFolder folder;
  write_in_child(3, "0");
  gradwatt_marks* marks = gradwatt_marks_open();
  RingDirectory rings(folder.path());
  rings.poll();
  EXPECT_EQ(rings.request_profile(5, "/tmp/profile"), 1);
  std::uint32_t id = 0;
  std::uint32_t steps = 0;
  char path[GRADWATT_MARKS_PATH_BYTES];
  ASSERT_EQ(gradwatt_marks_request(marks, &id, &steps, path), 1);
  EXPECT_EQ(path, "/tmp/profile-" + std::to_string(::getpid()) + ".json");
  gradwatt_marks_close(marks);
}

}  // namespace
}  // namespace gradwatt::launch::marks

#include "gradwatt/launch/marks/mark_ring.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <thread>

#include "gradwatt/launch/marks/mark_reader.hpp"
#include "gradwatt/launch/marks/marks_test_folder.hpp"

extern "C" int gradwatt_test_write_from_c(void);

namespace gradwatt::launch::marks {
namespace {

TEST(MarkRing, WithoutTheFolderEveryCallDoesNothing) {
  ::unsetenv("GRADWATT_MARKS");
  gradwatt_marks* marks = gradwatt_marks_open();
  EXPECT_EQ(marks, nullptr);
  gradwatt_step(marks, 1, 2, 3, nullptr);
  gradwatt_epoch(marks, 0, 1, 2, 3);
  gradwatt_region_end(marks, "region", gradwatt_region_begin());
  gradwatt_fact_number(marks, "torch.num_threads", 2);
  gradwatt_marks_set_rank(marks, 1, 1, 2);
  gradwatt_marks_answer(marks, 1, GRADWATT_MARKS_DONE);
  gradwatt_marks_close(marks);
}

TEST(MarkRing, AFolderThatIsGoneMeansNoRing) {
  MarksFolder folder;
  ::setenv("GRADWATT_MARKS", "/nonexistent/folder", 1);
  EXPECT_EQ(gradwatt_marks_open(), nullptr);
}

TEST(MarkRing, TheFileIsNamedAfterTheProcessAndIsPrivate) {
  MarksFolder folder;
  gradwatt_marks* marks = gradwatt_marks_open();
  ASSERT_NE(marks, nullptr);
  const auto files = folder.files();
  ASSERT_EQ(files.size(), 1);
  const auto name = files[0].filename().string();
  EXPECT_TRUE(name.starts_with(std::to_string(::getpid()) + "-")) << name;
  EXPECT_TRUE(name.ends_with("-c0.ring")) << name;
  EXPECT_EQ(std::filesystem::status(files[0]).permissions() & std::filesystem::perms::all,
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  gradwatt_marks_close(marks);
}

TEST(MarkRing, TwoHandlesOfOneProcessHaveTwoFiles) {
  MarksFolder folder;
  gradwatt_marks* one = gradwatt_marks_open();
  gradwatt_marks* two = gradwatt_marks_open();
  EXPECT_EQ(folder.files().size(), 2);
  gradwatt_marks_close(one);
  gradwatt_marks_close(two);
}

TEST(MarkRing, CWritesWhatCppReads) {
  MarksFolder folder;
  ASSERT_EQ(gradwatt_test_write_from_c(), 1);
  auto reader = RingReader::open(folder.files().at(0));
  ASSERT_TRUE(reader) << reader.error().message;
  const auto batch = reader->poll();
  ASSERT_EQ(batch.marks.size(), 1);
  const auto& mark = batch.marks[0];
  EXPECT_EQ(mark.kind, record::MarkKind::step);
  EXPECT_EQ(mark.begin_ns, 10);
  EXPECT_EQ(mark.end_ns, 20);
  EXPECT_EQ(mark.samples, 64);
  EXPECT_EQ(mark.phase_ns[0], 1);
  EXPECT_EQ(mark.phase_ns[static_cast<std::size_t>(record::Phase::comm_exposed)], std::nullopt);
  EXPECT_EQ(mark.phase_ns[7], 8);
}

TEST(MarkRing, RanksComeFromTheLaunchersEnvironment) {
  MarksFolder folder;
  ::setenv("RANK", "5", 1);
  ::setenv("LOCAL_RANK", "1", 1);
  ::setenv("WORLD_SIZE", "8", 1);
  gradwatt_marks* marks = gradwatt_marks_open();
  gradwatt_step(marks, 1, 2, GRADWATT_MARKS_UNKNOWN, nullptr);
  for (const char* name : {"RANK", "LOCAL_RANK", "WORLD_SIZE"}) ::unsetenv(name);
  auto reader = RingReader::open(folder.files().at(0));
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->identity().rank, 5);
  EXPECT_EQ(reader->identity().local_rank, 1);
  EXPECT_EQ(reader->identity().world_size, 8);
  const auto batch = reader->poll();
  EXPECT_EQ(batch.marks.at(0).rank, 5);
  EXPECT_EQ(batch.marks.at(0).samples, std::nullopt);
  gradwatt_marks_close(marks);
}

TEST(MarkRing, AForkedChildWritesNothing) {
  MarksFolder folder;
  gradwatt_marks* marks = gradwatt_marks_open();
  ASSERT_NE(marks, nullptr);
  gradwatt_step(marks, 1, 2, 3, nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    gradwatt_step(marks, 100, 200, 3, nullptr);
    gradwatt_fact_text(marks, "job.framework", "child");
    ::_exit(0);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  auto reader = RingReader::open(folder.files().at(0));
  const auto batch = reader->poll();
  EXPECT_EQ(batch.marks.size(), 1);
  EXPECT_TRUE(batch.facts.empty());
  gradwatt_marks_close(marks);
}

TEST(MarkRing, ThreadsShareAHandleWithoutLosingAMark) {
  MarksFolder folder;
  gradwatt_marks* marks = gradwatt_marks_open();
  constexpr int kThreads = 4;
  constexpr int kEach = 3000;  // all fit into the ring
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i)
          gradwatt_marks_span_write(marks, GRADWATT_MARKS_EPOCH, t * kEach + i, i, i + 1, t, nullptr, 0);
      });
  }
  auto reader = RingReader::open(folder.files().at(0));
  const auto batch = reader->poll();
  ASSERT_EQ(batch.marks.size(), kThreads * kEach);
  std::vector<bool> seen(kThreads * kEach);
  for (const auto& mark : batch.marks) {
    EXPECT_EQ(mark.samples, mark.number / kEach);
    seen[static_cast<std::size_t>(mark.number)] = true;
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), kThreads * kEach);
  gradwatt_marks_close(marks);
}

TEST(MarkRing, ARequestIsSeenOnceAndAnswered) {
  MarksFolder folder;
  gradwatt_marks* marks = gradwatt_marks_open();
  auto reader = RingReader::open(folder.files().at(0));
  std::uint32_t id = 0;
  std::uint32_t steps = 0;
  char path[GRADWATT_MARKS_PATH_BYTES];
  EXPECT_EQ(gradwatt_marks_request(marks, &id, &steps, path), 0);
  EXPECT_EQ(reader->request_state(), std::nullopt);
  ASSERT_TRUE(reader->request_profile(7, "/tmp/trace.json"));
  EXPECT_EQ(reader->request_state(), RequestState::waiting);
  ASSERT_EQ(gradwatt_marks_request(marks, &id, &steps, path), 1);
  EXPECT_EQ(steps, 7);
  EXPECT_STREQ(path, "/tmp/trace.json");
  EXPECT_EQ(gradwatt_marks_request(marks, &id, &steps, path), 0);
  gradwatt_marks_answer(marks, id, GRADWATT_MARKS_TAKEN);
  EXPECT_EQ(reader->request_state(), RequestState::taken);
  gradwatt_marks_answer(marks, id, GRADWATT_MARKS_DONE);
  EXPECT_EQ(reader->request_state(), RequestState::done);
  gradwatt_marks_close(marks);
}

}  // namespace
}  // namespace gradwatt::launch::marks

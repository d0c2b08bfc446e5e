#include "gradwatt/backends/proc/pid_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "tests/doubles/made_process.hpp"

namespace gradwatt::proc {
namespace {

TEST(PidStat, ReadsAProcessWhoseNameLooksLikeTheRestOfTheLine) {
  const auto stat = parse_pid_stat(doubles::stat_line({.pid = 42,
                                                       .parent = 7,
                                                       .own_ticks = 30,
                                                       .reaped_ticks = 5,
                                                       .threads = 20,
                                                       .resident_pages = 99,
                                                       .state = 'R',
                                                       .start_ticks = 1234,
                                                       .name = "a) S 1 (b"}));
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, 'R');
  EXPECT_EQ(stat->parent, 7);
  EXPECT_EQ(stat->own_ticks, 30);
  EXPECT_EQ(stat->reaped_ticks, 5);
  EXPECT_EQ(stat->threads, 20);
  EXPECT_EQ(stat->resident_pages, 99);
  EXPECT_EQ(stat->start_ticks, 1234u);
}

TEST(PidStat, RefusesGarbageAndCutLines) {
  EXPECT_FALSE(parse_pid_stat(""));
  EXPECT_FALSE(parse_pid_stat("42 (python3"));
  EXPECT_FALSE(parse_pid_stat("42 (python3) S 1 1 1"));
  auto line = doubles::stat_line({.pid = 42});
  line.replace(line.find("4194304"), 7, "garbage");
  EXPECT_TRUE(parse_pid_stat(line)) << "a field that is not used does not matter";
  line.replace(line.find(" 20 0 "), 6, " 20 0 x");
  EXPECT_FALSE(parse_pid_stat(line));
}

TEST(PidStat, ReadsThisVeryProcess) {
  const auto stat = read_pid_stat(core::FileTree{}, ::getpid());
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->parent, ::getppid());
  EXPECT_GE(stat->threads, 1);
  EXPECT_GT(stat->resident_pages, 0);
}

TEST(PidIo, ReadsStorageBytesAndNotTheCallsBytes) {
  doubles::MadeTree made;
  doubles::put_io(made, 5, 4096, 8192);
  const auto io = read_pid_io(made.tree(), 5);
  ASSERT_TRUE(io);
  EXPECT_EQ(io->read_bytes, 4096);
  EXPECT_EQ(io->written_bytes, 8192);
  EXPECT_EQ(read_pid_io(made.tree(), 6).error().code, core::Errc::not_found);
  made.file("proc/7/io", "nothing useful");
  EXPECT_EQ(read_pid_io(made.tree(), 7).error().code, core::Errc::unusable_input);
}

TEST(RunDelay, IsTheSecondFigure) {
  const auto times = parse_schedstat("712769 44139 2");
  EXPECT_EQ(times->run_ns, 712769);
  EXPECT_EQ(times->delay_ns, 44139);
  EXPECT_FALSE(parse_schedstat("712769"));
  EXPECT_FALSE(parse_schedstat("a b c"));
}

TEST(PidListing, TakesNumbersOnlyAndSortsThemAsNumbers) {
  doubles::MadeTree made;
  made.folder("proc/100").folder("proc/20").folder("proc/self").file("proc/stat", "cpu");
  PidListing listing(made.tree());
  while (listing.advance()) {
  }
  EXPECT_EQ(listing.take(), (std::vector<pid_t>{20, 100}));
  PidListing nowhere(core::FileTree{made.path("nowhere")});
  EXPECT_FALSE(nowhere.advance());
  EXPECT_TRUE(nowhere.take().empty());
}

TEST(PidListing, FindsThisProcessAmongThoseOfTheHost) {
  PidListing listing{core::FileTree{}};
  while (listing.advance()) {
  }
  const auto pids = listing.take();
  EXPECT_TRUE(std::ranges::binary_search(pids, ::getpid()));
}

}  // namespace
}  // namespace gradwatt::proc

#include "gradwatt/launch/status_line.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gradwatt::launch {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr dev_t kHere = 136 << 8 | 1, kThere = 136 << 8 | 2;

TEST(LiveOutput, TheTerminalIsLeftToAJobThatWritesToIt) {
  EXPECT_EQ(choose_live_output({.controlling_terminal = kHere, .standard_error = kHere, .job_output = {kHere}}, false),
            LiveOutput::lines_on_stderr);
}

TEST(LiveOutput, ALineIsRedrawnWhereTheJobWritesElsewhere) {
  EXPECT_EQ(choose_live_output({.controlling_terminal = kHere}, false), LiveOutput::redrawn_on_terminal);
  EXPECT_EQ(choose_live_output({.controlling_terminal = kHere, .job_output = {kThere}}, false),
            LiveOutput::redrawn_on_terminal);
}

TEST(LiveOutput, WithoutATerminalThereAreLines) {
  EXPECT_EQ(choose_live_output({}, false), LiveOutput::lines_on_stderr);
  EXPECT_EQ(choose_live_output({.job_output = {kHere}}, false), LiveOutput::lines_on_stderr);
}

TEST(LiveOutput, ADumbTerminalGetsLines) {
  EXPECT_EQ(choose_live_output({.controlling_terminal = kHere, .line_can_be_redrawn = false}, false),
            LiveOutput::lines_on_stderr);
}

TEST(LiveOutput, AFileThatWasAskedForGetsTheLines) {
  EXPECT_EQ(choose_live_output({.controlling_terminal = kHere}, true), LiveOutput::lines_in_file);
}

TEST(LiveOutput, TheTerminalsOfARealProcessAreSeen) {
  const pid_t child = ::fork();
  if (child == 0) {
    int keyboard = -1, terminal = -1;
    if (::setsid() < 0 || ::openpty(&keyboard, &terminal, nullptr, nullptr, nullptr) != 0) ::_exit(2);
    if (::ioctl(terminal, TIOCSCTTY, 1) != 0) ::_exit(3);
    struct stat status {};
    ::fstat(terminal, &status);
    ::dup2(terminal, 1);
    ::dup2(::open("/dev/null", O_WRONLY), 2);
    const auto with = current_streams(true), without = current_streams(false);
    const bool good = with.controlling_terminal == status.st_rdev && !with.standard_error &&
                      with.job_output == std::vector<dev_t>{status.st_rdev} && without.job_output.empty();
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

LiveStatus everything() {
  return {.elapsed = 725s,
          .components = {{"GPU", 1240}, {"CPU", 180}, {"RAM", std::nullopt}},
          .energy_kwh = 0.2512,
          .steps_per_s = 3.214,
          .time_left = 3720s,
          .alerts = {"GPU 3 throttled", "loader starves"}};
}

TEST(FormatLive, ShowsEverythingWhereThereIsRoom) {
  EXPECT_EQ(format_live(everything(), 200),
            "12 min 05 s  GPU 1.24 kW  CPU 180 W  RAM –  0.251 kWh  3.21 step/s  left 62 min 00 s  ! GPU 3 throttled  "
            "! loader starves");
}

TEST(FormatLive, NeverTakesMoreColumnsThanThereAre) {
  for (std::size_t width = 0; width < 130; ++width)
    EXPECT_LE(columns(format_live(everything(), width)), width) << width;
}

TEST(FormatLive, LeavesOutWhatMattersLeastFirst) {
  const auto line = format_live(everything(), 60);
  EXPECT_THAT(line, HasSubstr("GPU 1.24 kW"));
  EXPECT_THAT(line, HasSubstr("! GPU 3 throttled"));
  EXPECT_THAT(line, HasSubstr("kWh"));
  EXPECT_THAT(line, Not(HasSubstr("RAM")));
  EXPECT_THAT(line, Not(HasSubstr("loader")));
  EXPECT_THAT(format_live(everything(), 32), HasSubstr("! GPU 3 throttled"));
}

TEST(FormatLive, WhatIsNotKnownIsNotShown) { EXPECT_EQ(format_live({.elapsed = 5s}, 80), "5.00 s"); }

TEST(FormatLive, AnAlertCannotMoveTheCursor) {
  EXPECT_EQ(format_live({.elapsed = 5s, .alerts = {"a\x1b[2J\nb"}}, 80), "5.00 s  ! a [2J b");
}

TEST(FormatLive, RedrawingCoversTheFormerLine) {
  EXPECT_EQ(redraw("x"), "\rx\x1b[K");
  EXPECT_EQ(erase_line(), "\r\x1b[K");
}

}  // namespace
}  // namespace gradwatt::launch

#include "gradwatt/launch/marks/mark_reader.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "gradwatt/launch/marks/mark_ring.h"
#include "gradwatt/launch/marks/marks_test_folder.hpp"

namespace gradwatt::launch::marks {
namespace {

class RingReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    marks_ = gradwatt_marks_open();
    ASSERT_NE(marks_, nullptr);
    reader_.emplace(RingReader::open(folder_.files().at(0)).value());
  }
  void TearDown() override { gradwatt_marks_close(marks_); }
  void write_steps(int count) {
    for (int i = 0; i < count; ++i, ++written_) gradwatt_step(marks_, written_, written_ + 1, 1, nullptr);
  }
  MarksFolder folder_;
  gradwatt_marks* marks_ = nullptr;
  std::optional<RingReader> reader_;
  std::int64_t written_ = 0;
};

TEST_F(RingReaderTest, DeliversEachMarkOnce) {
  write_steps(3);
  EXPECT_EQ(reader_->poll().marks.size(), 3);
  EXPECT_TRUE(reader_->poll().empty());
  write_steps(1);
  const auto batch = reader_->poll();
  ASSERT_EQ(batch.marks.size(), 1);
  EXPECT_EQ(batch.marks[0].number, 3);
}

TEST_F(RingReaderTest, FollowsTheWriterAroundTheRing) {
  for (int round = 0; round < 5; ++round) {
    write_steps(GRADWATT_MARKS_CAPACITY - 100);
    const auto batch = reader_->poll();
    EXPECT_EQ(batch.marks.size(), GRADWATT_MARKS_CAPACITY - 100);
    EXPECT_EQ(batch.overruns, 0);
    EXPECT_EQ(batch.marks.back().begin_ns, written_ - 1);
  }
}

TEST_F(RingReaderTest, CountsExactlyTheMarksThatWereOverwritten) {
  write_steps(GRADWATT_MARKS_CAPACITY + 1000);
  const auto batch = reader_->poll();
  EXPECT_EQ(batch.overruns, 1000);
  ASSERT_EQ(batch.marks.size(), GRADWATT_MARKS_CAPACITY);
  EXPECT_EQ(batch.marks.front().number, 1000);
}

TEST_F(RingReaderTest, ATornSlotIsWaitedForAndThenTaken) {
  write_steps(1);
  const auto n = gradwatt_marks_take(marks_, 1);
  auto* slot = gradwatt_marks_begin_slot(marks_, n);
  write_steps(1);
  EXPECT_EQ(reader_->poll().marks.size(), 1);
  slot->kind = GRADWATT_MARKS_EPOCH;
  slot->number = 9;
  gradwatt_marks_end_slot(slot, n);
  EXPECT_EQ(reader_->poll().marks.size(), 2);
}

TEST_F(RingReaderTest, ATornSlotOfADeadThreadIsPassedOverAndCounted) {
  const auto n = gradwatt_marks_take(marks_, 1);
  gradwatt_marks_begin_slot(marks_, n);
  write_steps(GRADWATT_MARKS_CAPACITY / 2 + 1);
  const auto batch = reader_->poll();
  EXPECT_EQ(batch.torn, 1);
  EXPECT_EQ(batch.marks.size(), GRADWATT_MARKS_CAPACITY / 2 + 1);
}

TEST_F(RingReaderTest, AtTheEndATornSlotIsCountedAtOnce) {
  write_steps(2);
  gradwatt_marks_begin_slot(marks_, gradwatt_marks_take(marks_, 1));
  write_steps(2);
  const auto batch = reader_->finish();
  EXPECT_EQ(batch.torn, 1);
  EXPECT_EQ(batch.marks.size(), 4);
}

TEST_F(RingReaderTest, ASlotThatIsBeingOverwrittenIsLostAndNotMixed) {
  write_steps(1);
  marks_->slots[0].first = GRADWATT_MARKS_CAPACITY + 1;  // the writer came round and has only begun
  const auto batch = reader_->poll();
  EXPECT_TRUE(batch.marks.empty());
  EXPECT_EQ(batch.overruns, 1);
}

TEST_F(RingReaderTest, ASequenceThatTheSlotCannotHaveIsCountedAndPassedOver) {
  write_steps(2);
  marks_->slots[0].last = 5;  // mark 4 goes to slot 4: something of the job wrote here
  const auto batch = reader_->poll();
  EXPECT_EQ(batch.malformed, 1);
  EXPECT_EQ(batch.overruns, 0);
  ASSERT_EQ(batch.marks.size(), 1);
  EXPECT_EQ(batch.marks[0].number, 1);
}

TEST_F(RingReaderTest, TimesAndCountsThatCannotBeAreNotTaken) {
  gradwatt_step(marks_, INT64_MIN, 5, 1, nullptr);
  gradwatt_step(marks_, -7, 5, 1, nullptr);
  gradwatt_step(marks_, 3, 5, -32, nullptr);
  const auto batch = reader_->poll();
  EXPECT_EQ(batch.malformed, 2);
  ASSERT_EQ(batch.marks.size(), 1);
  EXPECT_EQ(batch.marks[0].samples, std::nullopt);
}

TEST_F(RingReaderTest, MarksOfAnUnorderedWriterWaitOnePoll) {
  marks_->header->flags = GRADWATT_MARKS_FLAG_UNORDERED;
  reader_.emplace(RingReader::open(folder_.files().at(0)).value());
  write_steps(1000);
  EXPECT_TRUE(reader_->poll().empty());
  write_steps(10);
  EXPECT_EQ(reader_->poll().marks.size(), 1000);
  EXPECT_EQ(reader_->finish().marks.size(), 10);
}

TEST_F(RingReaderTest, FactsTakeSubjectAndUnitFromTheTable) {
  gradwatt_marks_set_rank(marks_, 3, 1, 8);
  gradwatt_fact_number(marks_, "ddp.bucket_cap_bytes", 26214400);
  gradwatt_fact_text(marks_, "job.backend", "gloo");
  gradwatt_fact_number(marks_, "job.world_size", 8);
  const auto facts = reader_->poll().facts;
  ASSERT_EQ(facts.size(), 3);
  EXPECT_EQ(facts[0].name, "ddp.bucket_cap_bytes");
  EXPECT_EQ(record::as_number(facts[0]), 26214400);
  EXPECT_EQ(facts[0].unit, "bytes");
  EXPECT_EQ(facts[0].subject, "rank 3");
  EXPECT_EQ(record::as_text(facts[1]), "gloo");
  EXPECT_EQ(facts[2].subject, "job");
}

TEST_F(RingReaderTest, ALongTextArrivesWhole) {
  const std::string reason(1000, 'x');
  gradwatt_fact_text(marks_, "agent.problem", reason.c_str());
  const auto facts = reader_->poll().facts;
  ASSERT_EQ(facts.size(), 1);
  EXPECT_EQ(record::as_text(facts[0]), reason);
}

TEST_F(RingReaderTest, ANumberThatIsAnEstimateSaysSo) {
  gradwatt_marks_text_write(marks_, "agent.cpu_s=e1.5");
  gradwatt_marks_text_write(marks_, "ddp.parameters=n12");
  const auto facts = reader_->poll().facts;
  ASSERT_EQ(facts.size(), 2);
  EXPECT_EQ(record::as_number(facts[0]), 1.5);
  EXPECT_EQ(facts[0].how, record::How::estimated);
  EXPECT_EQ(facts[1].how, record::How::counter);
}

TEST_F(RingReaderTest, RegionsKeepTheirNameCutAtTheDocumentedLength) {
  const auto begin = gradwatt_region_begin();
  gradwatt_region_end(marks_, "validation", begin);
  gradwatt_region_end(marks_, std::string(100, 'n').c_str(), begin);
  const auto marks = reader_->poll().marks;
  ASSERT_EQ(marks.size(), 2);
  EXPECT_EQ(marks[0].kind, record::MarkKind::region);
  EXPECT_EQ(marks[0].name, "validation");
  EXPECT_EQ(marks[0].phase_ns[0], std::nullopt);
  EXPECT_EQ(marks[1].name.size(), GRADWATT_MARKS_NAME_BYTES);
}

TEST_F(RingReaderTest, WholeSlotsThatMakeNoSenseAreCounted) {
  gradwatt_marks_span_write(marks_, 77, 0, 1, 2, 3, nullptr, 0);
  gradwatt_marks_span_write(marks_, GRADWATT_MARKS_STEP, 0, 20, 10, 3, nullptr, 0);
  gradwatt_marks_text_write(marks_, "no equals sign");
  gradwatt_marks_text_write(marks_, "name=nnot-a-number");
  const auto batch = reader_->poll();
  EXPECT_EQ(batch.malformed, 4);
  EXPECT_TRUE(batch.empty());
}

TEST_F(RingReaderTest, AGarbageHeadNeitherHangsNorInventsMarks) {
  write_steps(2);
  marks_->header->head = ~0ULL / 2;
  EXPECT_EQ(reader_->finish().marks.size(), 2);
}

TEST_F(RingReaderTest, AFileThatWasTruncatedBringsNothingMore) {
  write_steps(2);
  std::filesystem::resize_file(folder_.files().at(0), 10);
  EXPECT_TRUE(reader_->poll().empty());
  std::filesystem::resize_file(folder_.files().at(0),
                               GRADWATT_MARKS_HEADER_BYTES + GRADWATT_MARKS_CAPACITY * GRADWATT_MARKS_SLOT_BYTES);
}

TEST_F(RingReaderTest, KnowsWhetherTheWriterLives) {
  EXPECT_TRUE(reader_->writer_alive(core::FileTree()));
  marks_->header->start_ticks += 1;  // the pid was given to another process
  reader_->poll();
  EXPECT_FALSE(reader_->writer_alive(core::FileTree()));
  marks_->header->pid = 0x3fffffff;
  reader_->poll();
  EXPECT_FALSE(reader_->writer_alive(core::FileTree()));
}

TEST_F(RingReaderTest, RefusesAProfileOfNoStepsOrWithAnEndlessPath) {
  EXPECT_EQ(reader_->request_profile(0, "/tmp/x").error().code, core::Errc::wrong_use);
  EXPECT_EQ(reader_->request_profile(1, std::string(2000, 'x')).error().code, core::Errc::wrong_use);
}

TEST_F(RingReaderTest, NothingIsLostAtTenThousandMarksASecond) {
  constexpr int kMarks = 20000;  // two seconds, more than one round of the ring
  std::atomic<bool> done = false;
  std::jthread writer([&] {
    auto next = std::chrono::steady_clock::now();
    for (int i = 0; i < kMarks; ++i) {
      write_steps(1);
      next += std::chrono::microseconds(100);
      std::this_thread::sleep_until(next);
    }
    done = true;
  });
  Batch all;
  while (!done) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    all.append(reader_->poll());
  }
  all.append(reader_->finish());
  EXPECT_EQ(all.overruns, 0);
  EXPECT_EQ(all.torn, 0);
  ASSERT_EQ(all.marks.size(), kMarks);
  for (int i = 0; i < kMarks; ++i) ASSERT_EQ(all.marks[static_cast<std::size_t>(i)].number, i);
}

TEST_F(RingReaderTest, AWriterAtFullSpeedNeverYieldsAMixedMark) {
  std::atomic<bool> stop = false;
  std::jthread writer([&] {
    for (std::int64_t i = 0; !stop; ++i)
      gradwatt_marks_span_write(marks_, GRADWATT_MARKS_EPOCH, i, i, 2 * i, 3 * i, nullptr, 0);
  });
  std::uint64_t delivered = 0;
  std::uint64_t lost = 0;
  std::int64_t last = -1;
  for (int poll = 0; poll < 200; ++poll) {
    const auto batch = reader_->poll();
    delivered += batch.marks.size();
    lost += batch.overruns;
    for (const auto& mark : batch.marks) {
      ASSERT_GT(mark.number, last);
      last = mark.number;
      ASSERT_EQ(mark.begin_ns, mark.number);
      ASSERT_EQ(mark.end_ns, 2 * mark.number);
      ASSERT_EQ(mark.samples, 3 * mark.number);
    }
    EXPECT_EQ(batch.malformed, 0);
  }
  stop = true;
  writer.join();
  const auto rest = reader_->finish();
  EXPECT_EQ(delivered + lost + rest.marks.size() + rest.overruns, marks_->header->head);
}

TEST(RingReader, AWriterThatIsKilledLeavesAReadableRing) {
  MarksFolder folder;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    gradwatt_marks* marks = gradwatt_marks_open();
    for (int i = 0; i < 500; ++i) gradwatt_step(marks, i, i + 1, 1, nullptr);
    if (::write(ready[1], "x", 1) == 1) ::pause();
    ::_exit(1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  auto reader = RingReader::open(folder.files().at(0));
  ASSERT_TRUE(reader);
  EXPECT_FALSE(reader->writer_alive(core::FileTree()));
  EXPECT_EQ(reader->finish().marks.size(), 500);
}

TEST(RingReader, AnotherReaderMayStartAgainFromTheBegin) {
  MarksFolder folder;
  gradwatt_marks* marks = gradwatt_marks_open();
  for (int i = 0; i < 5; ++i) gradwatt_step(marks, i, i + 1, 1, nullptr);
  EXPECT_EQ(RingReader::open(folder.files().at(0))->poll().marks.size(), 5);
  EXPECT_EQ(RingReader::open(folder.files().at(0))->poll().marks.size(), 5);
  gradwatt_marks_close(marks);
}

TEST(RingReader, RefusesWhatIsNoRing) {
  MarksFolder folder;
  std::ofstream(folder.path() / "empty.ring");
  std::ofstream(folder.path() / "text.ring") << std::string(10000, 'x');
  EXPECT_EQ(RingReader::open(folder.path() / "empty.ring").error().code, core::Errc::unusable_input);
  EXPECT_EQ(RingReader::open(folder.path() / "text.ring").error().code, core::Errc::unusable_input);
  EXPECT_EQ(RingReader::open(folder.path() / "absent.ring").error().code, core::Errc::not_found);
  EXPECT_FALSE(RingReader::open(folder.path()));
}

TEST(RingReader, RefusesANewerLayoutAndDamagedSizesAndSaysWhich) {
  MarksFolder folder;
  gradwatt_marks* marks = gradwatt_marks_open();
  const auto file = folder.files().at(0);
  marks->header->version = 2;
  EXPECT_NE(RingReader::open(file).error().message.find("layout 2"), std::string::npos);
  marks->header->version = 1;
  for (const std::uint32_t capacity : {0U, 3U, 32768U, 1U << 30}) {
    marks->header->capacity = capacity;
    EXPECT_EQ(RingReader::open(file).error().code, core::Errc::unusable_input) << capacity;
  }
  gradwatt_marks_close(marks);
}

}  // namespace
}  // namespace gradwatt::launch::marks

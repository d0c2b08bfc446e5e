#include "gradwatt/ingest/kineto/kineto_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "gradwatt/ingest/import.hpp"
#include "tests/doubles/made_gzip.hpp"
#include "tests/doubles/made_trace.hpp"

namespace gradwatt::ingest::kineto {
namespace {

using doubles::MadeTrace;
using ::testing::HasSubstr;
using ::testing::Not;

Imported import_trace(const std::string& text, const std::string& name = "rank-0.json") {
  auto imported = import_text(name, text);
  if (!imported) throw std::runtime_error(imported.error().message);
  return std::move(*imported);
}

std::optional<double> figure(const record::Run& run, std::string_view name, std::string_view subject = "rank 0") {
  for (const auto& fact : run.facts)
    if (fact.name == name && fact.subject == subject) return record::as_number(fact);
  return std::nullopt;
}

std::string said(const Imported& imported) {
  std::string all;
  for (const auto& diagnostic : imported.diagnostics) all += format(diagnostic) + "\n";
  return all;
}

/// Two steps of 1000 µs: 400 µs in the loader, then 300 µs of a product, 100 µs of a collective of which 50 µs beside
/// it.
MadeTrace two_steps() {
  MadeTrace trace;
  trace.rank(0, 2);
  for (int i = 0; i < 2; ++i) {
    const double begin = 1e15 + 1000.0 * i;
    trace.step(i + 5, begin, 1000)
        .loader(begin, 400)
        .kernel("ampere_sgemm_128x64_nn", begin + 500, 300, begin + 410)
        .work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", begin + 750, 100, begin + 420,
              R"("In msg nelems": 1000, "dtype": "Float")", 20)
        .work("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", begin + 450, 20, begin + 405, R"("bytes": 200000)")
        .host("cuda_runtime", "cudaStreamSynchronize", begin + 700, 150)
        .host("cuda_runtime", "cudaMalloc", begin + 402, 1);
  }
  return trace;
}

TEST(KinetoReader, ComputesHowTheDevicesTimeDivides) {
  const auto run = import_trace(two_steps().text()).run;
  EXPECT_EQ(figure(run, "trace.steps"), 2);
  EXPECT_NEAR(figure(run, "trace.window_s").value(), 2e-3, 1e-12);
  EXPECT_NEAR(figure(run, "trace.compute_share").value(), 0.30, 1e-9);
  EXPECT_NEAR(figure(run, "trace.non_compute_share").value(), 0.07, 1e-9);
  EXPECT_NEAR(figure(run, "trace.idle_share").value(), 0.63, 1e-9);
  EXPECT_NEAR(figure(run, "trace.comm_share").value(), 0.10, 1e-9);
  EXPECT_NEAR(figure(run, "trace.comm_exposed_share").value(), 0.05, 1e-9);
  EXPECT_NEAR(figure(run, "trace.comm_overlap_share").value(), 0.5, 1e-9);
  EXPECT_NEAR(figure(run, "trace.copy_exposed_share").value(), 0.02, 1e-9);
}

TEST(KinetoReader, ComputesWhatTheHostWaitsFor) {
  const auto run = import_trace(two_steps().text()).run;
  EXPECT_NEAR(figure(run, "trace.loader_share").value(), 0.40, 1e-9);
  EXPECT_EQ(figure(run, "trace.sync_calls_per_step"), 1);
  EXPECT_NEAR(figure(run, "trace.sync_share").value(), 0.15, 1e-9);
  EXPECT_EQ(figure(run, "trace.allocations_per_step"), 1);
  EXPECT_FALSE(figure(run, "trace.shapes_vary"));
}

TEST(KinetoReader, ComputesWhatKernelsCopiesAndCollectivesAre) {
  const auto run = import_trace(two_steps().text()).run;
  EXPECT_EQ(figure(run, "trace.kernels_per_step"), 2);
  EXPECT_NEAR(figure(run, "trace.kernel_class_share", "gemm").value(), 0.75, 1e-9);
  EXPECT_NEAR(figure(run, "trace.kernel_class_share", "communication").value(), 0.25, 1e-9);
  EXPECT_EQ(figure(run, "trace.tensor_core_share"), 0);
  EXPECT_EQ(figure(run, "trace.copy_pageable_share"), 1);
  EXPECT_NEAR(figure(run, "trace.copy_h2d_bytes_per_s").value(), 1e10, 1);
  EXPECT_EQ(figure(run, "comm.collectives_per_step"), 1);
  EXPECT_EQ(figure(run, "comm.bytes_per_step"), 4000);
  EXPECT_NEAR(figure(run, "trace.comm_s").value(), 100e-6, 1e-12);
  EXPECT_EQ(figure(run, "job.world_size", "job"), 2);
}

TEST(KinetoReader, MakesAMarkOfEachStepOnTheWallClock) {
  const auto run = import_trace(two_steps().head(R"("baseTimeNanoseconds": 1000)").text()).run;
  ASSERT_EQ(run.marks.size(), 2U);
  const auto& mark = run.marks[1];
  EXPECT_EQ(mark.number, 1);
  EXPECT_EQ(mark.begin_ns, 1'000'000'000'000'000'000 + 1'000'000 + 1000);
  EXPECT_EQ(mark.end_ns - mark.begin_ns, 1'000'000);
  EXPECT_EQ(mark.phase_ns.at(static_cast<std::size_t>(record::Phase::data_wait)), 400'000);
  EXPECT_EQ(mark.phase_ns.at(static_cast<std::size_t>(record::Phase::comm_exposed)), 50'000);
  EXPECT_FALSE(run.spans.empty());
}

TEST(KinetoReader, FactsSayWhereTheyComeFromAndHaveTheTablesUnits) {
  const auto imported = import_trace(two_steps().text());
  EXPECT_EQ(imported.run.where(), record::Where::imported);
  for (const auto& fact : imported.run.facts) {
    const auto* info = record::find_fact(fact.name);
    ASSERT_NE(info, nullptr) << fact.name;
    EXPECT_EQ(fact.unit, info->unit);
    EXPECT_EQ(fact.source, "rank-0.json");
    EXPECT_EQ(fact.where, record::Where::imported);
  }
}

TEST(KinetoReader, ReadsGzipLikeTheTextItself) {
  const auto text = two_steps().text();
  const auto plain = import_trace(text).run, packed = import_trace(doubles::made_gzip(text)).run;
  ASSERT_EQ(plain.facts.size(), packed.facts.size());
  for (std::size_t i = 0; i < plain.facts.size(); ++i) EXPECT_EQ(plain.facts[i].value, packed.facts[i].value);
}

TEST(KinetoReader, ReadsTheCategoriesOf2021AndEventsWithArgsInFront) {
  const std::string text = R"({"traceEvents": [
    {"ph": "X", "cat": "Operator", "name": "ProfilerStep#1", "pid": 9, "tid": "9", "ts": 1000, "dur": 100, "args": {}},
    {"args": {"correlation": 5}, "ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": "9", "ts": 1010, "dur": 5},
    {"args": {"correlation": 5, "stream": 7, "device": 0}, "name": "volta_sgemm_32x128_tn", "ph": "X", "cat": "Kernel", "pid": 0, "tid": "stream 7", "ts": 1050, "dur": 25}
  ]})";
  const auto run = import_trace(text).run;
  EXPECT_NEAR(figure(run, "trace.compute_share").value(), 0.25, 1e-9);
  EXPECT_NEAR(figure(run, "trace.launch_delay_median_s").value(), 40e-6, 1e-12);
}

TEST(KinetoReader, GivesADeviceThatLagsBehindTheSameStepsAsTheHost) {
  // The host launches steps of 100 µs, the device works them off 300 µs later without a gap.
  MadeTrace trace;
  for (int i = 0; i < 4; ++i)
    trace.step(i, 1000 + 100.0 * i, 100).kernel("my_kernel", 1300 + 100.0 * i, 100, 1000 + 100.0 * i + 5);
  EXPECT_NEAR(figure(import_trace(trace.text()).run, "trace.idle_share").value(), 0, 1e-9);
}

TEST(KinetoReader, LeavesOutTheRestOfAStepThatTheProfilerStoppedIn) {
  MadeTrace trace;
  trace.step(0, 1000, 100).step(1, 1100, 100).step(2, 1200, 1);
  const auto imported = import_trace(trace.text());
  EXPECT_EQ(figure(imported.run, "trace.steps"), 2);
  EXPECT_THAT(said(imported), HasSubstr("last step was begun only when the profiler stopped"));
}

TEST(KinetoReader, SeesHowFarTheHostRunsAhead) {
  // Three launches in a row, of which the device has begun none when the last returns.
  MadeTrace trace;
  trace.step(0, 1000, 1000);
  for (int i = 0; i < 3; ++i) trace.kernel("my_kernel", 1500 + 100.0 * i, 100, 1010 + 10.0 * i);
  const auto run = import_trace(trace.text()).run;
  EXPECT_EQ(figure(run, "trace.launch_queue_median"), 2);
  EXPECT_NEAR(figure(run, "trace.launch_delay_median_s").value(), 580e-6, 1e-12);
}

TEST(KinetoReader, TakesNoStepInsideOfAnother) {
  MadeTrace trace;
  trace.step(0, 1000, 100).step(7, 1010, 20).step(1, 1100, 100);
  EXPECT_EQ(figure(import_trace(trace.text()).run, "trace.steps"), 2);
}

TEST(KinetoReader, JudgesOnlyTheLoaderOfTheThreadThatSteps) {
  MadeTrace trace;
  trace.step(0, 1000, 100).loader(1000, 90, 2).loader(1010, 5);
  EXPECT_NEAR(figure(import_trace(trace.text()).run, "trace.loader_share").value(), 0.05, 1e-9);
}

TEST(KinetoReader, KnowsALoaderWithoutWorkersByItsIterator) {
  MadeTrace alone, helped;
  alone.step(0, 1000, 100).loader(1000, 50);
  EXPECT_EQ(figure(import_trace(alone.text()).run, "loader.workers"), 0);
  helped.step(0, 1000, 100)
      .host("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 1000, 50);
  const auto run = import_trace(helped.text()).run;
  EXPECT_FALSE(figure(run, "loader.workers"));
  EXPECT_NEAR(figure(run, "trace.loader_share").value(), 0.5, 1e-9);
}

TEST(KinetoReader, ReadsTheBareListOfAPyTorchWithoutKineto) {
  std::string text = "[";
  for (int i = 0; i < 2; ++i) {
    const auto event = [&](const char* name, int at, int length) {
      text += std::string(text.size() > 1 ? "," : "") + R"({"name": ")" + name + R"(", "ph": "X", "ts": )" +
              std::to_string(1000 * i + at) + R"(, "dur": )" + std::to_string(length) +
              R"(, "tid": 1, "pid": "CPU functions", "args": {}})";
    };
    event("ProfilerStep#0", 0, 1000);
    event("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 250);
    event("aten::mm", 300, 500);
  }
  const auto run = import_trace(text + "]").run;
  EXPECT_EQ(figure(run, "trace.steps"), 2);
  EXPECT_NEAR(figure(run, "trace.loader_share").value_or(0), 0.25, 1e-9);
}

TEST(KinetoReader, HasNoLoaderShareWhereNoLoaderIsInTheTrace) {
  MadeTrace trace;
  trace.step(0, 1000, 100);
  const auto imported = import_trace(trace.text());
  EXPECT_FALSE(figure(imported.run, "trace.loader_share"));
  EXPECT_THAT(said(imported), HasSubstr("CPU alone"));
}

TEST(KinetoReader, SeesShapesThatChangeBetweenSteps) {
  const auto shaped = [](int second) {
    MadeTrace trace;
    trace.step(0, 1000, 100).host("cpu_op", "aten::mm", 1010, 5, R"("Input Dims": [[32, 64], [64, 8]])");
    trace.step(1, 1100, 100)
        .host("cpu_op", "aten::mm", 1110, 5, fmt::format(R"("Input Dims": [[{}, 64], [64, 8]])", second));
    return figure(import_trace(trace.text()).run, "trace.shapes_vary");
  };
  EXPECT_EQ(shaped(32), 0);
  EXPECT_EQ(shaped(17), 1);
}

TEST(KinetoReader, AbstainsLoudlyWhenARankOfSeveralShowsNoCollective) {
  MadeTrace trace;
  trace.rank(3, 8).step(0, 1000, 100).kernel("my_kernel", 1050, 20, 1010);
  const auto imported = import_trace(trace.text());
  EXPECT_THAT(said(imported), HasSubstr("one of 8 ranks but holds no collective"));
  EXPECT_FALSE(figure(imported.run, "trace.comm_share", "rank 3"));
  EXPECT_FALSE(figure(imported.run, "comm.collectives_per_step", "rank 3"));
}

TEST(KinetoReader, CountsNoCommunicationOfASingleRankAsNone) {
  MadeTrace trace;
  trace.step(0, 1000, 100).kernel("my_kernel", 1050, 20, 1010);
  const auto run = import_trace(trace.text()).run;
  EXPECT_EQ(figure(run, "trace.comm_share"), 0);
  EXPECT_FALSE(figure(run, "trace.comm_overlap_share"));
}

TEST(KinetoReader, TakesTheRankFromTheFileNameAndSaysSo) {
  MadeTrace trace;
  trace.step(0, 1000, 100);
  const auto imported = import_trace(trace.text(), "logs/rank_1/run-rank-34.Jul.pt.trace.json");
  EXPECT_EQ(figure(imported.run, "trace.steps", "rank 34"), 1);
  EXPECT_THAT(said(imported), HasSubstr("its name says 34"));
  EXPECT_THAT(said(import_trace(trace.text(), "trace.json")), HasSubstr("taken as rank 0"));
}

TEST(KinetoReader, KeepsWhatLiesBeforeACutAndSaysSo) {
  const auto text = two_steps().text();
  const auto imported = import_trace(text.substr(0, text.size() - 300));
  EXPECT_THAT(said(imported), HasSubstr("is not complete: it is cut off"));
  EXPECT_FALSE(imported.run.complete());
  const auto packed = doubles::made_gzip(text);
  EXPECT_THAT(said(import_trace(packed.substr(0, packed.size() * 3 / 4))), HasSubstr("compressed data are cut off"));
}

TEST(KinetoReader, LosesOnlyTheEventThatIsNoJson) {
  MadeTrace trace;
  trace.step(0, 1000, 100)
      .event(R"({"ph": "X", "cat": "kernel", "name": "a", "ts": 1e999, "dur": 1, "args": {}})")
      .event(R"({"ph": "X", "cat": "kernel", "name": "b", "ts": 5, "dur": -1, "args": {}})")
      .event(R"({"ph": "X", "cat": "kernel", "name": "c" "ts": 5})")
      .event(R"(17)")
      .kernel("my_kernel", 1050, 20, 1010);
  const auto imported = import_trace(trace.text());
  EXPECT_NEAR(figure(imported.run, "trace.compute_share").value(), 0.2, 1e-9);
  EXPECT_THAT(said(imported), HasSubstr("3 events are no JSON or have no time"));
}

TEST(KinetoReader, TakesValuesThatPythonWritesAndJsonForbids) {
  MadeTrace trace;
  trace.step(0, 1000, 100)
      .work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 1050, 20, 1010,
            R"x("memory bandwidth (GB/s)": inf, "x": NaN, "bytes": 10)x");
  EXPECT_EQ(figure(import_trace(trace.text()).run, "trace.copy_pageable_share"), 0);
}

TEST(KinetoReader, RefusesJsonThatIsNoTrace) {
  const auto refusal = [](const std::string& text) {
    const auto imported = import_text("x.json", text);
    return imported ? std::string("imported") : imported.error().message;
  };
  EXPECT_THAT(refusal(R"({"schemaVersion": 1, "deviceProperties": []})"), HasSubstr("no \"traceEvents\""));
  EXPECT_THAT(refusal(R"({"traceEvents": []})"), HasSubstr("without one event"));
  EXPECT_THAT(refusal(doubles::made_gzip("[[1, 2], [3, 4]]")), HasSubstr("JSON of a kind that is not known"));
  EXPECT_THAT(refusal("\x1f\x8b garbage"), HasSubstr("damaged"));
}

TEST(KinetoReader, IsNotImpressedByDepth) {
  const std::string deep(1U << 20U, '[');
  MadeTrace trace;
  trace.step(0, 1000, 100)
      .host("cpu_op", "aten::mm", 1010, 5, R"("Input Dims": )" + deep + std::string(deep.size(), ']'));
  const auto imported = import_trace(trace.text());
  EXPECT_EQ(figure(imported.run, "trace.steps"), 1);
}

TEST(KinetoReader, StopsWhereTheRowsTakeMoreMemoryThanAllowed) {
  MadeTrace trace;
  trace.step(0, 0, 1e6);
  for (int i = 0; i < 10'000; ++i) trace.kernel("my_kernel", 10.0 * i, 5, 10.0 * i);
  auto file = LineReader::from_text(trace.text());
  Diagnostics notes("x.json");
  const auto read = read_trace(file.bytes(), notes, 100'000);
  ASSERT_TRUE(read);
  EXPECT_LT(read->events, 20'001U);
  ASSERT_EQ(notes.finish().size(), 1U);
  EXPECT_THAT(notes.finish()[0].message, HasSubstr("a quarter of the memory"));
}

}  // namespace
}  // namespace gradwatt::ingest::kineto

#include "gradwatt/ingest/kineto/rank_contrast.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "gradwatt/ingest/import.hpp"
#include "tests/doubles/made_trace.hpp"

namespace gradwatt::ingest::kineto {
namespace {

using doubles::MadeTrace;
using ::testing::HasSubstr;

class RankContrast : public ::testing::Test {
 protected:
  void SetUp() override {
    auto pattern = (std::filesystem::temp_directory_path() / "gradwatt-ranks-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// One step of 1000 µs, `compute` of it computing and then a collective to its end.
  void add(const std::string& name, double compute, std::optional<int> rank, std::string_view kernel) {
    MadeTrace trace;
    if (rank) trace.rank(*rank, 4);
    trace.step(0, 1000, 1000)
        .kernel("ampere_sgemm_128x64_nn", 1000, compute, 1000)
        .kernel(kernel, 1000 + compute, 1000 - compute, 1001, 20);
    std::ofstream(folder_ / name) << trace.text();
    files_.push_back(folder_ / name);
  }
  Imported import() {
    auto imported = import_files(files_);
    EXPECT_TRUE(imported) << imported.error().message;
    return std::move(*imported);
  }
  static std::optional<double> figure(const record::Run& run, std::string_view name, std::string_view subject) {
    for (const auto& fact : run.facts)
      if (fact.name == name && fact.subject == subject) return record::as_number(fact);
    return std::nullopt;
  }
  static std::string said(const Imported& imported) {
    std::string all;
    for (const auto& diagnostic : imported.diagnostics) all += format(diagnostic) + "\n";
    return all;
  }
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> files_;
};

TEST_F(RankContrast, NamesTheRankThatSpendsLeastTimeInCollectives) {
  add("a.json", 600, 0, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  add("b.json", 900, 1, "ncclKernel_AllReduce_RING_LL_Sum_float");
  add("c.json", 600, 2, "NCCL_thing");
  add("d.json", 600, 3, "rcclKernel");
  const auto run = import().run;
  EXPECT_EQ(figure(run, "trace.straggler", "job"), 1);
  EXPECT_NEAR(figure(run, "rank.skew_share", "job").value(), 0.5, 1e-9);
  EXPECT_NEAR(figure(run, "rank.own_time_s", "rank 1").value(), 900e-6, 1e-12);
  EXPECT_NEAR(figure(run, "rank.wait_s", "rank 3").value(), 400e-6, 1e-12);
}

TEST_F(RankContrast, NamesNobodyWhereAllAreAlike) {
  add("a.json", 600, 0, "ncclDevKernel_x");
  add("b.json", 602, 1, "ncclDevKernel_x");
  const auto imported = import();
  EXPECT_FALSE(figure(imported.run, "trace.straggler", "job"));
  EXPECT_THAT(said(imported), HasSubstr("alike time in collectives"));
}

TEST_F(RankContrast, SaysThatOneRankAloneShowsNoStraggler) {
  add("a.json", 600, 0, "ncclDevKernel_x");
  EXPECT_THAT(said(import()), HasSubstr("of one rank only"));
}

TEST_F(RankContrast, KeepsTheFactsOfEachRankAndMakesThoseOfTheJobOne) {
  add("a.json", 500, 0, "ncclDevKernel_x");
  add("b.json", 900, 1, "ncclDevKernel_x");
  const auto run = import().run;
  EXPECT_NEAR(figure(run, "trace.compute_share", "rank 0").value(), 0.5, 1e-9);
  EXPECT_NEAR(figure(run, "trace.compute_share", "rank 1").value(), 0.9, 1e-9);
  EXPECT_NEAR(figure(run, "trace.kernel_class_share", "gemm").value(), 0.7, 1e-9);
  EXPECT_EQ(std::ranges::count(run.facts, "job.world_size", &record::Fact::name), 1);
  EXPECT_EQ(run.marks.size(), 2U);
}

TEST_F(RankContrast, GivesTracesThatDoNotSayTheirRankDifferentOnes) {
  add("a.json", 500, std::nullopt, "ncclDevKernel_x");
  add("b.json", 900, std::nullopt, "ncclDevKernel_x");
  const auto imported = import();
  EXPECT_NEAR(figure(imported.run, "trace.compute_share", "rank 1").value(), 0.9, 1e-9);
  EXPECT_THAT(said(imported), HasSubstr("taken as rank 1"));
  EXPECT_EQ(imported.run.marks.at(1).rank, 1);
}

TEST_F(RankContrast, SaysWhenTwoTracesStateTheSameRank) {
  add("a.json", 500, 2, "ncclDevKernel_x");
  add("b.json", 900, 2, "ncclDevKernel_x");
  EXPECT_THAT(said(import()), HasSubstr("is of rank 2 like a file before"));
}

}  // namespace
}  // namespace gradwatt::ingest::kineto

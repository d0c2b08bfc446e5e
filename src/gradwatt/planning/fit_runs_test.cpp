#include "gradwatt/planning/fit_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gradwatt/energy/scripted_run.hpp"

namespace gradwatt::planning {
namespace {

using energy::scripted::ScriptedRun;
using record::DeviceKind;
using ::testing::HasSubstr;

TEST(ProfileTable, ReadsRowsAndLeavesWhatIsEmptyUnknown) {
  const auto rows = profile_table(
      "gpus,nodes,local_batch,step_s,sync_s,power_w\n"
      "1,1,64,0.10,,210\r\n"
      "\n"
      "# a remark\n"
      "4,2,64,0.15,0.04,190\n");
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_FALSE((*rows)[0].step.exposed_s);
  EXPECT_EQ((*rows)[0].gpu_power_w, 210);
  EXPECT_EQ((*rows)[1].step.load.replicas, 4);
  EXPECT_EQ((*rows)[1].step.load.nodes, 2);
  EXPECT_EQ((*rows)[1].step.exposed_s, 0.04);
  EXPECT_FALSE((*rows)[1].cap_w);
}

TEST(ProfileTable, NamesTheLineAndTheCellThatItCannotRead) {
  const auto message = [](std::string_view csv) { return profile_table(csv).error().message; };
  EXPECT_THAT(message("gpus,local_batch,step_s\n1,64,fast\n"), HasSubstr("line 2 of the profile: step_s is \"fast\""));
  EXPECT_THAT(message("gpus,local_batch,step_s\n1,64\n"), HasSubstr("line 2 of the profile has 2 cells"));
  EXPECT_THAT(message("gpus,local_batch,step_s\n1,64,\n"), HasSubstr("line 2 of the profile lacks step_s"));
  EXPECT_THAT(message("gpus,local_batch\n1,64\n"), HasSubstr("lacks the column step_s"));
  EXPECT_THAT(message("gpu,local_batch,step_s\n"), HasSubstr("\"gpus\" was meant?"));
  EXPECT_THAT(message(""), HasSubstr("holds no row"));
}

TEST(FitProfile, MakesThroughputCapAndPowerOfATable) {
  const auto rows = profile_table(
      "gpus,nodes,local_batch,step_s,sync_s,cap_w,power_w,node_power_w\n"
      "1,1,64,0.100,0,400,300,700\n"
      "2,1,64,0.110,0.010,400,290,1000\n"
      "4,1,64,0.115,0.015,400,285,1550\n"
      "4,1,64,0.125,0.015,240,238,1350\n"
      "4,1,64,0.160,0.015,180,179,1100\n");
  ASSERT_TRUE(rows);
  const auto job = fit_profile(*rows);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->throughput.most_replicas, 4);
  EXPECT_NEAR(step_time(job->throughput, {4, 1, 64, 1}).step_s, 0.115, 0.01);
  ASSERT_TRUE(job->cap);
  EXPECT_EQ(job->cap->lowest_w, 180);
  ASSERT_TRUE(job->energy);
  EXPECT_TRUE(job->energy->knows_base);
  EXPECT_NEAR(node_power(*job->energy).base_w, 400, 60);
}

/// Two ranks, steps of 0.2 s with 32 samples each, a GPU each at 250 W.
ScriptedRun measured_run(bool with_samples = true) {
  ScriptedRun out(60);
  for (int gpu = 0; gpu < 2; ++gpu)
    out.every(out.add(DeviceKind::gpu, gpu), record::metric(DeviceKind::gpu, "power_avg"), 0, 60, 0.5,
              [](double) { return 250; });
  for (int rank = 0; rank < 2; ++rank)
    for (int step = 0; step < 300; ++step) {
      auto& mark = out.mark(record::MarkKind::step, rank, step, 0.2 * step, 0.2 * step + 0.2);
      if (with_samples) mark.samples = 32;
      mark.phase_ns[static_cast<std::size_t>(record::Phase::comm_exposed)] = 30'000'000;
    }
  out.fact("job.world_size", 2.0);
  out.fact("job.accumulation_steps", 2.0);
  return out;
}

TEST(ProfileRow, TakesTheSteadyStepsOfARun) {
  const auto row = profile_row(measured_run().run);
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_NEAR(row->step.step_s, 0.2, 1e-6);
  EXPECT_EQ(row->step.load.replicas, 2);
  EXPECT_EQ(row->step.load.nodes, 1);
  EXPECT_EQ(row->step.load.local_batch, 16);
  EXPECT_EQ(row->step.load.accumulation, 2);
  ASSERT_TRUE(row->step.exposed_s);
  EXPECT_NEAR(*row->step.exposed_s, 0.03, 1e-6);
  ASSERT_TRUE(row->gpu_power_w);
  EXPECT_NEAR(*row->gpu_power_w, 250, 1);
  EXPECT_FALSE(row->node_power_w);
}

TEST(ProfileRow, SaysWhatARunLacks) {
  const auto without = profile_row(ScriptedRun(10).run);
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().message, HasSubstr("holds no steps"));
  const auto silent = profile_row(measured_run(false).run);
  ASSERT_FALSE(silent);
  EXPECT_THAT(silent.error().message, HasSubstr("batch is unknown"));
}

}  // namespace
}  // namespace gradwatt::planning

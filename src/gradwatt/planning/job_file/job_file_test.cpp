#include "gradwatt/planning/job_file/job_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gradwatt::planning {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

JobFile job() {
  return {.plan_id = "3f2a91",
          .name = "resnet50",
          .total_gpus = 16,
          .node = {.gpus = 4, .cores = 76},
          .predicted_p95 = 3h,
          .command = {"python", "train.py"}};
}

std::string script_of(const JobFile& file) {
  const auto script = slurm_script(file);
  return script ? *script : "refused: " + script.error().message;
}

std::string refusal_of(const JobFile& file) {
  const auto script = slurm_script(file);
  return script ? "not refused" : script.error().message;
}

TEST(JobFile, HoldsThePlanInDirectivesAndRunsTheCommandUnderGradwatt) {
  auto file = job();
  file.partition = "accelerated";
  file.power = GpuClock{"medium"};
  file.settings = {.local_batch = 256, .workers = 8};
  file.environment = {{"OMP_NUM_THREADS", "8"}, {"DATA", "/scratch/my data"}};
  file.setup = {"module load cuda"};
  file.notes = {"Predicted: 2 h 40 min (2 h 25 min – 3 h 00 min), 21 kWh (18–25)."};
  file.command = {"python", "train.py", "--batch-size={local_batch}", "--workers", "{workers}"};
  EXPECT_EQ(
      script_of(file),
      "#!/bin/bash\n"
      "#SBATCH --job-name=resnet50\n"
      "#SBATCH --partition=accelerated\n"
      "#SBATCH --nodes=4\n"
      "#SBATCH --ntasks-per-node=4\n"
      "#SBATCH --gpus-per-node=4\n"
      "#SBATCH --cpus-per-task=19\n"
      "#SBATCH --exclusive\n"
      "#SBATCH --mem=0\n"
      "#SBATCH --time=03:18:00\n"
      "#SBATCH --signal=TERM@120\n"
      "#SBATCH --gpu-freq=medium\n"
      "#SBATCH --acctg-freq=energy=30\n"
      "#SBATCH --comment=gradwatt-plan:3f2a91\n"
      "\n"
      "# Written by gradwatt plan 3f2a91. Time limit: predicted p95 3 h 00 min and margin.\n"
      "# Predicted: 2 h 40 min (2 h 25 min – 3 h 00 min), 21 kWh (18–25).\n"
      "\n"
      "module load cuda\n"
      "export GW_LOCAL_BATCH=256\n"
      "export GW_LOADER_WORKERS=8\n"
      "export OMP_NUM_THREADS=8\n"
      "export DATA='/scratch/my data'\n"
      "srun --cpus-per-task=19 --kill-on-bad-exit=1 gradwatt run -- python train.py --batch-size=256 --workers 8\n");
}

TEST(JobFile, NodesFollowFromGpusAndTheShapeOfANode) {
  auto file = job();
  file.total_gpus = 3;
  const auto few = shape_of(file);
  ASSERT_TRUE(few);
  EXPECT_EQ(few->nodes, 1);
  EXPECT_EQ(few->gpus_per_node, 3);
  file.total_gpus = 256;
  EXPECT_EQ(shape_of(file)->nodes, 64);
}

TEST(JobFile, GpusThatDoNotFillNodesAreRefusedWithTheNearestThatDo) {
  auto file = job();
  file.total_gpus = 10;
  EXPECT_EQ(refusal_of(file), "10 GPUs do not fill nodes of 4; take 8 or 12");
  file.total_gpus = 64;
  file.node.most_nodes = 8;
  EXPECT_THAT(refusal_of(file), HasSubstr("need 16 nodes of 4, and a job may have 8; take at most 32 GPUs"));
}

TEST(JobFile, ALauncherGetsOneTaskANodeWithAllItsCores) {
  auto file = job();
  file.rank_start = RankStart::per_node;
  file.command = {"torchrun", "--nproc-per-node=4", "train.py"};
  const auto shape = shape_of(file);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->tasks_per_node, 1);
  EXPECT_EQ(shape->cpus_per_task, 76);
}

TEST(JobFile, TheTimeLimitIsThePredictionAndAMarginInWholeMinutes) {
  auto file = job();
  file.predicted_p95 = 30s;
  EXPECT_EQ(shape_of(file)->time, 11min);  // ten minutes at least
  file.predicted_p95 = 30h;
  EXPECT_EQ(shape_of(file)->time, 33h);
  EXPECT_THAT(script_of(file), HasSubstr("#SBATCH --time=1-09:00:00\n"));
  file.node.longest_job = 24h;
  EXPECT_THAT(refusal_of(file), HasSubstr("take more GPUs, or split it at checkpoints"));
}

TEST(JobFile, TheSignalLeavesTimeToWriteACheckpointAndToRestoreCaps) {
  auto file = job();
  file.checkpoint = 10s;
  file.restore = 30s;
  EXPECT_THAT(script_of(file), HasSubstr("#SBATCH --signal=TERM@150\n"));
  file.checkpoint = 20h;
  EXPECT_THAT(refusal_of(file), HasSubstr("at most 65535 s before the end"));
}

TEST(JobFile, TheCapIsTheSitesOwnOptionWithinWhatTheGpuAllows) {
  auto file = job();
  file.node.power_cap_min_w = 100;
  file.node.power_cap_max_w = 400;
  file.power = SiteCap{"--gpu-power", 250};
  EXPECT_THAT(script_of(file), HasSubstr("#SBATCH --gpu-power=250\n"));
  EXPECT_THAT(script_of(file), Not(HasSubstr("gpu-freq")));
  file.power = SiteCap{"--gpu-power", 450};
  EXPECT_EQ(refusal_of(file), "a cap of 450 W lies outside 100–400 W, which this GPU allows");
  file.power = SiteCap{"gpu power", 250};
  EXPECT_THAT(refusal_of(file), HasSubstr("is no option for a power cap"));
}

TEST(JobFile, AClockIsAWordThatSlurmKnowsOrMegahertz) {
  auto file = job();
  file.power = GpuClock{"1200"};
  EXPECT_THAT(script_of(file), HasSubstr("#SBATCH --gpu-freq=1200\n"));
  for (const auto* wrong : {"", "fast", "1.2GHz", "-1", "medium --uid=0"}) {
    file.power = GpuClock{wrong};
    EXPECT_THAT(refusal_of(file), HasSubstr("is no clock that Slurm knows")) << wrong;
  }
}

TEST(JobFile, MoreWorkersThanCoresAreRefused) {
  auto file = job();
  file.settings.workers = 18;
  EXPECT_THAT(script_of(file), HasSubstr("GW_LOADER_WORKERS=18"));
  file.settings.workers = 19;
  EXPECT_THAT(refusal_of(file), HasSubstr("a GPU has 19 of the node's 76; at most 18 workers"));
}

TEST(JobFile, ASharedNodeIsAskedForItsMemoryAndSaysWhoseEnergySlurmCounts) {
  auto file = job();
  file.total_gpus = 1;
  file.exclusive = false;
  file.memory_gb = 60;
  const auto script = script_of(file);
  EXPECT_THAT(script, HasSubstr("#SBATCH --mem=60G\n"));
  EXPECT_THAT(script, Not(HasSubstr("--exclusive")));
  EXPECT_THAT(script, HasSubstr("ConsumedEnergy is of all jobs there"));
}

TEST(JobFile, IdleGpusOfAnExclusiveNodeAreSpokenOf) {
  auto file = job();
  file.total_gpus = 1;
  EXPECT_THAT(script_of(file), HasSubstr("holds all 4 GPUs of its node: 3 of them idle"));
}

TEST(JobFile, WordsOfTheCommandReachItAsTheyAre) {
  auto file = job();
  file.command = {"python", "a b.py", "$HOME", "it's", ""};
  EXPECT_THAT(script_of(file), HasSubstr("-- python 'a b.py' '$HOME' 'it'\\''s' ''\n"));
}

TEST(JobFile, TextThatWouldBecomeAnotherDirectiveIsRefused) {
  auto file = job();
  file.name = "a\n#SBATCH --uid=0";
  EXPECT_THAT(refusal_of(file), HasSubstr("job name"));
  file = job();
  file.partition = "gpu --wrap=x";
  EXPECT_THAT(refusal_of(file), HasSubstr("partition"));
  file = job();
  file.notes = {"first\nrm -rf x"};
  EXPECT_THAT(script_of(file), HasSubstr("\n# first\n# rm -rf x\n"));
  file = job();
  file.environment = {{"A B", "1"}};
  EXPECT_THAT(refusal_of(file), HasSubstr("no name of an environment variable"));
}

TEST(JobFile, APlaceholderWithoutAValueIsRefused) {
  auto file = job();
  file.command = {"train", "{seed}"};
  EXPECT_EQ(refusal_of(file), "the command asks for {seed}, which the plan does not set");
}

TEST(JobFile, WhatIsNoJobIsRefused) {
  auto file = job();
  file.total_gpus = 0;
  EXPECT_THAT(refusal_of(file), HasSubstr("ask for one or more"));
  file = job();
  file.node = {};
  EXPECT_THAT(refusal_of(file), HasSubstr("state what one node has"));
  file = job();
  file.predicted_p95 = 0s;
  EXPECT_THAT(refusal_of(file), HasSubstr("is not predicted"));
  file = job();
  file.command = {};
  EXPECT_THAT(refusal_of(file), HasSubstr("needs the command"));
  file = job();
  file.node.cores = 2;
  EXPECT_THAT(refusal_of(file), HasSubstr("2 cores do not give each of 4 GPUs one"));
}

}  // namespace
}  // namespace gradwatt::planning

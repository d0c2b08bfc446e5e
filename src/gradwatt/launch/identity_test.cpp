#include "gradwatt/launch/identity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace gradwatt::launch {
namespace {

using ::testing::Contains;
using ::testing::MatchesRegex;
using ::testing::Pair;

class IdentityTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(root_ / "proc/500");
    std::filesystem::create_directories(root_ / "proc/sys/kernel");
    std::ofstream(root_ / "proc/sys/kernel/hostname") << "node7\n";
    std::ofstream(root_ / "proc/500/stat") << "500 (launcher) S 1 5 5 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 1 0\n";
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  [[nodiscard]] Identity of(const Environment& environment) const { return identify(environment, files_, 500); }
  std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("gradwatt-identity-" + std::to_string(::getpid()));
  core::FileTree files_{root_};
};

const Environment kSlurm{"SLURM_JOB_ID=123",
                         "SLURM_STEP_ID=0",
                         "SLURM_PROCID=5",
                         "SLURM_LOCALID=1",
                         "SLURM_NTASKS=7",
                         "SLURM_NODEID=3",
                         "SLURM_STEP_TASKS_PER_NODE=2(x3),1",
                         "SLURM_JOB_NODELIST=n[1-4]"};

TEST_F(IdentityTest, NobodyLaunchedIt) {
  const auto identity = of({"HOME=/x", "PATH=/bin"});
  EXPECT_EQ(identity.launcher, "");
  EXPECT_EQ(identity.shared_run_id, std::nullopt);
  EXPECT_EQ(identity.rank, std::nullopt);
}

TEST_F(IdentityTest, ASlurmStepIsOneRunOfAllItsTasks) {
  const auto identity = of(kSlurm);
  EXPECT_EQ(identity.launcher, "slurm");
  EXPECT_EQ(identity.shared_run_id, "slurm-123.0");
  EXPECT_EQ(identity.rank, 5);
  EXPECT_EQ(identity.local_rank, 1);
  EXPECT_EQ(identity.world_size, 7);
  EXPECT_EQ(identity.local_world_size, 1);
  EXPECT_THAT(identity.details, Contains(Pair("slurm_node_list", "n[1-4]")));
}

TEST_F(IdentityTest, ABatchScriptWithoutAStepMayStartManyRuns) {
  const auto identity = of({"SLURM_JOB_ID=123", "SLURM_NTASKS=8", "SLURM_PROCID=0"});
  EXPECT_EQ(identity.shared_run_id, std::nullopt);
  EXPECT_THAT(identity.details, Contains(Pair("slurm_job_id", "123")));
}

TEST_F(IdentityTest, AStepOfOneTaskMayStartManyRunsToo) {
  const auto identity = of({"SLURM_JOB_ID=123", "SLURM_STEP_ID=0", "SLURM_NTASKS=1", "SLURM_PROCID=0"});
  EXPECT_EQ(identity.launcher, "slurm");
  EXPECT_EQ(identity.shared_run_id, std::nullopt);
}

TEST_F(IdentityTest, MpirunInsideSlurmCountsByItsNamespaceAsStepsDifferBetweenNodes) {
  auto environment = kSlurm;
  environment.insert(environment.end(),
                     {"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_LOCAL_RANK=0", "OMPI_COMM_WORLD_SIZE=4",
                      "OMPI_COMM_WORLD_LOCAL_SIZE=2", "PMIX_NAMESPACE=prterun-node7-41@1"});
  const auto identity = of(environment);
  EXPECT_EQ(identity.launcher, "openmpi");
  EXPECT_EQ(identity.shared_run_id, "pmix-prterun-node7-41-1");
  EXPECT_EQ(identity.rank, 2);
  EXPECT_EQ(identity.local_world_size, 2);
}

TEST_F(IdentityTest, AnOldOpenMpiIsKnownByItsJobNumber) {
  const auto identity = of({"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2", "OMPI_MCA_ess_base_jobid=3478192129"});
  EXPECT_EQ(identity.shared_run_id, "pmix-3478192129");
}

TEST_F(IdentityTest, TorchrunIsKnownByItsRendezvousId) {
  const auto identity =
      of({"TORCHELASTIC_RUN_ID=5a1c", "RANK=3", "LOCAL_RANK=1", "WORLD_SIZE=4", "LOCAL_WORLD_SIZE=2"});
  EXPECT_EQ(identity.launcher, "torchrun");
  EXPECT_EQ(identity.shared_run_id, "torchrun-5a1c");
  EXPECT_EQ(identity.rank, 3);
  EXPECT_EQ(identity.local_world_size, 2);
}

TEST_F(IdentityTest, TorchrunWithoutAnIdTakesThatOfTheSlurmStepAroundIt) {
  auto environment = kSlurm;
  environment.insert(environment.end(), {"TORCHELASTIC_RUN_ID=none", "RANK=3", "WORLD_SIZE=4"});
  const auto identity = of(environment);
  EXPECT_EQ(identity.launcher, "torchrun");
  EXPECT_EQ(identity.shared_run_id, "slurm-123.0");
}

TEST_F(IdentityTest, TasksWithoutAnIdShareThatOfTheProcessThatStartedThem) {
  EXPECT_EQ(of({"TORCHELASTIC_RUN_ID=none", "RANK=1", "WORLD_SIZE=2"}).shared_run_id, "torchrun-node7-500-987654");
  EXPECT_EQ(of({"PMI_RANK=1", "PMI_SIZE=2"}).shared_run_id, "mpich-node7-500-987654");
}

TEST_F(IdentityTest, TheUsersOwnIdWins) {
  EXPECT_EQ(of({"GRADWATT_RUN_ID=my run/7"}).shared_run_id, "my-run-7");
  auto environment = kSlurm;
  environment.emplace_back("GRADWATT_RUN_ID=night");
  EXPECT_EQ(of(environment).shared_run_id, "night");
  EXPECT_EQ(of(environment).launcher, "slurm");
}

TEST_F(IdentityTest, NumbersThatAreNoneAreMissingNotZero) {
  const auto identity = of({"PMI_RANK=x", "PMI_SIZE=-3"});
  EXPECT_EQ(identity.rank, std::nullopt);
  EXPECT_EQ(identity.world_size, std::nullopt);
}

TEST(RunId, SortsByTimeAndIsAFileName) {
  const core::WallTime when = std::chrono::sys_days(std::chrono::year(2026) / 11 / 30) + std::chrono::hours(13) +
                              std::chrono::minutes(45) + std::chrono::milliseconds(1999);
  EXPECT_EQ(new_run_id(when, 0), "20261130-134501-0000");
  EXPECT_THAT(new_run_id(when, 4'000'000'000U), MatchesRegex("20261130-134501-[0-9a-z]{4}"));
  EXPECT_NE(new_run_id(when, 1), new_run_id(when, 2));
  EXPECT_EQ(run_id_of({.shared_run_id = "slurm-1.0"}, when, 1), "slurm-1.0");
  EXPECT_EQ(run_id_of({}, when, 0), "20261130-134501-0000");
}

TEST(RunId, SanitizedIdsAreSafeFileNames) {
  EXPECT_EQ(sanitized_id("a/b c@1"), "a-b-c-1");
  EXPECT_EQ(sanitized_id(".."), "run..");
  EXPECT_EQ(sanitized_id(""), "run");
  EXPECT_EQ(sanitized_id("-x"), "run-x");
  const std::string lengthy(300, 'x');
  EXPECT_EQ(sanitized_id(lengthy).size(), 64U);
  EXPECT_NE(sanitized_id(lengthy), sanitized_id(lengthy + "y"));
}

}  // namespace
}  // namespace gradwatt::launch

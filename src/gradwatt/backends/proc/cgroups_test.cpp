#include "gradwatt/backends/proc/cgroups.hpp"

#include <gtest/gtest.h>

#include "tests/doubles/made_tree.hpp"

namespace gradwatt::proc {
namespace {

constexpr const char* kV1Mounts =
    "30 25 0:27 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
    "31 25 0:28 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct\n"
    "32 25 0:29 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
    "33 25 0:30 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";
constexpr const char* kV2Mount = "40 25 0:35 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw\n";
constexpr const char* kHybridMount = "41 25 0:36 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

TEST(CgroupsV2, TakesTheTightestQuotaAndLimitOnTheWayUp) {
  doubles::MadeTree made;
  made.file("proc/self/mountinfo", kV2Mount)
      .file("proc/7/cgroup", "0::/slurm/job_5/step_0")
      .file("sys/fs/cgroup/slurm/cpu.max", "max 100000")
      .file("sys/fs/cgroup/slurm/job_5/cpu.max", "400000 100000")
      .file("sys/fs/cgroup/slurm/job_5/step_0/cpu.max", "800000 100000")
      .file("sys/fs/cgroup/slurm/job_5/memory.max", "1073741824")
      .file("sys/fs/cgroup/slurm/job_5/step_0/memory.max", "max")
      .file("sys/fs/cgroup/slurm/job_5/step_0/cpuset.cpus.effective", "0-3,8")
      .file("sys/fs/cgroup/slurm/job_5/step_0/cpu.stat",
            "usage_usec 123456\nuser_usec 1\nnr_throttled 3\nthrottled_usec 777")
      .file("sys/fs/cgroup/slurm/job_5/step_0/cgroup.procs", "7\n8");
  auto groups = Cgroups::of(made.tree(), 7);
  EXPECT_EQ(groups.version(), "v2");
  EXPECT_EQ(groups.cpu_path(), "/slurm/job_5/step_0");
  EXPECT_EQ(groups.cpu_quota(), 4.0);
  EXPECT_EQ(groups.memory_limit_bytes(), 1073741824);
  EXPECT_EQ(groups.cpuset(), (std::vector{0, 1, 2, 3, 8}));
  EXPECT_EQ(groups.cpu_usage_us(), 123456);
  EXPECT_EQ(groups.throttled_us(), 777);
  EXPECT_EQ(groups.members(), (std::vector<pid_t>{7, 8}));
  EXPECT_FALSE(groups.has_children());
  made.file("sys/fs/cgroup/slurm/job_5/step_0/task_1/cgroup.procs", "");
  EXPECT_TRUE(groups.has_children());
}

TEST(CgroupsV1, ReadsItsOwnNamesAndUnits) {
  doubles::MadeTree made;
  made.file("proc/self/mountinfo", kV1Mounts)
      .file("proc/7/cgroup", "5:memory:/a\n4:cpuset:/a\n3:cpuacct:/a\n2:cpu:/a\n1:name=systemd:/x")
      .file("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "150000")
      .file("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000")
      .file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1")
      .file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000")
      .file("sys/fs/cgroup/cpu/a/cpu.stat", "nr_periods 9\nnr_throttled 3\nthrottled_time 5000000")
      .file("sys/fs/cgroup/cpuacct/a/cpuacct.usage", "7000000")
      .file("sys/fs/cgroup/cpuset/a/cpuset.cpus", "1-2")
      .file("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "2147483648")
      .file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  auto groups = Cgroups::of(made.tree(), 7);
  EXPECT_EQ(groups.version(), "v1");
  EXPECT_EQ(groups.cpu_quota(), 1.5);
  EXPECT_EQ(groups.throttled_us(), 5000);
  EXPECT_EQ(groups.cpu_usage_us(), 7000);
  EXPECT_EQ(groups.cpuset(), (std::vector{1, 2}));
  EXPECT_EQ(groups.memory_limit_bytes(), 2147483648);
}

TEST(CgroupsHybrid, LooksForControllersWhereTheyReallyAre) {
  doubles::MadeTree made;
  made.file("proc/self/mountinfo", std::string(kV1Mounts) + kHybridMount)
      .file("proc/7/cgroup", "3:cpuacct:/b\n2:cpu:/b\n0::/user.slice")
      .file("sys/fs/cgroup/cpuacct/b/cpuacct.usage", "9000")
      .file("sys/fs/cgroup/unified/user.slice/cpu.stat", "usage_usec 1");
  auto groups = Cgroups::of(made.tree(), 7);
  EXPECT_EQ(groups.version(), "hybrid");
  EXPECT_EQ(groups.cpu_path(), "/b");
  EXPECT_EQ(groups.cpu_usage_us(), 9);
  EXPECT_FALSE(groups.cpu_quota());
}

TEST(CgroupsInAContainer, ThePathIsTakenBelowTheRootOfTheMount) {
  doubles::MadeTree made;
  made.file("proc/self/mountinfo", "40 25 0:35 /docker/abc /sys/fs/cgroup ro,relatime - cgroup2 cgroup rw,nsdelegate\n")
      .file("proc/7/cgroup", "0::/docker/abc")
      .file("sys/fs/cgroup/cpu.max", "200000 100000");
  EXPECT_EQ(Cgroups::of(made.tree(), 7).cpu_quota(), 2.0);
}

TEST(CgroupsOfNobody, AnswerNothingToEveryQuestion) {
  doubles::MadeTree made;
  auto groups = Cgroups::of(made.tree(), 7);
  EXPECT_EQ(groups.version(), "none");
  EXPECT_FALSE(groups.cpu_path());
  EXPECT_FALSE(groups.cpu_quota());
  EXPECT_FALSE(groups.cpuset());
  EXPECT_FALSE(groups.memory_limit_bytes());
  EXPECT_FALSE(groups.cpu_usage_us());
  EXPECT_FALSE(groups.throttled_us());
  EXPECT_TRUE(groups.members().empty());
}

TEST(CgroupsOfGarbage, DoNotBreak) {
  doubles::MadeTree made;
  made.file("proc/self/mountinfo", "what\n1 2 3 4 5 - cgroup2\n" + std::string(kV2Mount))
      .file("proc/7/cgroup", "nonsense\n0::/a\n::")
      .file("sys/fs/cgroup/a/cpu.max", "100000")
      .file("sys/fs/cgroup/a/cpu.stat", "usage_usec many\nthrottled_usec")
      .file("sys/fs/cgroup/a/cpuset.cpus.effective", "x-y")
      .file("sys/fs/cgroup/a/memory.max", "-");
  auto groups = Cgroups::of(made.tree(), 7);
  EXPECT_EQ(groups.version(), "v2");
  EXPECT_FALSE(groups.cpu_quota());
  EXPECT_FALSE(groups.cpu_usage_us());
  EXPECT_FALSE(groups.cpuset());
  EXPECT_FALSE(groups.memory_limit_bytes());
}

}  // namespace
}  // namespace gradwatt::proc

#include "gradwatt/diagnosis/lint/lint.hpp"

#include <gmock/gmock.h>

#include <set>

#include "gradwatt/diagnosis/lint/lint_rules.hpp"

namespace gradwatt::diagnosis {
namespace {

record::Fact number(std::string name, double value, std::string subject = "job") {
  return {.name = std::move(name), .subject = std::move(subject), .value = value};
}
record::Fact text(std::string name, std::string value, std::string subject = "job") {
  return {.name = std::move(name), .subject = std::move(subject), .value = std::move(value)};
}
record::Fact variable(std::string name, std::string value) {
  return text("env.value", std::move(value), std::move(name));
}

enum class Expect { fine, note, warning, wrong };

struct VariableCase {
  std::string name, value;
  Expect expect;
  std::vector<record::Fact> beside = {};
};

std::vector<VariableCase> variable_cases() {
  const std::vector one_host{number("job.nodes", 1)}, two_hosts{number("job.nodes", 2)};
  return {
      {"NCCL_ALGO", "Tree", Expect::wrong},
      {"NCCL_ALGO", "allreduce:tree;broadcast:ring", Expect::warning},
      {"NCCL_PROTO", "Simple", Expect::warning},
      {"NCCL_PROTO", "LL128", Expect::wrong},
      {"NCCL_PROTO", "^LL128", Expect::warning},
      {"NCCL_BUFFSIZE", "4194304", Expect::note},
      {"NCCL_BUFFSIZE", "8388608", Expect::warning},
      {"NCCL_BUFFSIZE", "4M", Expect::wrong},
      {"NCCL_IB_DISABLE", "1", Expect::warning},
      {"NCCL_IB_DISABLE", "1", Expect::wrong, {number("comm.rdma_ports_active", 8, "host")}},
      {"NCCL_IB_DISABLE", "0", Expect::fine},
      {"NCCL_P2P_DISABLE", "1", Expect::warning},
      {"NCCL_P2P_DISABLE", "0", Expect::fine},
      {"NCCL_SHM_DISABLE", "1", Expect::warning},
      {"NCCL_SOCKET_NTHREADS", "4", Expect::fine, two_hosts},
      {"NCCL_SOCKET_NTHREADS", "4", Expect::note, one_host},
      {"NCCL_SOCKET_NTHREADS", "32", Expect::wrong},
      {"NCCL_SOCKET_NTHREADS", "2.5", Expect::wrong},
      {"NCCL_SOCKET_NTHREADS", "0.5", Expect::wrong},
      {"NCCL_SOCKET_NTHREADS", "010", Expect::wrong},
      {"NCCL_SOCKET_NTHREADS", "16", Expect::wrong, {variable("NCCL_NSOCKS_PERTHREAD", "8")}},
      {"NCCL_SOCKET_NTHREADS", "8", Expect::fine, {variable("NCCL_NSOCKS_PERTHREAD", "8"), number("job.nodes", 2)}},
      {"NCCL_NSOCKS_PERTHREAD", "4", Expect::warning},
      {"NCCL_SOCKET_IFNAME", "docker0", Expect::wrong},
      {"NCCL_SOCKET_IFNAME", "eth1", Expect::note},
      {"NCCL_SOCKET_IFNAME", "=eth1", Expect::fine},
      {"NCCL_SOCKET_IFNAME", "^lo,docker", Expect::fine},
      {"NCCL_IB_HCA", "mlx5_1", Expect::note},
      {"NCCL_IB_HCA", "=mlx5_1", Expect::fine},
      {"NCCL_DEBUG", "INFO", Expect::note},
      {"NCCL_DEBUG", "WARN", Expect::fine},
      {"NCCL_DEBUG", "VERBOSE", Expect::wrong},
      {"NCCL_NET_GDR_LEVEL", "LOC", Expect::warning},
      {"NCCL_NET_GDR_LEVEL", "SYS", Expect::fine},
      {"NCCL_NTHREADS", "100", Expect::wrong},
      {"NCCL_MAX_NCHANNELS", "2", Expect::warning},
      {"NCCL_IB_QPS_PER_CONNECTION", "4", Expect::fine},
      {"NCCL_IB_QPS_PER_CONNECTION", "four", Expect::wrong},
      {"NCCL_IB_RETRY_CNT", "9", Expect::wrong},
      {"NCCL_IB_GID_INDEX", "3", Expect::fine},
      {"NCCL_CROSS_NIC", "2", Expect::fine},
      {"NCCL_NVLS_ENABLE", "0", Expect::note},
      {"CUDA_LAUNCH_BLOCKING", "1", Expect::wrong},
      {"CUDA_LAUNCH_BLOCKING", "0", Expect::fine},
      {"TORCH_DISTRIBUTED_DEBUG", "DETAIL", Expect::wrong},
      {"TORCH_DISTRIBUTED_DEBUG", "INFO", Expect::fine},
      {"TORCH_NCCL_BLOCKING_WAIT", "1", Expect::wrong},
      {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "0", Expect::warning},
      {"OMP_NUM_THREADS", "8", Expect::warning, {number("job.world_size", 8), number("host.cpus", 32, "host")}},
      {"OMP_NUM_THREADS", "4", Expect::fine, {number("job.world_size", 8), number("host.cpus", 32, "host")}},
      {"OMP_NUM_THREADS", "many", Expect::wrong},
      {"KMP_AFFINITY", "granularity=fine,compact", Expect::warning},
      {"KMP_AFFINITY", "disabled", Expect::fine},
      {"PYTORCH_NO_CUDA_MEMORY_CACHING", "1", Expect::wrong},
      {"PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", Expect::fine},
      {"PYTORCH_CUDA_ALLOC_CONF", "expandable_segments", Expect::wrong},
      {"NVIDIA_TF32_OVERRIDE", "0", Expect::warning},
      {"CUDA_VISIBLE_DEVICES", "0,1,2,3", Expect::fine},
      {"CUDA_VISIBLE_DEVICES", "0,1,1", Expect::wrong},
      {"TF_ENABLE_GPU_GARBAGE_COLLECTION", "false", Expect::note},
      {"TF_GPU_THREAD_MODE", "gpu_private", Expect::fine},
      {"TF_GPU_THREAD_MODE", "private", Expect::wrong},
      {"TF_XLA_FLAGS", "--tf_xla_auto_jit=2", Expect::fine},
      {"XLA_FLAGS", "--xla_dump_to=/tmp/x", Expect::warning},
  };
}

/// The finding about that variable, if there is one.
const LintFinding* about(const std::vector<LintFinding>& findings, const std::string& setting) {
  for (const auto& finding : findings)
    if (finding.setting.starts_with(setting)) return &finding;
  return nullptr;
}

TEST(Lint, JudgesEachSettingAsItsRowSays) {
  for (const auto& [name, value, expect, beside] : variable_cases()) {
    auto facts = beside;
    facts.push_back(variable(name, value));
    const auto findings = lint(FactSheet(facts));
    const auto* finding = about(findings, name + "=");
    if (expect == Expect::fine) {
      EXPECT_EQ(finding, nullptr) << name << "=" << value << ": " << (finding != nullptr ? finding->reason : "");
      continue;
    }
    ASSERT_NE(finding, nullptr) << name << "=" << value;
    EXPECT_EQ(static_cast<int>(finding->severity) + 1, static_cast<int>(expect)) << name << "=" << value;
    EXPECT_FALSE(finding->reason.empty());
  }
}

struct NodeCase {
  std::string setting;
  Expect expect;
  std::vector<record::Fact> facts;
};

std::vector<NodeCase> node_cases() {
  return {
      {"process-group time-out", Expect::wrong, {number("job.process_group_timeout_s", 30)}},
      {"process-group time-out", Expect::warning, {number("job.process_group_timeout_s", 120)}},
      {"process-group time-out", Expect::fine, {number("job.process_group_timeout_s", 600)}},
      {"num_workers",
       Expect::warning,
       {number("loader.workers", 32), number("job.world_size", 8), number("host.cpus", 64, "host")}},
      {"num_workers",
       Expect::fine,
       {number("loader.workers", 4), number("job.world_size", 8), number("host.cpus", 64, "host")}},
      {"OMP_NUM_THREADS is",
       Expect::warning,
       {number("env.nccl_count", 0), number("job.world_size", 8), number("host.cpus", 64, "host")}},
      {"OMP_NUM_THREADS is", Expect::fine, {number("job.world_size", 8), number("host.cpus", 64, "host")}},
      {"/dev/shm", Expect::wrong, {number("host.shm_bytes", 64.0 * 1048576, "host")}},
      {"/dev/shm", Expect::fine, {number("host.shm_bytes", 16.0 * 1073741824, "host")}},
      {"memlock",
       Expect::wrong,
       {number("host.memlock_bytes", 65536, "host"), number("comm.rdma_ports_active", 1, "host")}},
      {"memlock", Expect::fine, {number("host.memlock_bytes", 65536, "host")}},
      {"power limit of GPU 3",
       Expect::note,
       {number("gpu.power_limit_w", 250, "GPU 3"), number("gpu.power_limit_default_w", 400, "GPU 3")}},
      {"power limit",
       Expect::fine,
       {number("gpu.power_limit_w", 500, "GPU 3"), number("gpu.power_limit_default_w", 400, "GPU 3")}},
      {"PCIe lanes of GPU 1",
       Expect::warning,
       {number("gpu.pcie_width", 4, "GPU 1"), number("gpu.pcie_width_max", 16, "GPU 1")}},
      {"persistence mode", Expect::note, {text("gpu.persistence_mode", "off", "GPU 0")}},
      {"driver 470.82.01",
       Expect::wrong,
       {text("gpu.driver_version", "470.82.01", "GPU 0"), text("job.cuda_version", "12.4")}},
      {"driver", Expect::fine, {text("gpu.driver_version", "550.54", "GPU 0"), text("job.cuda_version", "12.4")}},
      {"unlike NCCL versions",
       Expect::wrong,
       {text("comm.nccl_version", "2.21.5", "rank 0"), text("comm.nccl_version", "2.19.3", "rank 1")}},
      {"CPU frequency governor", Expect::note, {text("host.governor", "powersave", "host")}},
      {"CPU frequency governor", Expect::fine, {text("host.governor", "performance", "host")}},
      {"training data on nfs", Expect::note, {text("host.data_storage", "nfs", "host")}},
      {"pin_memory", Expect::note, {number("gpu.count", 8), number("loader.pin_memory", 0, "process")}},
      {"pin_memory", Expect::fine, {number("loader.pin_memory", 0, "process")}},
  };
}

TEST(Lint, JudgesNodeAndJobAsTheRowSays) {
  for (const auto& [setting, expect, facts] : node_cases()) {
    const auto findings = lint(FactSheet(facts));
    const auto* finding = about(findings, setting);
    if (expect == Expect::fine) {
      EXPECT_EQ(finding, nullptr) << setting;
      continue;
    }
    ASSERT_NE(finding, nullptr) << setting;
    EXPECT_EQ(static_cast<int>(finding->severity) + 1, static_cast<int>(expect)) << setting;
  }
}

TEST(Lint, CoversAtLeastFortySettingsRightAndWrong) { EXPECT_GE(variable_cases().size() + node_cases().size(), 80); }

TEST(Lint, OfNothingSaysNothing) { EXPECT_TRUE(lint(FactSheet()).empty()); }

TEST(Lint, PutsTheWorstFirst) {
  const auto findings = lint(FactSheet({variable("NCCL_DEBUG", "INFO"), variable("NCCL_ALGO", "Tree")}));
  ASSERT_EQ(findings.size(), 2);
  EXPECT_EQ(findings.front().setting, "NCCL_ALGO=Tree");
}

TEST(Lint, HasOneRowASetting) {
  std::set<std::string_view> seen;
  for (const auto& row : lint_rows()) EXPECT_TRUE(seen.insert(row.setting).second) << row.setting;
}

}  // namespace
}  // namespace gradwatt::diagnosis

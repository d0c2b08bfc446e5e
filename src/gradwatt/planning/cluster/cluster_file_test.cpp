#include "gradwatt/planning/cluster/cluster_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "gradwatt/planning/cluster/node_list.hpp"

namespace gradwatt::planning {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kPlain = R"(nodes = 4
gpus_per_node = 8
gpu = "H100"
gpu_idle_w = 70
gpu_busy_w = 600
gpu_comm_w = 250
cpu = "EPYC 7763"
cpus_per_node = 2
node_link_gbyte_per_s = 450
node_link_us = 2
nics = 4
nic_gbit_per_s = 400
nic_us = 5
base_w = 900
network_w = 200
)";

std::string with(std::string_view more) { return std::string(kPlain) + std::string(more); }
/// The file with one line replaced, or left out where `by` is empty.
std::string without(std::string_view line, std::string_view by = "") {
  std::string text(kPlain);
  text.replace(text.find(line), line.size(), by);
  return text;
}
std::string error_of(std::string_view text) {
  const auto cluster = parse_cluster(text, "c.toml");
  return cluster ? "accepted" : cluster.error().message;
}

TEST(ClusterFile, UnitsOfTheFileBecomeOurs) {
  const auto cluster = parse_cluster(kPlain, "c.toml");
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->node_count(), 4);
  EXPECT_EQ(cluster->shape().ranks(), 32);
  const auto& node = cluster->node(3);
  EXPECT_DOUBLE_EQ(node.link.bytes_per_s, 450e9);
  EXPECT_DOUBLE_EQ(node.link.latency_s, 2e-6);
  EXPECT_DOUBLE_EQ(node.nic.bytes_per_s, 50e9);
  EXPECT_DOUBLE_EQ(node.network_bytes_per_s(), 200e9);
  EXPECT_DOUBLE_EQ(cluster->rail().bytes_per_s, 25e9) << "eight GPUs share four cards";
  EXPECT_DOUBLE_EQ(node.gpu_w.comm_w, 250);
  EXPECT_EQ(node.base_w, 900);
  EXPECT_EQ(cluster->network.topology, Topology::star);
}

TEST(ClusterFile, ACpuByNameGetsAnEstimateAndCpuWattsReplaceIt) {
  const auto named = parse_cluster(kPlain, "c.toml");
  ASSERT_TRUE(named);
  EXPECT_TRUE(named->node(0).cpu_w_from_catalog);
  EXPECT_GT(*named->node(0).cpu_w, 0.12 * 280);
  EXPECT_LT(*named->node(0).cpu_w, 280);
  const auto told = parse_cluster(with("cpu_w = 150\n"), "c.toml");
  ASSERT_TRUE(told);
  EXPECT_EQ(told->node(0).cpu_w, 150);
  EXPECT_FALSE(told->node(0).cpu_w_from_catalog);
  const auto none = parse_cluster(without("cpu = \"EPYC 7763\"\n"), "c.toml");
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->node(0).cpu_w) << "not said is not known";
}

TEST(ClusterFile, AGpuByNameBringsItsIdlePower) {
  const auto cluster =
      parse_cluster(without("gpu = \"H100\"\ngpu_idle_w = 70\n", "gpu = \"A100 SXM4 40GB\"\n"), "c.toml");
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_TRUE(cluster->node(0).gpu_idle_w_from_catalog);
  EXPECT_GT(cluster->node(0).gpu_w.idle_w, 20);
  EXPECT_LT(cluster->node(0).gpu_w.idle_w, 100);
}

TEST(ClusterFile, GroupsChangeSomeNodesAndKeepTheRest) {
  const auto cluster =
      parse_cluster(with("[[group]]\nnodes = \"0,2-3\"\nspeed = 0.5\ngpu_power_cap_w = 400\n"), "c.toml");
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_DOUBLE_EQ(cluster->node(0).speed, 0.5);
  EXPECT_DOUBLE_EQ(cluster->node(3).gpu_w.busy_w, 400);
  EXPECT_DOUBLE_EQ(cluster->node(3).gpu_w.comm_w, 250) << "below the cap";
  EXPECT_DOUBLE_EQ(cluster->node(1).speed, 1);
  EXPECT_DOUBLE_EQ(cluster->node(1).gpu_w.busy_w, 600);
  EXPECT_EQ(cluster->node(2).nics, 4);
}

TEST(ClusterFile, TopologiesHaveTheirOwnKeys) {
  const auto tree = parse_cluster(
      with("[network]\ntopology = \"fat-tree\"\nnodes_per_switch = 2\noversubscription = 1.5\nuplink_us = 1\n"),
      "c.toml");
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(tree->network.nodes_per_bundle(), 2);
  EXPECT_DOUBLE_EQ(tree->network.uplink_latency_s, 1e-6);
  const auto dragonfly = parse_cluster(
      with("[network]\ntopology = \"dragonfly\"\nnodes_per_switch = 2\nswitches_per_group = 1\n"), "c.toml");
  ASSERT_TRUE(dragonfly) << dragonfly.error().message;
  EXPECT_EQ(dragonfly->network.nodes_per_bundle(), 2);
  EXPECT_THAT(error_of(with("[network]\ntopology = \"fat-tree\"\n")),
              StartsWith("c.toml:16: nodes_per_switch is missing in [network]: a fat-tree needs it"));
  EXPECT_THAT(error_of(with("[network]\noversubscription = 2\n")),
              StartsWith("c.toml:17: oversubscription has no meaning in a star"));
  EXPECT_THAT(error_of(with("[network]\ntopology = \"mesh\"\n")), HasSubstr("one of star, fat-tree, dragonfly"));
  EXPECT_THAT(error_of(with("[network]\nlink_idle_w = 3\n")), HasSubstr("give both or none"));
}

TEST(ClusterFile, EachMistakeIsOneSentenceWithLineAndKey) {
  EXPECT_EQ(error_of(without("nodes = 4", "nodes = -1")),
            "c.toml:1: nodes = -1 makes no sense; it takes a whole number from 1 to 65536");
  EXPECT_EQ(error_of(without("nodes = 4", "nodes = 2.5")),
            "c.toml:1: nodes = 2.5 makes no sense; it takes a whole number from 1 to 65536");
  EXPECT_EQ(error_of(without("gpus_per_node = 8", "gpus_per_nod = 8")),
            "c.toml:2: there is no key 'gpus_per_nod' here; did you mean 'gpus_per_node'?");
  EXPECT_EQ(error_of(without("gpus_per_node = 8\n")),
            "c.toml: gpus_per_node is missing; it takes a whole number from 1 to 1024");
  EXPECT_EQ(error_of(with("nic_gbits_per_s = 3\n")),
            "c.toml:16: there is no key 'nic_gbits_per_s' here; did you mean 'nic_gbit_per_s'?");
  EXPECT_EQ(error_of(without("gpu_idle_w = 70", "gpu_idle_w = \"70\"")),
            "c.toml:4: gpu_idle_w = '70' makes no sense; it takes watts from 0 to 1000000");
  EXPECT_EQ(error_of(without("gpu_comm_w = 250\n")),
            "c.toml: gpu_comm_w is missing: it depends on the job; take it from a run's report, or a guess of yours");
  EXPECT_EQ(error_of(without("gpu_idle_w = 70\n")),
            "c.toml: gpu_idle_w is missing: 'H100' is no GPU whose idle power is known")
      << "the name fits several products";
  EXPECT_EQ(error_of(without("gpu_idle_w = 70", "gpu_idle_w = 700")),
            "c.toml:4: gpu_idle_w = 700 is above gpu_busy_w = 600");
  EXPECT_EQ(error_of(without("nic_us = 5\n")), "c.toml: nic_us is missing: latency of a message between nodes");
  EXPECT_THAT(error_of(without("EPYC 7763", "EPYC 1")), HasSubstr("give cpu_w"));
  EXPECT_THAT(error_of(with("[[group]]\nspeed = 1\n")), StartsWith("c.toml:16: nodes is missing in [[group]]"));
  EXPECT_THAT(error_of(with("[[group]]\nnodes = \"2-4\"\n")), StartsWith("c.toml:17: nodes = '2-4' makes no sense"));
  EXPECT_THAT(error_of(with("[[group]]\nnodes = 1\n[[group]]\nnodes = 1\n")), HasSubstr("1 is in two groups"));
  EXPECT_THAT(error_of(with("[[group]]\nnodes = 1\ngpu_power_cap_w = 300\n")), HasSubstr("speed is missing"));
  EXPECT_THAT(error_of(with("[[group]]\nnodes = 1\ngpus_per_node = 4\n")), HasSubstr("the same for all nodes"));
  EXPECT_THAT(error_of(with("[[group]]\nnodes = 1\ngpu = \"A100\"\n")), StartsWith("c.toml:16: gpu_idle_w is missing"))
      << "watts of another GPU do not hold";
  EXPECT_THAT(error_of("nodes = [\n"), StartsWith("c.toml:"));
}

TEST(ClusterFile, OneGpuAloneNeedsNoLinks) {
  EXPECT_EQ(error_of("nodes = 1\ngpus_per_node = 1\ngpu_idle_w = 1\ngpu_busy_w = 2\ngpu_comm_w = 1\n"), "accepted");
}

TEST(ClusterFile, AFileThatIsNotThereIsNotFound) {
  const auto cluster = load_cluster("/no/such/cluster.toml");
  ASSERT_FALSE(cluster);
  EXPECT_EQ(cluster.error().code, core::Errc::not_found);
}

TEST(NodeList, RangesAndNumbers) {
  EXPECT_EQ(parse_node_list("0-2, 5", 6), (std::vector<int>{0, 1, 2, 5}));
  for (const auto* bad : {"", "a", "3-1", "6", "-1", "1,,2", "1-"}) EXPECT_FALSE(parse_node_list(bad, 6)) << bad;
}

}  // namespace
}  // namespace gradwatt::planning

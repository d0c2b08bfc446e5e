#include "gradwatt/training/strategies/host_layout.hpp"

#include <gtest/gtest.h>

namespace gradwatt::training {
namespace {

std::vector<Peer> peers_on(const std::vector<std::string>& hosts) {
  std::vector<Peer> peers;
  for (const auto& host : hosts) peers.push_back({.rank = static_cast<int>(peers.size()), .host = host});
  return peers;
}

TEST(HostLayout, GroupsRanksByTheirHostInWhateverOrderTheyWereStarted) {
  const auto layout = layout_of(peers_on({"a", "b", "a", "b"}), 0);
  EXPECT_EQ(layout.hosts, (std::vector<std::vector<int>>{{0, 2}, {1, 3}}));
  EXPECT_EQ(layout.rail(1), (std::vector<int>{2, 3}));
  EXPECT_EQ(layout.place_of(3), 1U);
  EXPECT_TRUE(layout.together(0, 2));
  EXPECT_FALSE(layout.together(0, 1));
  EXPECT_EQ(layout.shape().nodes, 2);
  EXPECT_EQ(layout.shape().gpus_per_node, 2);
}

TEST(HostLayout, ASettingMayDivideOneHostAndTheLastPartMayBeSmaller) {
  const auto layout = layout_of(peers_on({"a", "a", "a"}), 2);
  EXPECT_EQ(layout.hosts, (std::vector<std::vector<int>>{{0, 1}, {2}}));
}

TEST(HostLayout, UnequalHostsAreNamedWithWhatWorksThere) {
  const auto peers = peers_on({"left", "left", "right"});
  const auto error = check_equal_hosts(layout_of(peers, 0), peers, "two-level").error().message;
  for (const auto* word : {"two-level", "left", "right", "one-bit"})
    EXPECT_NE(error.find(word), std::string::npos) << error;
  EXPECT_TRUE(check_equal_hosts(layout_of(peers, 1), peers, "two-level"));
}

}  // namespace
}  // namespace gradwatt::training

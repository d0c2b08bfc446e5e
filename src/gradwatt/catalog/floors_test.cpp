#include "gradwatt/catalog/floors.hpp"

#include <gtest/gtest.h>

#include "gradwatt/catalog/xid.hpp"

namespace gradwatt::catalog {
namespace {

TEST(Floors, AreFoundByNameAndNumberOfGpus) {
  ASSERT_NE(find_floor("NVIDIA H100 80GB HBM3", 8), nullptr);
  EXPECT_EQ(find_floor("NVIDIA H100 80GB HBM3", 8)->all_reduce_gb_per_s, 460);
  EXPECT_EQ(find_floor("A100-SXM4-40GB", 8)->all_reduce_gb_per_s, 228);
  EXPECT_EQ(find_floor("Tesla V100-SXM2-32GB", 8)->all_reduce_gb_per_s, 110);
  EXPECT_EQ(find_floor("NVIDIA A100 80GB PCIe", 4)->all_reduce_gb_per_s, 25);
}

TEST(Floors, OtherNumbersAndNamesHaveNone) {
  EXPECT_EQ(find_floor("NVIDIA H100 80GB HBM3", 4), nullptr);
  EXPECT_EQ(find_floor("NVIDIA H200 NVL", 8), nullptr);
  EXPECT_EQ(find_floor("", 8), nullptr);
}

TEST(Floors, EveryRowHasAFigureAndASource) {
  for (const auto& row : link_floors()) {
    EXPECT_TRUE(row.host_copy_gb_per_s || row.all_reduce_gb_per_s) << row.platform;
    EXPECT_FALSE(row.source.empty()) << row.platform;
  }
}

TEST(Xids, SayWhatHasToBeDone) {
  ASSERT_NE(find_xid(79), nullptr);
  EXPECT_EQ(find_xid(79)->action, XidAction::restart_host);
  EXPECT_EQ(find_xid(79)->health, XidHealth::failure);
  EXPECT_TRUE(find_xid(31)->program_may_cause_it);
  EXPECT_EQ(words_of(find_xid(119)->action), "reset the GPU");
  EXPECT_EQ(find_xid(0), nullptr);
  EXPECT_EQ(find_xid(9999), nullptr);
}

}  // namespace
}  // namespace gradwatt::catalog

#include "gradwatt/ingest/power_meaning.hpp"

#include <gtest/gtest.h>

namespace gradwatt::ingest {
namespace {

TEST(PowerMeaning, FollowsTheGeneration) {
  for (const auto* name : {"NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB PCIe", "NVIDIA A30", "NVIDIA A800-SXM4-80GB"}) {
    EXPECT_EQ(power_draw_of(name).kind, PowerKind::window) << name;
    EXPECT_EQ(power_draw_of(name).duty, 0.25) << name;
  }
  for (const auto* name : {"Tesla T4", "NVIDIA GeForce RTX 2080 SUPER", "Quadro RTX 6000", "NVIDIA TITAN RTX",
                           "Tesla V100S-PCIE-32GB", "NVIDIA TITAN V", "Tesla P100-PCIE-16GB",
                           "NVIDIA GeForce GTX 1080 Ti", "NVIDIA GeForce GTX 1660", "Tesla K40m"}) {
    EXPECT_EQ(power_draw_of(name).kind, PowerKind::window) << name;
    EXPECT_TRUE(power_draw_of(name).known) << name;
  }
  for (const auto* name :
       {"NVIDIA H100 80GB HBM3", "NVIDIA GH200 480GB", "NVIDIA B200", "NVIDIA L40S", "NVIDIA L4", "NVIDIA A10G",
        "NVIDIA A40", "NVIDIA GeForce RTX 3080 Ti", "NVIDIA GeForce RTX 4090", "NVIDIA RTX A6000", "NVIDIA RTX A3000",
        "NVIDIA RTX 6000 Ada Generation", "NVIDIA GeForce RTX 5090", "NVIDIA RTX PRO 6000 Blackwell Server Edition"}) {
    EXPECT_EQ(power_draw_of(name).kind, PowerKind::average) << name;
    EXPECT_TRUE(power_draw_of(name).known) << name;
  }
}

TEST(PowerMeaning, SaysWhenItDoesNotKnow) {
  for (const auto* name : {"", "NVIDIA Z9000", "Some Other GPU"}) {
    EXPECT_FALSE(power_draw_of(name).known) << name;
    EXPECT_EQ(power_draw_of(name).duty, std::nullopt) << name;
  }
}

TEST(PowerMeaning, InstantPowerOfHopperSeesAQuarterOfTheTime) {
  EXPECT_EQ(duty_of_instant("NVIDIA H100 80GB HBM3"), 0.25);
  EXPECT_EQ(duty_of_instant("NVIDIA A100-SXM4-40GB"), 0.25);
  EXPECT_EQ(duty_of_instant("NVIDIA GeForce RTX 3090"), 1.0);
  EXPECT_EQ(duty_of_instant(""), std::nullopt);
}

}  // namespace
}  // namespace gradwatt::ingest

#include "gradwatt/planning/hardware/live_gpu.hpp"

#include <gtest/gtest.h>

namespace gradwatt::planning {
namespace {

record::Device device(std::string name, std::map<std::string, std::string> attributes) {
  return {.kind = record::DeviceKind::gpu, .name = std::move(name), .attributes = std::move(attributes)};
}

TEST(LiveGpu, LimitsAndMemoryOfTheDeviceReplaceTheCatalogs) {
  const auto a100 = device(
      "NVIDIA A100-SXM4-80GB",
      {{"power_limit_default_w", "500"}, {"power_limit_enforced_w", "350"}, {"memory_total_bytes", "85899345920"}});
  const auto row = gpu_of(a100);
  EXPECT_EQ(power_limit(row)->value, 350);
  EXPECT_EQ(row.power.default_w->source, catalog::GpuSource::live);
  EXPECT_NEAR(row.memory.gb->value, 85.9, 0.01);
  EXPECT_EQ(value_of(row.peak.bf16_tflops), 312);
}

TEST(LiveGpu, AGpuInNoTableHasWhatItSays) {
  const auto unknown = device("NVIDIA X9", {{"power_limit_max_w", "300"}});
  const auto row = gpu_of(unknown);
  EXPECT_EQ(row.name, "NVIDIA X9");
  EXPECT_EQ(value_of(row.power.max_w), 300);
  EXPECT_FALSE(row.peak.fp32_tflops);
}

TEST(LiveGpu, WhatIsNoNumberAboveZeroIsMissing) {
  for (const auto* text : {"", "N/A", "0", "-1", "400 W"})
    EXPECT_FALSE(live_gpu(device("T4", {{"power_limit_max_w", text}})).power_max_w) << text;
}

}  // namespace
}  // namespace gradwatt::planning

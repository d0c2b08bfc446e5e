#include "gradwatt/catalog/gpu_table.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gradwatt::catalog {
namespace {

std::string_view found(std::string_view name) {
  const auto* row = find_gpu(name);
  return row != nullptr ? row->name : "";
}

std::set<std::string_view> like(std::string_view name) {
  std::set<std::string_view> names;
  for (const auto* row : gpus_like(name)) names.insert(row->name);
  return names;
}

TEST(GpuTable, FindsAGpuByTheNameThatItsDriverPrints) {
  EXPECT_EQ(found("NVIDIA A100-SXM4-40GB"), "A100 SXM4 40GB");
  EXPECT_EQ(found("NVIDIA A100 80GB PCIe"), "A100 PCIe 80GB");
  EXPECT_EQ(found("A100-PCIE-40GB"), "A100 PCIe 40GB");
  EXPECT_EQ(found("Tesla V100-SXM2-32GB"), "V100 SXM2 32GB");
  EXPECT_EQ(found("NVIDIA H100 80GB HBM3"), "H100 SXM5 80GB");
  EXPECT_EQ(found("NVIDIA H200"), "H200 SXM");
  EXPECT_EQ(found("NVIDIA GH200 480GB"), "GH200 96GB");
  EXPECT_EQ(found("NVIDIA GeForce RTX 4090"), "RTX 4090");
  EXPECT_EQ(found("AMD Instinct MI300X OAM"), "MI300X");
}

TEST(GpuTable, FindsAGpuByWhatPeopleWrite) {
  EXPECT_EQ(found("a100-sxm4-80gb"), "A100 SXM4 80GB");
  EXPECT_EQ(found("A100 SXM 80 GB"), "A100 SXM4 80GB");
  EXPECT_EQ(found("h100 sxm"), "H100 SXM5 80GB");
  EXPECT_EQ(found("RTX 3090 24GB"), "RTX 3090");
}

TEST(GpuTable, TheNameThatSaysMostWins) {
  EXPECT_EQ(found("NVIDIA H200 NVL"), "H200 NVL");
  EXPECT_EQ(found("NVIDIA H100 NVL"), "H100 NVL");
  EXPECT_EQ(found("NVIDIA L40S"), "L40S");
  EXPECT_EQ(found("NVIDIA A10G"), "A10G");
}

TEST(GpuTable, AnotherProductOrASliceOfOneIsNotInTheTable) {
  for (const auto* name :
       {"NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 3090 Ti", "NVIDIA RTX 6000 Ada Generation",
        "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "H100 PCIe 96GB", "NVIDIA", ""})
    EXPECT_EQ(found(name), "") << name;
}

TEST(GpuTable, AShortNameThatFitsSeveralFindsNoneButNamesThem) {
  EXPECT_EQ(find_gpu("A100"), nullptr);
  EXPECT_EQ(like("NVIDIA A100"),
            (std::set<std::string_view>{"A100 PCIe 40GB", "A100 PCIe 80GB", "A100 SXM4 40GB", "A100 SXM4 80GB"}));
  EXPECT_EQ(like("a100 40gb"), (std::set<std::string_view>{"A100 PCIe 40GB", "A100 SXM4 40GB"}));
  EXPECT_EQ(like("H100 SXM6"), (std::set<std::string_view>{"H100 PCIe", "H100 SXM5 80GB", "H100 NVL"}));
  EXPECT_EQ(like("MI30X"), std::set<std::string_view>{"MI300X"});
  EXPECT_TRUE(gpus_like("NVIDIA").empty());
  EXPECT_TRUE(gpus_like("abacus").empty());
}

TEST(GpuTable, EveryNameAndSpellingFindsItsOwnRow) {
  for (const auto& row : gpu_table()) {
    EXPECT_EQ(find_gpu(row.name), &row) << row.name;
    for (const auto spelling : row.spellings) EXPECT_TRUE(spelling.empty() || find_gpu(spelling) == &row) << spelling;
  }
}

TEST(GpuTable, FiguresAreInTheirOrder) {
  for (const auto& row : gpu_table()) {
    const auto& [usual, least, most, idle, context, enforced] = row.power;
    ASSERT_TRUE(row.memory.gb && row.memory.gb_per_s && usual && row.peak.fp32_tflops) << row.name;
    const double limit = usual->value;
    EXPECT_LT(value_of(least).value_or(0), limit) << row.name;
    EXPECT_GE(value_of(most).value_or(limit), limit) << row.name;
    EXPECT_LT(value_of(idle).value_or(0), 0.25 * limit) << row.name;
    EXPECT_GT(value_of(context).value_or(limit), value_of(idle).value_or(0)) << row.name;
    EXPECT_FALSE(enforced) << "only a device knows the limit in force: " << row.name;
  }
}

TEST(GpuTable, HalfPrecisionIsTwiceAsFastAsTf32) {
  for (const auto& row : gpu_table()) {
    if (!row.peak.bf16_tflops || !row.peak.tf32_tflops) continue;
    EXPECT_NEAR(row.peak.bf16_tflops->value / row.peak.tf32_tflops->value, 2, 0.03) << row.name;
  }
}

TEST(GpuTable, WhatIsNotKnownIsMissing) {
  EXPECT_FALSE(find_gpu("T4")->peak.bf16_tflops);
  EXPECT_FALSE(find_gpu("A30")->power.min_w);
  EXPECT_FALSE(find_gpu("L4")->links.count);
}

TEST(GpuTable, LinksAddUpToTheirTotal) {
  for (const auto& row : gpu_table()) {
    EXPECT_EQ(row.links.count.has_value(), row.links.gb_per_s.has_value()) << row.name;
    if (!row.links.count) continue;
    const double one = row.links.gb_per_s->value / row.links.count->value;
    EXPECT_TRUE(one == 28.125 || one == 50 || one == 100 || one == 128) << row.name << ": " << one;
  }
}

TEST(GpuTable, WhatTheDeviceSaysWins) {
  const auto row =
      with_live(*find_gpu("A100 SXM4 80GB"), {.power_default_w = 500, .power_max_w = 500, .power_enforced_w = 350});
  EXPECT_EQ(row.power.default_w->value, 500);
  EXPECT_EQ(row.power.default_w->source, GpuSource::live);
  EXPECT_EQ(row.power.min_w->value, 100);
  EXPECT_EQ(row.power.min_w->source, GpuSource::driver_dump);
  EXPECT_EQ(power_limit(row)->value, 350);
  EXPECT_EQ(power_limit(*find_gpu("A100 SXM4 80GB"))->value, 400);
}

TEST(GpuTable, OfAGpuInNoTableOnlyTheDeviceSpeaks) {
  const auto row = with_live({.name = "NVIDIA X9"}, {.memory_gb = 64, .power_max_w = 300});
  EXPECT_EQ(value_of(row.memory.gb), 64);
  EXPECT_FALSE(row.peak.bf16_tflops);
  EXPECT_FALSE(power_limit(row));
}

TEST(GpuTable, EverySourceHasWords) {
  std::set<std::string_view> words;
  for (auto source = GpuSource::live; source <= GpuSource::unconfirmed;
       source = static_cast<GpuSource>(static_cast<int>(source) + 1))
    EXPECT_TRUE(words.insert(words_of(source)).second) << words_of(source);
}

}  // namespace
}  // namespace gradwatt::catalog

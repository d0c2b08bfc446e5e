#include "gradwatt/planning/presets/preset.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gradwatt/catalog/gpu_table.hpp"

namespace gradwatt::planning {
namespace {

using testing::HasSubstr;

const Preset& preset(std::string_view name) { return **find_preset(name); }

TEST(Presets, EveryFigureHasASourceAndEveryGpuIsInTheCatalog) {
  for (const auto& p : preset_table()) {
    for (const auto& figure : {p.energy_per_gpu_h_kwh, p.gpu_power_kw, p.node_base_kw, p.samples, p.epochs,
                               p.global_batch, p.local_batch_most, p.linear_up_to_gpus}) {
      if (!figure) continue;
      EXPECT_FALSE(figure->source.empty()) << p.name;
      EXPECT_TRUE(figure->low || figure->high) << p.name;
      EXPECT_LE(figure->low.value_or(0), figure->high.value_or(1e12)) << p.name;
    }
    EXPECT_TRUE(p.gpu.empty() || catalog::find_gpu(p.gpu) != nullptr) << p.name;
    EXPECT_FALSE(p.caution.empty()) << p.name;
  }
}

TEST(Presets, AnUnknownNameIsAnsweredWithTheOnesThereAre) {
  const auto missed = find_preset("resnet50-a10");
  ASSERT_FALSE(missed);
  EXPECT_THAT(missed.error().message, HasSubstr("did you mean resnet50-a100?"));
  EXPECT_THAT(missed.error().message, HasSubstr("fourcastnet-h100"));
}

TEST(PublishedEnergy, OfAFullTrainingOnFourGpusIsNot6Point7KilowattHours) {
  const auto energy = published_energy(preset("resnet50-a100"), 4, 22);
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->gpu_hours, 88);
  EXPECT_NEAR(energy->low_kwh, 23.8, 0.05);
  EXPECT_NEAR(energy->high_kwh, 27.3, 0.05);
}

TEST(PublishedEnergy, OneGpuBearsTheWholeBaseLineOfItsNode) {
  const auto alone = published_energy(preset("resnet50-a100"), 1, 1);
  ASSERT_TRUE(alone);
  EXPECT_NEAR(alone->low_kwh, 0.27 + 0.264 * 0.75, 1e-9);
  EXPECT_NEAR(alone->high_kwh, 0.553, 1e-9) << "what one GPU was measured at";
}

TEST(PublishedEnergy, LiesAroundWhatMlperfMeasured) {
  const auto& llama = preset("llama2-70b-lora-h100");
  for (const auto& run : llama.fixed_local_batch) {
    const auto energy = published_energy(llama, run.gpus, run.hours);
    ASSERT_TRUE(energy && run.energy_kwh);
    EXPECT_GE(*run.energy_kwh, 0.995 * energy->low_kwh) << run.gpus;
    EXPECT_LE(*run.energy_kwh, 1.005 * energy->high_kwh) << run.gpus;
  }
}

TEST(PublishedEnergy, IsMissingWhereItWasNotPublished) {
  EXPECT_FALSE(published_energy(preset("resnet50-v100"), 4, 1));
  EXPECT_FALSE(published_energy(preset("fourcastnet-a100"), 1, 1)) << "no base line of a node with idle GPUs";
  EXPECT_FALSE(published_energy(preset("resnet50-a100"), 0, 1));
}

}  // namespace
}  // namespace gradwatt::planning

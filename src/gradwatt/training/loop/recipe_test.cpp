#include "gradwatt/training/loop/recipe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gradwatt::training {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSmall = "[model]\nname = \"resnet8\"\n[batch]\nglobal = 64\n";

core::Result<Recipe> parse(const std::string& text, const std::vector<std::string>& settings = {}) {
  return parse_recipe(text, "small.toml", settings);
}

TEST(Recipe, TakesWhatTheFileSaysAndTheCommandLineInItsPlace) {
  const auto recipe =
      parse(std::string(kSmall) + "[schedule]\nrate = 0.5\nmilestones = [30, 60.5]\n[run]\nepochs = 3\n",
            {"run.epochs=7", "sync.wire = bf16"})
          .value();
  EXPECT_EQ(recipe.model.name, "resnet8");
  EXPECT_EQ(recipe.global_batch, 64);
  EXPECT_EQ(recipe.schedule.rate, 0.5);
  EXPECT_EQ(recipe.schedule.milestones, (std::vector<double>{30, 60.5}));
  EXPECT_EQ(recipe.epochs, 7);
  EXPECT_EQ(recipe.sync.averager.wire, Wire::bf16);
}

TEST(Recipe, OneBatchSizeOnTheCommandLineReplacesTheOtherInTheFile) {
  const auto recipe = parse(kSmall, {"batch.local=8"}).value();
  EXPECT_EQ(recipe.local_batch, 8);
  EXPECT_EQ(recipe.global_batch, 0);
}

TEST(Recipe, MistakesNameTheirPlaceAndTheNearestRightWord) {
  EXPECT_THAT(parse(std::string(kSmall) + "[run]\nepoch = 3\n").error().message,
              AllOf(HasSubstr("small.toml:6"), HasSubstr("run.epochs")));
  EXPECT_THAT(parse(kSmall, {"run.precision=half"}).error().message, AllOf(HasSubstr("--set"), HasSubstr("fp16")));
  EXPECT_THAT(parse(kSmall, {"run.epochs"}).error().message, HasSubstr("table.key=value"));
  EXPECT_THAT(parse("[model\n").error().message, HasSubstr("small.toml:1"));
  EXPECT_THAT(parse("[model]\nname = \"resnet8\"\n").error().message, HasSubstr("batch.global"));
  EXPECT_EQ(parse("x = ").error().code, core::Errc::unusable_input);
}

TEST(Recipe, ValuesOutOfRangeAreRefused) {
  for (const auto* setting : {"run.epochs=0", "run.epochs=2.5", "optimizer.momentum=1.5", "run.channels_last=maybe",
                              "schedule.milestones=3,x", "batch.accumulate=0", "sync.bucket_bytes=0",
                              "batch.accumulate=9223372036854775807", "data.rows=4294967296", "run.clip=nan"})
    EXPECT_FALSE(parse(kSmall, {setting})) << setting;
}

TEST(Recipe, StrategiesAreWordsAndWhatDoesNotGoWithThemIsRefusedInOneLine) {
  EXPECT_EQ(parse(kSmall, {"sync.strategy=one-bit"}).value().strategy.name, StrategyName::one_bit);
  EXPECT_THAT(parse(kSmall, {"sync.strategy=two-bit"}).error().message, HasSubstr("local-sgd"));
  EXPECT_THAT(parse(kSmall, {"sync.strategy=one-bit", "sync.wire=bf16"}).error().message, HasSubstr("sync.wire"));
  for (const auto* setting : {"run.clip=1", "run.precision=fp16", "run.sync_batch_norm=true"}) {
    EXPECT_THAT(parse(kSmall, {"sync.strategy=stale-synchronous", setting}).error().message,
                HasSubstr("stale-synchronous"));
    EXPECT_TRUE(parse(kSmall, {"sync.strategy=daso", setting})) << setting;
  }
}

TEST(Recipe, AGlobalBatchIsSharedByTheRanksAndALocalOneIsNot) {
  auto recipe = parse(kSmall, {"batch.accumulate=2"}).value();
  EXPECT_EQ(micro_batch(recipe, 4).value(), 8);
  EXPECT_THAT(micro_batch(recipe, 3).error().message, HasSubstr("3 ranks"));
  recipe = parse(kSmall, {"batch.local=64", "batch.accumulate=2"}).value();
  EXPECT_EQ(micro_batch(recipe, 3).value(), 32);
}

TEST(Recipe, EverySettingHasAKeyOfItsOwn) {
  std::vector<std::string_view> seen;
  for (const auto& [key, help] : recipe_keys()) {
    EXPECT_EQ(std::ranges::count(seen, key), 0) << key;
    seen.push_back(key);
  }
}

TEST(Recipe, TheRecipesThatComeWithGradwattAreValid) {
  int found = 0;
  for (const auto& file : std::filesystem::directory_iterator(GRADWATT_SOURCE_DIR "/examples/recipes")) {
    const auto recipe = load_recipe(file.path(), {});
    EXPECT_TRUE(recipe) << (recipe ? "" : recipe.error().message);
    ++found;
  }
  EXPECT_GE(found, 8);
}

}  // namespace
}  // namespace gradwatt::training

#include "gradwatt/training/data/data_spec.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "gradwatt/training/data/fields.hpp"
#include "tests/doubles/made_jpeg.hpp"
#include "tests/doubles/made_tree.hpp"

namespace gradwatt::training {
namespace {

using testing::HasSubstr;

std::string error(const DataSpec& spec) { return make_dataset(spec).error().message; }

Example first(const Dataset& data, std::uint64_t seed = 0) {
  ExampleRandom random(seed);
  return data.get(0, random).value();
}

TEST(MakeDataset, NamesTheNearestKindWhenThereIsNone) {
  EXPECT_THAT(error({.kind = "fashon-mnist"}), HasSubstr("did you mean fashion-mnist?"));
  EXPECT_THAT(error({.kind = "qqqqqqqqqq"}), HasSubstr("shallow-water"));
}

TEST(MakeDataset, SaysWhatToInstallOrToName) {
  EXPECT_THAT(error({.kind = "fashion-mnist", .path = "/nowhere"}), HasSubstr("dataset-fashion-mnist"));
  EXPECT_THAT(error({.kind = "winds", .path = "/nowhere"}), HasSubstr("ferret-datasets"));
  for (const auto* kind : {"images", "cifar10", "idx", "era5"})
    EXPECT_THAT(error({.kind = kind}), HasSubstr("needs a path"));
  EXPECT_THAT(error({.kind = "synthetic", .classes = 0}), HasSubstr("at least one"));
}

TEST(MakeDataset, FindsTheFolderOfEachPartOfAnImageSet) {
  doubles::MadeTree tree;
  const auto image = doubles::made_jpeg(40, 40, 3, [](int, int, int) { return 90; });
  tree.bytes("train/a/1.jpg", image).bytes("train/b/2.jpg", image).bytes("val/a/3.jpg", image);
  EXPECT_EQ(make_dataset({.kind = "images", .path = tree.path("")}).value()->size(), 2U);
  EXPECT_EQ(make_dataset({.kind = "images", .path = tree.path(""), .split = Split::evaluation}).value()->size(), 1U);
  EXPECT_EQ(make_dataset({.kind = "images", .path = tree.path("train"), .split = Split::evaluation}).value()->size(),
            2U);
  tree.remove("val");
  EXPECT_THAT(error({.kind = "images", .path = tree.path(""), .split = Split::evaluation}),
              HasSubstr("to evaluate on"));
}

TEST(MakeDataset, AugmentsTrainingOnly) {
  for (const auto* kind : {"fashion-mnist"}) {
    const auto made = make_dataset({.kind = kind, .image_size = 32});
    if (!made) GTEST_SKIP() << made.error().message;
    EXPECT_EQ((*made)->input_shape(), (std::vector<std::int64_t>{1, 32, 32}));
    EXPECT_EQ((*made)->classes(), 10);
    EXPECT_FALSE(at::equal(first(**made, 1).input, first(**made, 3).input));
    const auto test = make_dataset({.kind = kind, .split = Split::evaluation, .image_size = 32}).value();
    EXPECT_EQ(test->size(), 10'000U);
    EXPECT_TRUE(at::equal(first(*test, 1).input, first(*test, 3).input));
  }
}

TEST(MakeDataset, RefusesACanvasSmallerThanTheImages) {
  const DataSpec spec{.kind = "fashion-mnist", .image_size = 20};
  if (!make_dataset({.kind = "fashion-mnist"}))
    GTEST_SKIP() << "the Debian package dataset-fashion-mnist is not installed";
  EXPECT_THAT(error(spec), HasSubstr("do not fit"));
}

TEST(MakeDataset, MakesLearnableImagesThatDifferBetweenTrainingAndEvaluation) {
  const DataSpec spec{.kind = "synthetic", .examples = 200, .classes = 3};
  const auto train = make_dataset(spec).value();
  auto held_spec = spec;
  held_spec.split = Split::evaluation;
  const auto held = make_dataset(held_spec).value();
  EXPECT_TRUE(at::equal(first(*train, 1).input, first(*make_dataset(spec).value(), 2).input));
  EXPECT_FALSE(at::equal(first(*train).input, first(*held).input));
  // The nearest mean of the training classes names the held-out ones.
  std::vector<at::Tensor> sums(3, at::zeros({3, 32, 32}));
  std::vector<int> counts(3);
  ExampleRandom random(0);
  for (std::size_t i = 0; i < train->size(); ++i) {
    const auto example = train->get(i, random).value();
    const auto label = static_cast<std::size_t>(example.target.item<std::int64_t>());
    sums.at(label) = sums[label] + example.input;
    ++counts[label];
  }
  int right = 0;
  for (std::size_t i = 0; i < held->size(); ++i) {
    const auto example = held->get(i, random).value();
    std::vector<double> distances;
    for (std::size_t c = 0; c < 3; ++c)
      distances.push_back((example.input - sums[c] / counts[c]).square().sum().item<double>());
    right +=
        std::min_element(distances.begin(), distances.end()) - distances.begin() == example.target.item<std::int64_t>();
  }
  EXPECT_GT(right, 190);
}

TEST(MakeDataset, MakesFieldsThatFollowFromOneAnother) {
  const auto data =
      make_dataset({.kind = "synthetic-fields", .examples = 4, .channels = 2, .rows = 8, .columns = 20, .steps = 2})
          .value();
  EXPECT_EQ(data->target_shape(), (std::vector<std::int64_t>{2, 2, 8, 20}));
  const auto example = first(*data);
  EXPECT_FALSE(at::allclose(example.input, example.target[0], 0.1, 0.1));
  EXPECT_NEAR(example.input.square().mean().item<double>(), example.target[1].square().mean().item<double>(), 0.2);
  EXPECT_NE(dynamic_cast<const FieldDataset*>(data.get()), nullptr);
}

TEST(MakeDataset, MakesEveryKindThatNeedsNoFiles) {
  for (const auto* kind : {"synthetic", "synthetic-fields", "free"}) {
    const auto data = make_dataset({.kind = kind, .examples = 3, .rows = 8, .columns = 16}).value();
    EXPECT_EQ(data->size(), 3U) << kind;
    EXPECT_TRUE(at::isfinite(first(*data).input).all().item<bool>()) << kind;
  }
  const auto water =
      make_dataset({.kind = "shallow-water", .rows = 8, .columns = 16, .flows = 1, .snapshots = 3}).value();
  EXPECT_EQ(water->size(), 2U);
  EXPECT_EQ(water->classes(), 0);
}

}  // namespace
}  // namespace gradwatt::training

#include "gradwatt/training/models/weights.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "gradwatt/training/models/golden_fill.hpp"
#include "tests/doubles/made_tree.hpp"

namespace gradwatt::training {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Weights : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path path() const { return tree_.path("weights.safetensors"); }
  doubles::MadeTree tree_;
};

bool equal_state(const Model& a, const Model& b) {
  const auto left = state_of(a), right = state_of(b);
  for (std::size_t i = 0; i < left.size(); ++i)
    if (left[i].first != right[i].first || !left[i].second.equal(right[i].second)) return false;
  return left.size() == right.size();
}

TEST_F(Weights, ASavedModelComesBackBitwiseWithItsStatistics) {
  const auto saved = must_make({.name = "resnet8"}, 1), loaded = must_make({.name = "resnet8"}, 2);
  (void)saved->forward(sines({2, 3, 8, 8}));
  ASSERT_TRUE(save_weights(*saved, path(), {{"model", "resnet8"}}));
  ASSERT_TRUE(load_weights(*loaded, path()));
  EXPECT_TRUE(equal_state(*saved, *loaded));
  EXPECT_EQ(element(loaded->named_buffers()["bn1.num_batches_tracked"], 0), 1);
}

TEST_F(Weights, ValuesAreConvertedToTheModelsType) {
  const auto saved = must_make({.name = "afno-tiny"}, 1), loaded = must_make({.name = "afno-tiny"}, 2);
  ASSERT_TRUE(save_weights(*saved, path()));
  loaded->to(at::kDouble);
  ASSERT_TRUE(load_weights(*loaded, path()));
  EXPECT_EQ(loaded->parameters().front().scalar_type(), at::kDouble);
  EXPECT_TRUE(loaded->parameters().front().to(at::kFloat).equal(saved->parameters().front()));
}

TEST_F(Weights, GradientsStayPossibleAfterLoading) {
  const auto model = must_make({.name = "resnet8"});
  ASSERT_TRUE(save_weights(*model, path()));
  ASSERT_TRUE(load_weights(*model, path()));
  for (const auto& parameter : model->parameters()) EXPECT_TRUE(parameter.requires_grad() && parameter.is_leaf());
}

TEST_F(Weights, OfAnotherModelAreRefusedByNameAndChangeNothing) {
  ASSERT_TRUE(save_weights(*must_make({.name = "resnet8", .out_channels = 7, .projection_shortcut = true}), path()));
  const auto model = must_make({.name = "resnet20", .projection_shortcut = true}, 3);
  const auto before = must_make({.name = "resnet20", .projection_shortcut = true}, 3);
  const auto loaded = load_weights(*model, path());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, core::Errc::unusable_input);
  EXPECT_THAT(loaded.error().message, AllOf(HasSubstr("missing layer1.1.conv1.weight"), HasSubstr("more"),
                                            HasSubstr("fc.weight [7, 64] for [10, 64]"), Not(HasSubstr("unexpected"))));
  EXPECT_TRUE(equal_state(*model, *before));
}

TEST_F(Weights, UnexpectedTensorsAreNamed) {
  const auto model = must_make({.name = "resnet8"});
  auto state = state_of(*model);
  state.emplace_back("extra.weight", at::ones({1}));
  ASSERT_TRUE(save_safetensors(path(), state));
  const auto loaded = load_weights(*model, path());
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("unexpected extra.weight"));
}

}  // namespace
}  // namespace gradwatt::training

// Entry point for fuzzing recipes: any text must give a recipe whose values lie where they may, or a refusal. What
// stands behind a record separator (1e) is a --set; other control characters in front are left out.
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/core/text.hpp"
#include "gradwatt/training/loop/recipe.hpp"
#include "tests/fuzz/promise.hpp"

namespace {

using namespace gradwatt;
using fuzz::require;

bool lies_in(double value, double low, double high) { return value >= low && value <= high; }

void check(const training::Recipe& recipe) {
  require(!recipe.model.name.empty(), "a recipe names its model");
  require((recipe.local_batch > 0) != (recipe.global_batch > 0), "exactly one batch size is given");
  require(recipe.accumulate > 0 && recipe.epochs > 0 && recipe.steps >= 0, "counts are counts");
  require(recipe.data.image_size.value_or(1) > 0 && recipe.data.rows > 0 && recipe.data.steps > 0, "so are sizes");
  require(recipe.loader.workers >= 0 && recipe.data.held_out_years > 0, "and numbers of workers and years");
  require(lies_in(recipe.model.kept_modes, 0, 1) && lies_in(recipe.label_smoothing, 0, 1), "shares are shares");
  require(std::isfinite(recipe.schedule.rate) && recipe.schedule.rate >= 0, "the learning rate is a number");
  require(std::isfinite(recipe.clip) && recipe.clip >= 0, "so is the clip");
  for (const double epoch : recipe.schedule.milestones) require(std::isfinite(epoch) && epoch >= 0, "and milestones");
  for (const int ranks : {1, 2, 3})
    if (const auto batch = training::micro_batch(recipe, ranks)) require(*batch > 0, "a rank has examples");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!text.empty() && text.front() < 0x20 && text.front() >= 0 && text.front() != 0x1E) text.remove_prefix(1);
  const auto pieces = core::split(text, 0x1E);
  const std::vector<std::string> settings(pieces.begin() + 1, pieces.end());
  const auto recipe = training::parse_recipe(pieces.front(), "recipe", settings);
  if (recipe) {
    check(*recipe);
  } else {
    using enum core::Errc;
    require(recipe.error().code == wrong_use || recipe.error().code == unusable_input, "a refusal says whose fault");
    require(!recipe.error().message.empty(), "a refusal says why");
  }
  return 0;
}

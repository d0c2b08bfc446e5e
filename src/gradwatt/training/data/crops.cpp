#include "gradwatt/training/data/crops.hpp"

#include <algorithm>
#include <cmath>

namespace gradwatt::training {
namespace {

constexpr int kTries = 10;

Box centre_within(ImageSize image, const CropRange& range) {
  const double aspect = static_cast<double>(image.width) / image.height;
  double width = image.width, height = image.height;
  if (aspect < range.aspect_low) height = std::round(width / range.aspect_low);
  if (aspect > range.aspect_high) width = std::round(height * range.aspect_high);
  width = std::clamp(width, 1.0, static_cast<double>(image.width));
  height = std::clamp(height, 1.0, static_cast<double>(image.height));
  return {std::floor((image.width - width) / 2), std::floor((image.height - height) / 2), width, height};
}

}  // namespace

Box random_crop(ImageSize image, const CropRange& range, ExampleRandom& random) {
  const double area = static_cast<double>(image.width) * image.height;
  for (int i = 0; i < kTries; ++i) {
    const double target = area * random.uniform(range.area_low, range.area_high);
    const double aspect = std::exp(random.uniform(std::log(range.aspect_low), std::log(range.aspect_high)));
    const double width = std::round(std::sqrt(target * aspect)), height = std::round(std::sqrt(target / aspect));
    if (width < 1 || height < 1 || width > image.width || height > image.height) continue;
    const auto left = random.below(static_cast<std::uint64_t>(image.width - width) + 1);
    const auto top = random.below(static_cast<std::uint64_t>(image.height - height) + 1);
    return {static_cast<double>(left), static_cast<double>(top), width, height};
  }
  return centre_within(image, range);
}

Box centre_crop(ImageSize image, int resize, int crop) {
  const int shorter = std::min(image.width, image.height);
  // The longer side is cut to whole pixels, so the two axes shrink a little differently.
  const auto resized = [&](int side) {
    return side == shorter ? resize : static_cast<int>(static_cast<std::int64_t>(resize) * side / shorter);
  };
  const auto part = [&](int side, double& begin, double& length) {
    const double scale = static_cast<double>(side) / resized(side);
    begin = std::nearbyint((resized(side) - crop) / 2.0) * scale;
    length = crop * scale;
  };
  Box box;
  part(image.width, box.left, box.width);
  part(image.height, box.top, box.height);
  return box;
}

}  // namespace gradwatt::training

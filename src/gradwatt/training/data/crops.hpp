// Which part of an image becomes the example: the usual choices of ImageNet training and evaluation.
#pragma once

#include "gradwatt/training/data/example_random.hpp"
#include "gradwatt/training/data/pixels.hpp"

namespace gradwatt::training {

/// Limits of a random crop: share of the image's area, and width over height.
struct CropRange {
  double area_low = 0.08, area_high = 1.0;
  double aspect_low = 3.0 / 4.0, aspect_high = 4.0 / 3.0;
};

/// Area uniform, aspect log-uniform, place uniform, in whole pixels. An image too narrow for ten tries gives its
/// centre, as wide or high as the aspects allow.
[[nodiscard]] Box random_crop(ImageSize image, const CropRange& range, ExampleRandom& random);

/// The part of the image that a centre crop of crop × crop shows after its shorter side was resized to `resize`.
[[nodiscard]] Box centre_crop(ImageSize image, int resize, int crop);

}  // namespace gradwatt::training

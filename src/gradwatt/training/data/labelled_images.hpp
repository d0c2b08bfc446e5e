// What the readers of small image sets give: all pixels as bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "gradwatt/training/data/augment.hpp"

namespace gradwatt::training {

/// Images one after another, each channels × height × width.
struct LabelledImages {
  Augmenter::Shape shape;
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;
};

}  // namespace gradwatt::training

// Residual networks for images. One class builds all: they differ in stem, width and blocks, which are data.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gradwatt/training/models/built_model.hpp"
#include "gradwatt/training/models/residual_blocks.hpp"

namespace gradwatt::training {

struct ResNetShape {
  std::vector<std::int64_t> blocks;  ///< of each stage; the width doubles from stage to stage, the sides halve
  std::int64_t first_width = 64;
  bool bottleneck = false;
  bool small_stem = false;  ///< 3×3 convolution without pooling; else 7×7/2 and max pooling 3×3/2
  ShortcutKind shortcut = ShortcutKind::projection;
  bool zero_init_residual = false;
  std::int64_t in_channels = 3, classes = 1000;
};

/// Parameters are named, ordered and initialised as torchvision's resnet18 and resnet50 are; the form for CIFAR (16, 32
/// and 64 wide) follows the same rules.
class ResNet : public BuiltModel {
 public:
  explicit ResNet(const ResNetShape& shape);
  torch::Tensor forward(torch::Tensor input) override;
  void initialize(at::Generator& random) override;
  [[nodiscard]] std::vector<LayerLine> list_layers(const Shape& input) const override;

 private:
  struct Stage {
    std::string name;
    std::vector<std::shared_ptr<ResidualBlock>> blocks;
  };
  void add_stage(const ResNetShape& shape, std::size_t number, std::int64_t& channels);

  NormedConvolution stem_;
  std::vector<Stage> stages_;
  std::shared_ptr<Linear> head_;
  bool small_stem_, zero_init_residual_;
};

}  // namespace gradwatt::training

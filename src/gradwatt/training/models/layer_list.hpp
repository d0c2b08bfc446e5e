// Collects the lines of `train --describe`: shapes and multiply-accumulates follow from the layers, nothing is
// computed.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gradwatt/training/models/batch_norm.hpp"
#include "gradwatt/training/models/layers.hpp"
#include "gradwatt/training/models/model.hpp"

namespace gradwatt::training {

/// Of one sample: channels × height × width, or rows × columns × features.
using Shape = std::vector<std::int64_t>;

class LayerList {
 public:
  // Each adds one line and returns the shape of the layer's output.
  Shape add(const std::string& name, const Convolution& layer, const Shape& input);
  Shape add(const std::string& name, const Linear& layer, const Shape& input);
  Shape add(const std::string& name, const BatchNorm& layer, const Shape& input);
  Shape add(const std::string& name, const LayerNorm& layer, const Shape& input);
  /// What has no class of its own: pooling, padding, the Fourier filter.
  Shape add(LayerLine line);

  [[nodiscard]] std::vector<LayerLine> take() { return std::move(lines_); }

 private:
  std::vector<LayerLine> lines_;
};

/// Length of one side behind a window of `kernel` that moves by `stride`.
[[nodiscard]] std::int64_t windows(std::int64_t length, std::int64_t kernel, std::int64_t stride, std::int64_t padding);

[[nodiscard]] std::int64_t count_parameters(const torch::nn::Module& module);

}  // namespace gradwatt::training

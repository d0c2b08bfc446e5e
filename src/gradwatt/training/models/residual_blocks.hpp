// The blocks of residual networks (He et al. 2015): a short chain of convolutions and a way around it.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gradwatt/training/models/batch_norm.hpp"
#include "gradwatt/training/models/layer_list.hpp"
#include "gradwatt/training/models/layers.hpp"

namespace gradwatt::training {

/// The way around where a block changes the shape: A of the paper pads new channels with zeros, B projects.
enum class ShortcutKind { zero_padding, projection };

struct BlockShape {
  std::int64_t in_channels, width;  ///< `width`: channels of the 3×3 convolutions
  std::int64_t stride = 1;
  ShortcutKind shortcut = ShortcutKind::projection;
};

/// One convolution and the norm behind it; both belong to the module that names them.
struct NormedConvolution {
  std::string convolution_name, norm_name;
  std::shared_ptr<Convolution> convolution;
  std::shared_ptr<BatchNorm> norm;

  torch::Tensor forward(const torch::Tensor& input) const { return norm->forward(convolution->forward(input)); }
  Shape list(LayerList& lines, const std::string& prefix, const Shape& input) const;
};

/// ReLU behind each pair but the last; the way around is added to the last one, then ReLU.
class ResidualBlock : public torch::nn::Module {
 public:
  torch::Tensor forward(const torch::Tensor& input);
  Shape list(LayerList& lines, const std::string& prefix, const Shape& input) const;
  [[nodiscard]] std::int64_t out_channels() const { return pairs_.back().convolution->shape().out_channels; }
  [[nodiscard]] BatchNorm& last_norm() { return *pairs_.back().norm; }

 protected:
  /// Registers conv<n> and bn<n>, n from 1.
  void add_pair(const ConvolutionShape& shape);
  /// After the last pair: registers the projection where one is needed.
  void add_shortcut(const BlockShape& shape);

 private:
  torch::Tensor way_around(const torch::Tensor& input);

  std::vector<NormedConvolution> pairs_;
  std::vector<NormedConvolution> projection_;  ///< none or one
  std::int64_t padded_channels_ = 0;           ///< new channels of a zero-padding way around
  std::int64_t stride_ = 1;
};

/// Two 3×3 convolutions.
class BasicBlock : public ResidualBlock {
 public:
  static constexpr std::int64_t kExpansion = 1;
  explicit BasicBlock(const BlockShape& shape);
};

/// 1×1, 3×3, 1×1 to four times the width. The stride is in the 3×3 convolution ("v1.5").
class Bottleneck : public ResidualBlock {
 public:
  static constexpr std::int64_t kExpansion = 4;
  explicit Bottleneck(const BlockShape& shape);
};

}  // namespace gradwatt::training

// The layers that the models are made of. LibTorch's own draw from its global random generator when they are built;
// these leave their parameters empty, so that a model can be described without touching memory and initialised from its
// own seed. Names of parameters and buffers are those of PyTorch.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>

namespace gradwatt::training {

struct ConvolutionShape {
  std::int64_t in_channels, out_channels;
  std::int64_t kernel, stride = 1, padding = 0;
  bool bias = false;
};

class Convolution : public torch::nn::Module {
 public:
  explicit Convolution(const ConvolutionShape& shape);
  torch::Tensor forward(const torch::Tensor& input) const;
  [[nodiscard]] const ConvolutionShape& shape() const { return shape_; }

  torch::Tensor weight, bias;  ///< `bias` is undefined without one

 private:
  ConvolutionShape shape_;
};

/// Over the last dimension.
class Linear : public torch::nn::Module {
 public:
  Linear(std::int64_t inputs, std::int64_t outputs, bool with_bias = true);
  torch::Tensor forward(const torch::Tensor& input) const;

  torch::Tensor weight, bias;  ///< `bias` is undefined without one
};

/// Over the last dimension.
class LayerNorm : public torch::nn::Module {
 public:
  LayerNorm(std::int64_t size, double epsilon);
  torch::Tensor forward(const torch::Tensor& input) const;

  torch::Tensor weight, bias;

 private:
  double epsilon_;
};

}  // namespace gradwatt::training

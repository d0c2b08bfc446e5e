#include "gradwatt/training/models/layers.hpp"

#include <ATen/ATen.h>

namespace gradwatt::training {

Convolution::Convolution(const ConvolutionShape& shape) : shape_(shape) {
  weight = register_parameter("weight", at::empty({shape.out_channels, shape.in_channels, shape.kernel, shape.kernel}));
  if (shape.bias) bias = register_parameter("bias", at::empty({shape.out_channels}));
}

torch::Tensor Convolution::forward(const torch::Tensor& input) const {
  return at::conv2d(input, weight, bias, shape_.stride, shape_.padding);
}

Linear::Linear(std::int64_t inputs, std::int64_t outputs, bool with_bias) {
  weight = register_parameter("weight", at::empty({outputs, inputs}));
  if (with_bias) bias = register_parameter("bias", at::empty({outputs}));
}

torch::Tensor Linear::forward(const torch::Tensor& input) const { return at::linear(input, weight, bias); }

LayerNorm::LayerNorm(std::int64_t size, double epsilon) : epsilon_(epsilon) {
  weight = register_parameter("weight", at::empty({size}));
  bias = register_parameter("bias", at::empty({size}));
}

torch::Tensor LayerNorm::forward(const torch::Tensor& input) const {
  return at::layer_norm(input, {weight.size(0)}, weight, bias, epsilon_);
}

}  // namespace gradwatt::training

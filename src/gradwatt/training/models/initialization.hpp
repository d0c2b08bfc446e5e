// How parameters begin. Every draw comes from the generator handed in, in the order of the calls, on the CPU: the same
// seed gives the same model on every rank and device.
#pragma once

#include <ATen/core/Generator.h>
#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>

namespace gradwatt::training {

[[nodiscard]] at::Generator make_generator(std::uint64_t seed);

/// N(0, std² = 2 / (outputs · kernel area)): keeps the gradient's variance through a ReLU. Weight of a convolution.
void kaiming_normal_fan_out(torch::Tensor weight, at::Generator& random);
/// U(±1 / √fan-in) for weight and bias, PyTorch's default of convolutions and linear layers. `bias` may be undefined.
void uniform_fan_in(torch::Tensor weight, torch::Tensor bias, at::Generator& random);
/// N(0, std²).
void normal(torch::Tensor parameter, double std, at::Generator& random);

/// γ of every batch norm and layer norm below `model` is 1, β is 0.
void reset_norms(torch::nn::Module& model);

}  // namespace gradwatt::training

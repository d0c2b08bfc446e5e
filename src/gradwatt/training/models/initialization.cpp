#include "gradwatt/training/models/initialization.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cmath>

#include "gradwatt/training/models/batch_norm.hpp"
#include "gradwatt/training/models/layers.hpp"

namespace gradwatt::training {
namespace {

template <class Norm>
void reset(Norm& norm) {
  norm.weight.fill_(1);
  norm.bias.fill_(0);
}

}  // namespace

at::Generator make_generator(std::uint64_t seed) { return at::make_generator<at::CPUGeneratorImpl>(seed); }

void kaiming_normal_fan_out(torch::Tensor weight, at::Generator& random) {
  const at::NoGradGuard no_grad;
  const auto fan_out = weight.size(0) * weight.size(2) * weight.size(3);
  weight.normal_(0, std::sqrt(2.0 / static_cast<double>(fan_out)), random);
}

void uniform_fan_in(torch::Tensor weight, torch::Tensor bias, at::Generator& random) {
  const at::NoGradGuard no_grad;
  const auto fan_in = weight.numel() / weight.size(0);
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  weight.uniform_(-bound, bound, random);
  if (bias.defined()) bias.uniform_(-bound, bound, random);
}

void normal(torch::Tensor parameter, double std, at::Generator& random) {
  const at::NoGradGuard no_grad;
  parameter.normal_(0, std, random);
}

void reset_norms(torch::nn::Module& model) {
  const at::NoGradGuard no_grad;
  for (const auto& module : model.modules()) {
    if (auto* norm = module->as<BatchNorm>()) reset(*norm);
    if (auto* norm = module->as<LayerNorm>()) reset(*norm);
  }
}

}  // namespace gradwatt::training

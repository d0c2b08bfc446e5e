// For tests: parameters filled by a formula, so that an implementation can be compared to known results without sharing
// a random generator with the one that made them.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "gradwatt/training/models/model.hpp"

namespace gradwatt::training {

/// A fixed sequence of well-spread values in [−0.5, 0.5).
inline double weyl(std::int64_t k) {
  constexpr std::int64_t kRange = std::int64_t{1} << 31;
  return static_cast<double>((k * 1103515245 + 12345) % kRange) / static_cast<double>(kRange) - 0.5;
}

/// A tensor whose element i, counted row by row, is `value(i)`.
template <class Value>
torch::Tensor filled(std::vector<std::int64_t> shape, at::ScalarType type, Value value) {
  auto tensor = at::empty(shape, at::kDouble);
  auto* elements = tensor.data_ptr<double>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) elements[i] = value(i);
  return tensor.to(type);
}

inline torch::Tensor sines(std::vector<std::int64_t> shape) {
  return filled(std::move(shape), at::kFloat, [](auto i) { return std::sin(0.1 * static_cast<double>(i)); });
}

/// `scale` · sin(k), k counting the elements of all `parameters` from 0.
inline void fill_sines(const std::vector<torch::Tensor>& parameters, double scale) {
  const at::NoGradGuard no_grad;
  std::int64_t k = 0;
  for (auto parameter : parameters) {
    parameter.copy_(filled(parameter.sizes().vec(), at::kDouble,
                           [&](auto i) { return scale * std::sin(static_cast<double>(k + i)); }));
    k += parameter.numel();
  }
}

inline double gradient_norm(const Model& model) {
  double sum = 0;
  for (const auto& parameter : model.parameters())
    if (parameter.grad().defined()) sum += parameter.grad().to(at::kDouble).square().sum().item<double>();
  return std::sqrt(sum);
}

/// Element `index` of a tensor, counted row by row.
inline double element(const torch::Tensor& tensor, std::int64_t index) {
  return tensor.detach().flatten()[index].to(at::kDouble).item<double>();
}

inline std::shared_ptr<Model> must_make(const ModelSpec& spec, std::uint64_t seed = 1) {
  auto model = make_model(spec, seed);
  if (!model) ADD_FAILURE() << model.error().message;
  return *model;
}

}  // namespace gradwatt::training

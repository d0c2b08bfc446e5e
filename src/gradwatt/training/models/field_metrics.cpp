#include "gradwatt/training/models/field_metrics.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace gradwatt::training {
namespace {

torch::Tensor by_row(const torch::Tensor& weights) { return weights.to(at::kDouble).view({-1, 1}); }

}  // namespace

torch::Tensor latitude_weights(std::span<const double> latitudes_deg) {
  auto weights = at::empty({static_cast<std::int64_t>(latitudes_deg.size())}, at::kDouble);
  auto* values = weights.data_ptr<double>();
  for (std::size_t i = 0; i < latitudes_deg.size(); ++i)
    values[i] = std::cos(latitudes_deg[i] * std::numbers::pi / 180);
  return weights.div_(weights.mean());
}

torch::Tensor latitude_weights(std::int64_t rows) {
  std::vector<double> latitudes_deg;
  for (std::int64_t j = 0; j < rows; ++j)
    latitudes_deg.push_back(90 - 180 * static_cast<double>(j) / static_cast<double>(rows - 1));
  return latitude_weights(latitudes_deg);
}

torch::Tensor weighted_rmse(const torch::Tensor& prediction, const torch::Tensor& target,
                            const torch::Tensor& weights) {
  const auto error = prediction.to(at::kDouble).sub(target.to(at::kDouble));
  return error.square().mul(by_row(weights)).mean({-2, -1}).sqrt();
}

torch::Tensor anomaly_correlation(const torch::Tensor& prediction, const torch::Tensor& target,
                                  const torch::Tensor& climatology, const torch::Tensor& weights) {
  const auto normal = climatology.to(at::kDouble);
  const auto forecast = prediction.to(at::kDouble).sub(normal), truth = target.to(at::kDouble).sub(normal);
  const auto w = by_row(weights);
  const auto sum = [&](const torch::Tensor& field) { return field.mul(w).sum({-2, -1}); };
  return sum(forecast.mul(truth)).div(sum(forecast.square()).mul(sum(truth.square())).sqrt());
}

}  // namespace gradwatt::training

// How good a forecast on the sphere is: root mean square error and anomaly correlation, weighted by the area that a
// row of the latitude grid stands for. Everything is computed in double precision.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>

namespace gradwatt::training {

/// cos φ of each row, scaled so that the mean is 1. Rows at these latitudes in degrees; at least one off the poles.
[[nodiscard]] torch::Tensor latitude_weights(std::span<const double> latitudes_deg);
/// The same for `rows` ≥ 3 evenly spaced rows from pole to pole, both included: φ = 90° − 180° j / (rows − 1).
[[nodiscard]] torch::Tensor latitude_weights(std::int64_t rows);

/// batch × channels: √ of the weighted mean square error of each sample and channel, in the data's unit (times the
/// channel's standard deviation where the fields are normalised). Fields: batch × channels × rows × columns; `weights`:
/// rows. The figure of many samples is the mean of these.
[[nodiscard]] torch::Tensor weighted_rmse(const torch::Tensor& prediction, const torch::Tensor& target,
                                          const torch::Tensor& weights);

/// batch × channels: correlation of the departures of forecast and truth from `climatology` (channels × rows × columns,
/// or with a batch), weighted. NaN where one of them never departs.
[[nodiscard]] torch::Tensor anomaly_correlation(const torch::Tensor& prediction, const torch::Tensor& target,
                                                const torch::Tensor& climatology, const torch::Tensor& weights);

}  // namespace gradwatt::training

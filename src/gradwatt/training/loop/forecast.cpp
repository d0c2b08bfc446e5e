// Forecasts of fields on the sphere, beside the two forecasts that cost nothing: that all stays as it is (persistence),
// and that it will be as usual (climatology of the training part).
#include <ATen/ATen.h>

#include "gradwatt/training/loop/objective.hpp"
#include "gradwatt/training/models/field_metrics.hpp"
#include "gradwatt/training/models/loss.hpp"

namespace gradwatt::training {
namespace {

class Forecast final : public Objective {
 public:
  explicit Forecast(std::shared_ptr<const FieldDataset> fields)
      : fields_(std::move(fields)), weights_(latitude_weights(fields_->grid().latitudes_deg)) {}

  torch::Tensor loss(Model& model, const torch::Tensor& input, const torch::Tensor& target) override {
    return roll_out_loss(model, input, steps_of(target)).div(static_cast<double>(fields_->steps()));
  }

  /// Of the first step of the forecast.
  std::vector<double> score(Model& model, const torch::Tensor& input, const torch::Tensor& target,
                            std::span<const std::size_t> indices) override {
    const auto output = model.forward(input), first = steps_of(target)[0];
    const auto forecast = whole(output, indices, 1), truth = whole(first, indices, 1), same = whole(input, indices, 0);
    const auto usual = climatology(indices);
    const auto count = static_cast<double>(input.size(0));
    const auto rmse = [&](const torch::Tensor& fields) {
      return weighted_rmse(fields, truth, weights_).mean(1).sum().item<double>();
    };
    const auto acc = [&](const torch::Tensor& fields) {
      return anomaly_correlation(fields, truth, usual, weights_).mean(1).sum().item<double>();
    };
    const auto loss = relative_l2(output, first).item<double>() * count;
    return {rmse(forecast), rmse(same), rmse(usual), acc(forecast), acc(same), loss, count};
  }

  Metrics metrics(const std::vector<double>& sums) const override {
    const double n = sums[6];
    return {{"rmse", sums[0] / n}, {"rmse_persistence", sums[1] / n}, {"rmse_climatology", sums[2] / n},
            {"acc", sums[3] / n},  {"acc_persistence", sums[4] / n},  {"loss", sums[5] / n},
            {"examples", n}};
  }
  std::size_t sums() const override { return 7; }

 private:
  /// The targets of the forecast's steps: batch × channels × rows × columns each.
  [[nodiscard]] std::vector<torch::Tensor> steps_of(const torch::Tensor& target) const {
    if (target.dim() == 4) return {target};
    return target.unbind(1);
  }

  /// With what the data set had taken away from the fields `step` steps after the inputs; double precision.
  [[nodiscard]] torch::Tensor whole(const torch::Tensor& fields, std::span<const std::size_t> indices, int step) const {
    auto sum = fields.to(at::kCPU, at::kDouble, /*non_blocking=*/false, /*copy=*/true);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto removed = fields_->removed(indices[i], step);
      if (removed.empty()) continue;
      auto field = sum[static_cast<std::int64_t>(i)];
      const auto cycle = at::from_blob(const_cast<float*>(removed.data()), field.sizes());  // NOLINT: only read
      field.add_(cycle);
    }
    return sum;
  }

  [[nodiscard]] torch::Tensor climatology(std::span<const std::size_t> indices) const {
    const auto& grid = fields_->grid();
    const auto channels = static_cast<std::int64_t>(grid.channels.size());
    auto usual = at::empty({static_cast<std::int64_t>(indices.size()), channels, grid.rows(), grid.columns});
    const auto size = grid.field_size();
    for (std::size_t i = 0; i < indices.size(); ++i)
      fields_->climatology(indices[i], 0, {usual.data_ptr<float>() + i * size, size});
    return usual.to(at::kDouble);
  }

  std::shared_ptr<const FieldDataset> fields_;
  torch::Tensor weights_;
};

}  // namespace

std::unique_ptr<Objective> make_forecast(std::shared_ptr<const FieldDataset> validation) {
  return std::make_unique<Forecast>(std::move(validation));
}

}  // namespace gradwatt::training

#include <ATen/ATen.h>

#include "gradwatt/training/loop/objective.hpp"
#include "gradwatt/training/models/loss.hpp"

namespace gradwatt::training {
namespace {

class Classification final : public Objective {
 public:
  explicit Classification(double smoothing) : smoothing_(smoothing) {}

  torch::Tensor loss(Model& model, const torch::Tensor& input, const torch::Tensor& target) override {
    return cross_entropy(model.forward(input), target, smoothing_);
  }

  std::vector<double> score(Model& model, const torch::Tensor& input, const torch::Tensor& target,
                            std::span<const std::size_t> /*indices*/) override {
    const auto logits = model.forward(input);
    const auto count = static_cast<double>(target.size(0));
    const double loss = cross_entropy(logits, target).item<double>() * count;
    const auto correct = logits.argmax(1).eq(target).sum().item<double>();
    return {loss, correct, count};
  }

  Metrics metrics(const std::vector<double>& sums) const override {
    return {{"accuracy_pct", 100 * sums[1] / sums[2]}, {"loss", sums[0] / sums[2]}, {"examples", sums[2]}};
  }
  std::size_t sums() const override { return 3; }

 private:
  double smoothing_;
};

}  // namespace

std::unique_ptr<Objective> make_classification(const Recipe& recipe) {
  return std::make_unique<Classification>(recipe.label_smoothing);
}

}  // namespace gradwatt::training

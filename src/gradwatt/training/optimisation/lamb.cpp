// r = m̂/(√v̂ + ε) + wd·w with Adam's moments;  trust = ‖w‖/‖r‖, 1 when either is 0;  w ← w − lr·trust·r.
#include <ATen/ATen.h>

#include <cmath>

#include "gradwatt/training/optimisation/elementwise.hpp"
#include "gradwatt/training/optimisation/rules.hpp"

namespace gradwatt::training {
namespace {

class Lamb final : public Optimizer {
 public:
  Lamb(NamedTensors parameters, OptimizerSpec spec) : Optimizer(std::move(parameters), spec, {"mean", "square"}) {}

 private:
  void update(torch::Tensor& w, const torch::Tensor& g, std::vector<torch::Tensor>& slots, double lr) override {
    const double mean_scale = 1 - std::pow(spec_.beta1, static_cast<double>(steps_));
    const double square_scale = 1 - std::pow(spec_.beta2, static_cast<double>(steps_));
    const double decay = is_spared(w) ? 0 : spec_.weight_decay, epsilon = spec_.epsilon.value_or(1e-6);
    slots[0].mul_(spec_.beta1).add_(g, 1 - spec_.beta1);
    slots[1].mul_(spec_.beta2).addcmul_(g, g, 1 - spec_.beta2);
    auto r = slots[0].div(mean_scale).div_(slots[1].div(square_scale).sqrt_().add_(epsilon));
    if (decay > 0) r.add_(w, decay);
    w.add_(r, -lr * (is_spared(w) ? 1 : trust_of(w, r)));
  }

  static double trust_of(const torch::Tensor& w, const torch::Tensor& r) {
    const double weight_norm = w.norm().item<double>(), step_norm = r.norm().item<double>();
    return weight_norm == 0 || step_norm == 0 ? 1 : weight_norm / step_norm;
  }
};

}  // namespace

std::unique_ptr<Optimizer> make_lamb(NamedTensors parameters, OptimizerSpec spec) {
  return std::make_unique<Lamb>(std::move(parameters), std::move(spec));
}

}  // namespace gradwatt::training

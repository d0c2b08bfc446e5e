// w ← w·(1 − lr·wd);  m ← β₁m + (1−β₁)g;  v ← β₂v + (1−β₂)g²;  w ← w − lr·m̂/(√v̂ + ε), with bias correction.
#include <ATen/ATen.h>

#include <cmath>

#include "gradwatt/training/optimisation/elementwise.hpp"
#include "gradwatt/training/optimisation/rules.hpp"

namespace gradwatt::training {
namespace {

class AdamW final : public Optimizer {
 public:
  AdamW(NamedTensors parameters, OptimizerSpec spec) : Optimizer(std::move(parameters), spec, {"mean", "square"}) {}

 private:
  void update(torch::Tensor& w, const torch::Tensor& g, std::vector<torch::Tensor>& slots, double lr) override {
    const double keep = is_spared(w) ? 1 : 1 - lr * spec_.weight_decay;
    const double mean_scale = 1 - std::pow(spec_.beta1, static_cast<double>(steps_));
    const double root_scale = std::sqrt(1 - std::pow(spec_.beta2, static_cast<double>(steps_)));
    const double rate = lr / mean_scale, epsilon = spec_.epsilon.value_or(1e-8);
    if (!walk_alike(w, g, slots[0], slots[1])) {
      w.mul_(keep);
      slots[0].mul_(spec_.beta1).add_(g, 1 - spec_.beta1);
      slots[1].mul_(spec_.beta2).addcmul_(g, g, 1 - spec_.beta2);
      w.addcdiv_(slots[0], slots[1].sqrt().div_(root_scale).add_(epsilon), -rate);
      return;
    }
    w.scalar_type() == at::kDouble ? in_one_pass<double>(w, g, slots, keep, rate, root_scale, epsilon)
                                   : in_one_pass<float>(w, g, slots, keep, rate, root_scale, epsilon);
  }

  template <class T>
  void in_one_pass(torch::Tensor& w, const torch::Tensor& g, std::vector<torch::Tensor>& slots, double keep_weight,
                   double scaled_rate, double root_scale, double epsilon) const {
    const T keep = static_cast<T>(keep_weight), rate = static_cast<T>(scaled_rate), eps = static_cast<T>(epsilon);
    const T b1 = static_cast<T>(spec_.beta1), b2 = static_cast<T>(spec_.beta2);
    const T inverse_root = static_cast<T>(1 / root_scale);
    for_each_element<T>(
        [=](T& weight, T& gradient, T& mean, T& square) {
          mean = b1 * mean + (1 - b1) * gradient;
          square = b2 * square + (1 - b2) * gradient * gradient;
          weight = keep * weight - rate * mean / (std::sqrt(square) * inverse_root + eps);
        },
        w, g, slots[0], slots[1]);
  }
};

}  // namespace

std::unique_ptr<Optimizer> make_adamw(NamedTensors parameters, OptimizerSpec spec) {
  return std::make_unique<AdamW>(std::move(parameters), std::move(spec));
}

}  // namespace gradwatt::training

// λ = η‖w‖ / (‖g‖ + wd·‖w‖), 1 when either norm is 0;  v ← μv + lr·λ·(g + wd·w);  w ← w − v.
#include <ATen/ATen.h>

#include "gradwatt/training/optimisation/elementwise.hpp"
#include "gradwatt/training/optimisation/rules.hpp"

namespace gradwatt::training {
namespace {

class Lars final : public Optimizer {
 public:
  Lars(NamedTensors parameters, OptimizerSpec spec) : Optimizer(std::move(parameters), spec, {"momentum"}) {}

 private:
  void update(torch::Tensor& w, const torch::Tensor& g, std::vector<torch::Tensor>& slots, double lr) override {
    const double decay = is_spared(w) ? 0 : spec_.weight_decay;
    const double rate = lr * (is_spared(w) ? 1 : local_rate(w, g));
    auto& v = slots[0];
    if (!walk_alike(w, g, v)) {
      v.mul_(spec_.momentum).add_(g.add(w, decay), rate);
      w.sub_(v);
      return;
    }
    w.scalar_type() == at::kDouble ? in_one_pass<double>(w, g, v, rate, decay)
                                   : in_one_pass<float>(w, g, v, rate, decay);
  }

  [[nodiscard]] double local_rate(const torch::Tensor& w, const torch::Tensor& g) const {
    const double weight_norm = w.norm().item<double>(), gradient_norm = g.norm().item<double>();
    if (weight_norm == 0 || gradient_norm == 0) return 1;
    return spec_.trust * weight_norm / (gradient_norm + spec_.weight_decay * weight_norm);
  }

  template <class T>
  void in_one_pass(torch::Tensor& w, const torch::Tensor& g, torch::Tensor& v, double scaled_rate, double decay) const {
    const T rate = static_cast<T>(scaled_rate), wd = static_cast<T>(decay), mu = static_cast<T>(spec_.momentum);
    for_each_element<T>(
        [=](T& weight, T& gradient, T& velocity) {
          velocity = mu * velocity + rate * (gradient + wd * weight);
          weight -= velocity;
        },
        w, g, v);
  }
};

}  // namespace

std::unique_ptr<Optimizer> make_lars(NamedTensors parameters, OptimizerSpec spec) {
  return std::make_unique<Lars>(std::move(parameters), std::move(spec));
}

}  // namespace gradwatt::training

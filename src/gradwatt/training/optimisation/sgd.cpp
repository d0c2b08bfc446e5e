// d = g + wd·w;  v ← μ·v + d (the first time v = d);  w ← w − lr·v, or w − lr·(d + μ·v) with Nesterov.
#include <ATen/ATen.h>

#include "gradwatt/training/optimisation/elementwise.hpp"
#include "gradwatt/training/optimisation/rules.hpp"

namespace gradwatt::training {
namespace {

class Sgd final : public Optimizer {
 public:
  Sgd(NamedTensors parameters, OptimizerSpec spec)
      : Optimizer(std::move(parameters), spec,
                  spec.momentum > 0 ? std::vector<std::string>{"momentum"} : std::vector<std::string>{}) {}

 private:
  void update(torch::Tensor& w, const torch::Tensor& g, std::vector<torch::Tensor>& slots, double lr) override {
    const double decay = is_spared(w) ? 0 : spec_.weight_decay;
    const bool fused = slots.empty() ? walk_alike(w, g) : walk_alike(w, g, slots[0]);
    if (!fused) return by_operations(w, g, slots, lr, decay);
    w.scalar_type() == at::kDouble ? in_one_pass<double>(w, g, slots, lr, decay)
                                   : in_one_pass<float>(w, g, slots, lr, decay);
  }

  // A velocity of zero makes the first step v = d without a special case.
  template <class T>
  void in_one_pass(torch::Tensor& w, const torch::Tensor& g, std::vector<torch::Tensor>& slots, double lr,
                   double decay) const {
    const T rate = static_cast<T>(lr), wd = static_cast<T>(decay), mu = static_cast<T>(spec_.momentum);
    if (slots.empty())
      for_each_element<T>([=](T& weight, T& gradient) { weight -= rate * (gradient + wd * weight); }, w, g);
    else if (spec_.nesterov)
      for_each_element<T>(
          [=](T& weight, T& gradient, T& velocity) {
            const T d = gradient + wd * weight;
            velocity = mu * velocity + d;
            weight -= rate * (d + mu * velocity);
          },
          w, g, slots[0]);
    else
      for_each_element<T>(
          [=](T& weight, T& gradient, T& velocity) {
            velocity = mu * velocity + (gradient + wd * weight);
            weight -= rate * velocity;
          },
          w, g, slots[0]);
  }

  void by_operations(torch::Tensor& w, const torch::Tensor& g, std::vector<torch::Tensor>& slots, double lr,
                     double decay) const {
    auto d = decay > 0 ? g.add(w, decay) : g;
    if (!slots.empty()) {
      slots[0].mul_(spec_.momentum).add_(d);
      d = spec_.nesterov ? d.add(slots[0], spec_.momentum) : slots[0];
    }
    w.add_(d, -lr);
  }
};

}  // namespace

std::unique_ptr<Optimizer> make_sgd(NamedTensors parameters, OptimizerSpec spec) {
  return std::make_unique<Sgd>(std::move(parameters), std::move(spec));
}

}  // namespace gradwatt::training

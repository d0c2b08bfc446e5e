#include "gradwatt/training/optimisation/optimizer.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "gradwatt/core/text.hpp"
#include "gradwatt/training/optimisation/rules.hpp"

namespace gradwatt::training {
namespace {

constexpr std::string_view kStepCount = "optimizer.steps";

struct Rule {
  std::string_view name;
  std::unique_ptr<Optimizer> (*make)(NamedTensors, OptimizerSpec);
};
constexpr Rule kRules[] = {{"sgd", make_sgd}, {"adamw", make_adamw}, {"lars", make_lars}, {"lamb", make_lamb}};

std::string state_name(const std::string& slot, const std::string& parameter) { return slot + '/' + parameter; }

std::optional<std::string> wrong_value(const OptimizerSpec& spec) {
  const auto check = [](std::string_view name, double value, bool good) -> std::optional<std::string> {
    if (good) return std::nullopt;
    return fmt::format("optimizer {} = {} makes no sense", name, value);
  };
  const auto share = [](double v) { return v >= 0 && v < 1; };
  for (const auto& problem :
       {check("momentum", spec.momentum, share(spec.momentum)), check("beta1", spec.beta1, share(spec.beta1)),
        check("beta2", spec.beta2, share(spec.beta2)), check("weight_decay", spec.weight_decay, spec.weight_decay >= 0),
        check("epsilon", spec.epsilon.value_or(1), spec.epsilon.value_or(1) > 0),
        check("trust", spec.trust, spec.trust > 0)})
    if (problem) return problem;
  if (spec.nesterov && spec.momentum == 0) return "nesterov needs a momentum above 0";
  return std::nullopt;
}

}  // namespace

Optimizer::Optimizer(NamedTensors parameters, OptimizerSpec spec, std::vector<std::string> slot_names)
    : spec_(std::move(spec)), parameters_(std::move(parameters)), slot_names_(std::move(slot_names)) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, parameter] : parameters_) {
    std::vector<torch::Tensor> slots;
    for (std::size_t s = 0; s < slot_names_.size(); ++s) slots.push_back(at::zeros_like(parameter));
    slots_.push_back(std::move(slots));
  }
}

void Optimizer::step(double learning_rate) {
  const torch::NoGradGuard no_grad;
  ++steps_;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    auto& parameter = parameters_[i].second;
    if (parameter.grad().defined()) update(parameter, parameter.grad(), slots_[i], learning_rate);
  }
}

void Optimizer::zero_gradients() {
  const torch::NoGradGuard no_grad;
  for (auto& [name, parameter] : parameters_)
    if (parameter.grad().defined()) parameter.mutable_grad().zero_();
}

NamedTensors Optimizer::state() const {
  NamedTensors state{{std::string(kStepCount), at::scalar_tensor(steps_, at::kLong)}};
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    for (std::size_t s = 0; s < slot_names_.size(); ++s)
      state.emplace_back(state_name(slot_names_[s], parameters_[i].first), slots_[i][s]);
  return state;
}

core::Result<void> Optimizer::load(const NamedTensors& state) {
  std::map<std::string, torch::Tensor> by_name(state.begin(), state.end());
  const auto steps = by_name.find(std::string(kStepCount));
  if (steps == by_name.end())
    return core::fail(core::Errc::unusable_input, fmt::format("the checkpoint has no {}", kStepCount));
  std::vector<std::pair<torch::Tensor, torch::Tensor>> copies;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    for (std::size_t s = 0; s < slot_names_.size(); ++s) {
      const auto name = state_name(slot_names_[s], parameters_[i].first);
      const auto found = by_name.find(name);
      if (found == by_name.end() || found->second.sizes() != slots_[i][s].sizes())
        return core::fail(core::Errc::unusable_input,
                          fmt::format("the checkpoint has no {} of the model's shape; it was written with another "
                                      "optimizer or model",
                                      name));
      copies.emplace_back(slots_[i][s], found->second);
    }
  // Nothing is changed before all is known to fit.
  const torch::NoGradGuard no_grad;
  for (auto& [to, from] : copies) to.copy_(from);
  steps_ = steps->second.item<std::int64_t>();
  return {};
}

std::vector<std::string_view> optimizer_names() {
  std::vector<std::string_view> names;
  for (const auto& rule : kRules) names.push_back(rule.name);
  return names;
}

core::Result<std::unique_ptr<Optimizer>> make_optimizer(const OptimizerSpec& spec, NamedTensors parameters) {
  if (const auto problem = wrong_value(spec)) return core::fail(core::Errc::wrong_use, *problem);
  for (const auto& rule : kRules)
    if (rule.name == spec.name) return rule.make(std::move(parameters), spec);
  const auto names = optimizer_names();
  const auto nearest = core::nearest(spec.name, names);
  return core::fail(core::Errc::wrong_use,
                    fmt::format("there is no optimizer '{}'{}", spec.name,
                                nearest ? fmt::format("; did you mean '{}'?", *nearest)
                                        : fmt::format("; there are {}", fmt::join(names, ", "))));
}

}  // namespace gradwatt::training

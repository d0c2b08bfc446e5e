// Update rules as one pass over each parameter: reading gradient, state and weight once costs half of what the same
// rule costs as a chain of tensor operations.
//
// Rules and constants: SGD and AdamW as in PyTorch; LARS 1708.03888; LAMB 1904.00962. The learning rate is handed in at
// each step (schedule.hpp), so that no velocity has to be rescaled when it changes.
#pragma once

#include <torch/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/named_tensors.hpp"

namespace gradwatt::training {

struct OptimizerSpec {
  std::string name = "sgd";  ///< sgd, adamw, lars, lamb
  double momentum = 0.9;     ///< sgd, lars
  bool nesterov = false;     ///< sgd
  double weight_decay = 0;
  double beta1 = 0.9, beta2 = 0.999;  ///< adamw, lamb
  std::optional<double> epsilon;      ///< adamw 1e-8, lamb 1e-6
  double trust = 1e-3;                ///< lars: η
  /// Biases and batch-norm parameters (one dimension) are not decayed; for LARS and LAMB they are not scaled either.
  bool spare_vectors = false;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// One update from the gradients as they are; parameters without one stay.
  void step(double learning_rate);
  /// Zero, in place: gradients may be views of a communication buffer.
  void zero_gradients();
  /// Everything that a resumed run needs, by name; load() takes the same. Errors: unusable_input, with the name.
  [[nodiscard]] NamedTensors state() const;
  core::Result<void> load(const NamedTensors& state);

  [[nodiscard]] const NamedTensors& parameters() const { return parameters_; }

 protected:
  Optimizer(NamedTensors parameters, OptimizerSpec spec, std::vector<std::string> slot_names);
  /// Updates one parameter. `slots`: its state, zero at the beginning, in the order of the names.
  virtual void update(torch::Tensor& parameter, const torch::Tensor& gradient, std::vector<torch::Tensor>& slots,
                      double learning_rate) = 0;
  [[nodiscard]] bool is_spared(const torch::Tensor& parameter) const {
    return spec_.spare_vectors && parameter.dim() < 2;
  }
  OptimizerSpec spec_;
  std::int64_t steps_ = 0;  ///< this one included

 private:
  NamedTensors parameters_;
  std::vector<std::string> slot_names_;
  std::vector<std::vector<torch::Tensor>> slots_;  // by parameter
};

[[nodiscard]] std::vector<std::string_view> optimizer_names();
/// Errors: wrong_use for an unknown name (with the nearest one) or a value out of range.
[[nodiscard]] core::Result<std::unique_ptr<Optimizer>> make_optimizer(const OptimizerSpec& spec,
                                                                      NamedTensors parameters);

}  // namespace gradwatt::training

// Many tensors as one flat one, to be sent in one piece.
#pragma once

#include <torch/types.h>

#include <vector>

#include "gradwatt/training/named_tensors.hpp"

namespace gradwatt::training {

class FlatTensors {
 public:
  /// Tensors of one type, at least one; those that `named` holds, not their values. The flat one lies in host memory
  /// unless told otherwise.
  explicit FlatTensors(const NamedTensors& named, at::Device device = at::kCPU);

  /// Copies of the tensors' gradients or values, in `flat()`. A gradient that did not come is an exception.
  torch::Tensor& take_gradients();
  torch::Tensor& take_values();
  void give_gradients() const;
  void give_values() const;
  /// The same for another flat tensor of that length.
  void give_values(const torch::Tensor& flat) const;

  [[nodiscard]] torch::Tensor& flat() { return flat_; }
  [[nodiscard]] std::int64_t numel() const { return flat_.numel(); }
  [[nodiscard]] at::ScalarType type() const { return flat_.scalar_type(); }
  [[nodiscard]] double bytes() const { return static_cast<double>(flat_.nbytes()); }

 private:
  template <class Visit>
  void each(const torch::Tensor& flat, Visit visit) const;

  std::vector<torch::Tensor> tensors_;
  torch::Tensor flat_;
};

}  // namespace gradwatt::training

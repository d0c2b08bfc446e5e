// What a model owes the registry beside its forward pass: it is built with empty parameters, then described or
// initialised.
#pragma once

#include <ATen/core/Generator.h>

#include <vector>

#include "gradwatt/training/models/layer_list.hpp"
#include "gradwatt/training/models/model.hpp"

namespace gradwatt::training {

class BuiltModel : public Model {
 public:
  /// Gives every parameter its first value.
  virtual void initialize(at::Generator& random) = 0;
  /// Lines in the order of the forward pass of one sample (channels × height × width).
  [[nodiscard]] virtual std::vector<LayerLine> list_layers(const Shape& input) const = 0;
};

}  // namespace gradwatt::training

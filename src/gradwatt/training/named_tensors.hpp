// Tensors with their names, in an order that all ranks share: parameters, buffers, the state of an optimizer.
#pragma once

#include <torch/types.h>

#include <string>
#include <utility>
#include <vector>

namespace gradwatt::training {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

}  // namespace gradwatt::training

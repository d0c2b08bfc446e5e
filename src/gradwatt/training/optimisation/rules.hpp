// The update rules, one file each; private to this folder.
#pragma once

#include "gradwatt/training/optimisation/optimizer.hpp"

namespace gradwatt::training {

std::unique_ptr<Optimizer> make_sgd(NamedTensors parameters, OptimizerSpec spec);
std::unique_ptr<Optimizer> make_adamw(NamedTensors parameters, OptimizerSpec spec);
std::unique_ptr<Optimizer> make_lars(NamedTensors parameters, OptimizerSpec spec);
std::unique_ptr<Optimizer> make_lamb(NamedTensors parameters, OptimizerSpec spec);

}  // namespace gradwatt::training

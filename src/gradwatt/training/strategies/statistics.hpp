// Running statistics of batch norms, where ranks train on their own for a while: averaged when they meet.
#pragma once

#include "gradwatt/training/gradient_sync/communicator.hpp"
#include "gradwatt/training/named_tensors.hpp"

namespace gradwatt::training {

/// Floating tensors become the mean over the ranks; counts stay. A collective.
void average_statistics(Communicator& ranks, const NamedTensors& statistics);

}  // namespace gradwatt::training

// What tests of several ranks share: all ranks of mpirun run every test, rank 0 prints.
#pragma once

#include <memory>

#include "gradwatt/training/gradient_sync/communicator.hpp"

namespace gradwatt::training {

extern std::unique_ptr<Communicator> ranks;  ///< open while the tests run

}  // namespace gradwatt::training

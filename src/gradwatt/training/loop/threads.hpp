// How many threads one rank's operations use, in all the libraries that have threads.
#pragma once

namespace gradwatt::training {

/// LibTorch's own operations and the matrix products of OpenBLAS, whose threads LibTorch does not know of.
void use_threads(int count);

}  // namespace gradwatt::training

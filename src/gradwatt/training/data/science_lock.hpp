// HDF5 and netCDF keep state for the whole process and do not lock it (unless built so, which no package promises).
#pragma once

#include <mutex>

namespace gradwatt::training {

/// Held around every call of either library, netCDF-4 being HDF5 inside. Not for more than one read at a time.
[[nodiscard]] std::unique_lock<std::mutex> lock_science_libraries();

}  // namespace gradwatt::training

#include "gradwatt/training/data/science_lock.hpp"

namespace gradwatt::training {

std::unique_lock<std::mutex> lock_science_libraries() {
  static std::mutex mutex;  // guards the libraries' state, which is as global as it
  return std::unique_lock(mutex);
}

}  // namespace gradwatt::training

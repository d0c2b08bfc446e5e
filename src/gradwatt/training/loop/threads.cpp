#include "gradwatt/training/loop/threads.hpp"

#include <ATen/Parallel.h>
#include <dlfcn.h>

namespace gradwatt::training {

void use_threads(int count) {
  at::set_num_threads(count);
  // Which BLAS is there is decided when the program starts (Debian's alternatives), so it is asked for by name.
  using Set = void (*)(int);
  if (auto* set = reinterpret_cast<Set>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set(count);  // NOLINT
}

}  // namespace gradwatt::training

#include "gradwatt/launch/descriptor.hpp"

#include <unistd.h>

namespace gradwatt::launch {

void Descriptor::reset(int number) {
  if (number_ >= 0) ::close(number_);
  number_ = number;
}

}  // namespace gradwatt::launch

// Stand-in for a header that reducer.hpp includes and some LibTorch packages leave out (Debian's libtorch-dev 1.13): the
// two names of it that reducer.hpp mentions. Used only where the real header is not installed.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>

namespace torch::distributed::autograd {

class DistAutogradContext {
 public:
  using GradCallback = std::function<bool(at::Tensor&)>;
};
using ContextPtr = std::shared_ptr<DistAutogradContext>;

}  // namespace torch::distributed::autograd

// Mixed precision for one forward pass. LibTorch has no guard for C++, and its calls changed names between versions:
// both are here alone.
#pragma once

#include <torch/types.h>

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/loop/recipe.hpp"

namespace gradwatt::training {

/// While it lives, operations of this thread on `device` compute in the type given. May be nested with the same type: the
/// outermost one's end switches it off and drops cached casts of weights.
class Autocast {
 public:
  Autocast(Precision precision, c10::DeviceType device);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  bool active_;
  c10::DeviceType device_;
};

/// Errors: not_supported where this device or LibTorch cannot compute so.
[[nodiscard]] core::Result<void> check_precision(Precision precision, c10::DeviceType device);

}  // namespace gradwatt::training

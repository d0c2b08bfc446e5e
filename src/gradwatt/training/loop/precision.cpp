#include "gradwatt/training/loop/precision.hpp"

#include <ATen/autocast_mode.h>
#include <torch/version.h>

namespace gradwatt::training {
namespace {

at::ScalarType type_of(Precision precision) { return precision == Precision::bf16 ? at::kBFloat16 : at::kHalf; }

// LibTorch 2.4 made one call a device type of what were two calls.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
void switch_autocast(c10::DeviceType device, bool on, at::ScalarType type) {
  at::autocast::set_autocast_enabled(device, on);
  if (on) at::autocast::set_autocast_dtype(device, type);
}
#else
void switch_autocast(c10::DeviceType device, bool on, at::ScalarType type) {
  if (device == c10::DeviceType::CPU) {
    at::autocast::set_cpu_enabled(on);
    if (on) at::autocast::set_autocast_cpu_dtype(type);
  } else {
    at::autocast::set_enabled(on);
    if (on) at::autocast::set_autocast_gpu_dtype(type);
  }
}
#endif

}  // namespace

Autocast::Autocast(Precision precision, c10::DeviceType device)
    : active_(precision == Precision::bf16 || precision == Precision::fp16), device_(device) {
  if (!active_) return;
  switch_autocast(device_, true, type_of(precision));
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (!active_) return;
  if (at::autocast::decrement_nesting() > 0) return;
  at::autocast::clear_cache();
  switch_autocast(device_, false, at::kFloat);
}

core::Result<void> check_precision(Precision precision, c10::DeviceType device) {
  if (precision == Precision::fp16 && device == c10::DeviceType::CPU)
    return core::fail(core::Errc::not_supported,
                      "fp16 cannot be computed on a CPU by this LibTorch; use run.precision = \"bf16\"");
  return {};
}

}  // namespace gradwatt::training

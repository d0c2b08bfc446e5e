#include "gradwatt/training/optimisation/guarded_update.hpp"

#include <cmath>

#include "gradwatt/training/optimisation/gradients.hpp"

namespace gradwatt::training {

bool guarded_update(Optimizer& optimizer, LossScaler& scaler, const UpdateGuard& guard, double rate) {
  bool overflow = guard.overflow.value_or(false);
  double factor = 1 / scaler.scale();
  const bool look = guard.look_for_overflow && !guard.overflow;
  if (!overflow && (guard.clip > 0 || look)) {
    const double norm = gradient_norm(optimizer.parameters()) * factor;
    overflow = guard.overflow.value_or(!std::isfinite(norm));
    if (guard.clip > 0 && !overflow) factor *= clip_factor(norm, guard.clip);
  }
  if (!overflow) {
    scale_gradients(optimizer.parameters(), factor);
    optimizer.step(rate);
  }
  scaler.update(overflow);
  return !overflow;
}

}  // namespace gradwatt::training

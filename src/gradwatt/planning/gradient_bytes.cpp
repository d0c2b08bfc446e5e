#include "gradwatt/planning/gradient_bytes.hpp"

#include "gradwatt/energy/steps.hpp"

namespace gradwatt::planning {

GradientBytes gradient_bytes_of(const record::Run& run) {
  constexpr double kFp32_bytes = 4;
  if (const auto bytes = energy::fact_number(run, "ddp.parameter_bytes")) return {bytes, false};
  if (const auto parameters = energy::fact_number(run, "job.parameters")) return {kFp32_bytes * *parameters, true};
  return {};
}

}  // namespace gradwatt::planning

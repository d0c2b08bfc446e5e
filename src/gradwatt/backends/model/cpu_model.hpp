// Power of the host's CPU packages from their utilisation, where nothing measures it. Formula, validity and origin
// stand with catalog::CpuPowerCurve; the full power comes from the CPU table or, for a CPU that is not in it, from its
// number of cores with a wide range.
//
// In a virtual machine only the guest's share is modelled: its virtual CPUs, each taken as half a core (one of two
// hardware threads). What the physical CPU draws for others is not seen.
#pragma once

#include <string>

#include "gradwatt/catalog/host_cpu.hpp"

namespace gradwatt::model {

/// One package of the model (in a virtual machine: what the guest has of it).
struct CpuModel {
  int package = 0;
  std::vector<int> cpus;
  double full_w = 0;
  double low = 1, high = 1;  ///< factors on the modelled power between which the true one is expected
  std::string rests_on;      ///< one sentence for the reader
  std::string cpu_name;
};

/// One model a package; empty when the host's CPUs are not known.
[[nodiscard]] std::vector<CpuModel> make_cpu_models(const catalog::HostCpu& cpu);

}  // namespace gradwatt::model

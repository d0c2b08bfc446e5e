// How fast the links of known machines are at least: a healthy machine reaches these, so one below them has a fault.
// A new platform is one row in floors.cpp.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace gradwatt::catalog {

/// All figures are lower bounds as a health check asks for them; GB is 1e9 bytes. Nothing: not stated.
struct LinkFloor {
  std::string_view platform;                  ///< for people: "H100 SXM, 8 a node"
  std::string_view gpu;                       ///< part of the product name that nvidia-smi prints
  int gpus;                                   ///< a node that the all-reduce runs over
  std::optional<double> host_copy_gb_per_s;   ///< host to device and back, each
  std::optional<double> peer_copy_gb_per_s;   ///< device to device
  std::optional<double> all_reduce_gb_per_s;  ///< bus bandwidth of nccl-tests for large messages
  std::optional<double> rdma_gbit_per_s;      ///< of one network card
  std::string_view source;
  bool is_report = false;  ///< what one user measured, no bound of a health check
};
[[nodiscard]] std::span<const LinkFloor> link_floors();

/// The row of a GPU by its product name and how many take part on a node; null where no row is exactly that. Names are
/// compared without case; of several that fit the most exact one is taken ("H100 NVL" before "H100").
[[nodiscard]] const LinkFloor* find_floor(std::string_view gpu_name, int gpus);

}  // namespace gradwatt::catalog

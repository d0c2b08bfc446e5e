#include "gradwatt/catalog/floors.hpp"

#include <array>

#include "gradwatt/core/text.hpp"

namespace gradwatt::catalog {
namespace {

constexpr std::string_view kAzure = "Azure/azurehpc-health-checks, configurations per machine type (May 2026)";
constexpr std::string_view kUser = "NVIDIA/nccl issue 1639: one user's measurement";
constexpr std::optional<double> kNone;

constexpr auto kFloors = std::to_array<LinkFloor>({
    {"V100 SXM2, 8 a node with NVLink (NDv2)", "V100-SXM2", 8, 9, kNone, 110, 78, kAzure},
    {"V100 PCIe (NCv3)", "V100-PCIE", 4, 10, kNone, kNone, kNone, kAzure},
    {"A100 SXM4, 8 a node with NVSwitch (NDv4)", "A100-SXM4", 8, 21, 235, 228, 180, kAzure},
    {"A100 PCIe, 2 with an NVLink bridge", "A100 80GB PCIe", 2, 21, 238, 193, kNone, kAzure},
    {"A100 PCIe, 4 without full NVLink", "A100 80GB PCIe", 4, 21, 238, 25, kNone, kAzure},
    {"H100 SXM5, 8 a node (NDv5)", "H100 80GB HBM3", 8, 48, 335, 460, 380, kAzure},
    {"H100 NVL, a pair", "H100 NVL", 2, 48, 335, 208, kNone, kAzure},
    {"H200 SXM, 8 a node (NDv5)", "H200", 8, 48, 335, 431, 360, kAzure},
    {"MI300X, 8 a node", "MI300X", 8, 48, 44, 314, 390, kAzure},
    {"RTX 5090, 8 without peer-to-peer", "RTX 5090", 8, kNone, kNone, 28, kNone, kUser, true},
    {"RTX 5090, 4 without peer-to-peer", "RTX 5090", 4, kNone, kNone, 35, kNone, kUser, true},
});

}  // namespace

std::span<const LinkFloor> link_floors() { return kFloors; }

const LinkFloor* find_floor(std::string_view gpu_name, int gpus) {
  const auto name = core::to_lower(gpu_name);
  const LinkFloor* best = nullptr;
  for (const auto& row : kFloors) {
    if (row.gpus != gpus || name.find(core::to_lower(row.gpu)) == std::string::npos) continue;
    // "NVIDIA H200 NVL" is no H200 SXM: pairs of it have other links.
    if (row.gpu == "H200" && name.find("nvl") != std::string::npos) continue;
    if (best == nullptr || row.gpu.size() > best->gpu.size()) best = &row;
  }
  return best;
}

}  // namespace gradwatt::catalog

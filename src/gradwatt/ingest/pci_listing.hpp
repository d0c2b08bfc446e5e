// `lspci -vv`: the link that each GPU has against the one that card and slot could have, and access control (ACS) on
// bridges, which sends traffic between GPUs through the root complex.
#pragma once

#include <memory>

#include "gradwatt/ingest/line_witness.hpp"

namespace gradwatt::ingest {

/// Facts: gpu.pcie_gen, gpu.pcie_gen_max, gpu.pcie_width, gpu.pcie_width_max of "PCI 0000:17:00", and host.acs where
/// bridges tell it (that needs root). A link may be slow only because the GPU was idle.
[[nodiscard]] std::unique_ptr<LineWitness> make_pci_listing();

}  // namespace gradwatt::ingest

// A GPU's place on the PCI bus, written alike whoever wrote it: lspci, nvidia-smi and the kernel each have a way.
#pragma once

#include <string>
#include <string_view>

namespace gradwatt::ingest {

/// "0000:9b:00" of "PCI:0000:9b:00", "00000000:9B:00.0", "0000:9b:00.0" or "9b:00.0"; empty for anything else.
[[nodiscard]] std::string pci_address(std::string_view text);

/// How facts name a GPU of which only the place is known: "PCI 0000:9b:00"; empty where pci_address() is. merge() puts
/// the UUID there once another file tells it.
[[nodiscard]] std::string pci_subject(std::string_view text);

}  // namespace gradwatt::ingest

#include "gradwatt/ingest/pci_address.hpp"

#include <algorithm>

#include "gradwatt/core/text.hpp"

namespace gradwatt::ingest {

std::string pci_address(std::string_view text) {
  if (text.starts_with("PCI:")) text.remove_prefix(4);
  if (text.size() > 24) return {};
  auto address = core::to_lower(text);
  if (const auto function = address.find('.'); function != std::string::npos) address.resize(function);
  if (address.size() == 5) address.insert(0, "0000:");
  if (address.size() == 14) address.erase(0, 4);
  if (address.size() != 10 || address[4] != ':' || address[7] != ':') return {};
  const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == ':'; };
  if (!std::ranges::all_of(address, hex) || std::ranges::count(address, ':') != 2) return {};
  return address;
}

std::string pci_subject(std::string_view text) {
  const auto address = pci_address(text);
  return address.empty() ? address : "PCI " + address;
}

}  // namespace gradwatt::ingest

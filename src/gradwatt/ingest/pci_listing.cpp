#include "gradwatt/ingest/pci_listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/pci_address.hpp"
#include "gradwatt/ingest/text_scan.hpp"

namespace gradwatt::ingest {
namespace {

constexpr std::size_t kMostDevices = 65'536;

struct Link {
  std::optional<int> generation, width;
  std::size_t line = 0;
};

/// "Speed 16GT/s, Width x16" with or without "(downgraded)" behind each.
Link link_of(std::string_view text, std::size_t line) {
  struct Speed {
    double gt_per_s;
    int generation;
  };
  constexpr auto kSpeeds = std::to_array<Speed>({{2.5, 1}, {5, 2}, {8, 3}, {16, 4}, {32, 5}, {64, 6}});
  Link link{{}, {}, line};
  if (const auto rate = number_after(text, "Speed ")) {
    const auto* speed = std::ranges::find(kSpeeds, *rate, &Speed::gt_per_s);
    if (speed != kSpeeds.end()) link.generation = speed->generation;
  }
  if (const auto lanes = number_after(text, "Width x"); lanes && *lanes >= 1 && *lanes <= 32)
    link.width = static_cast<int>(*lanes);
  return link;
}

struct PciDevice {
  std::string address;
  bool gpu = false, bridge = false;
  std::optional<Link> able, now;
};

class PciListing final : public LineWitness {
 public:
  [[nodiscard]] std::string_view name() const override { return "lspci"; }

  bool take(const Line& line) override {
    if (take_head(line.text)) return true;
    if (devices_.empty() || line.text.empty() || (line.text.front() != '\t' && line.text.front() != ' ')) return false;
    const auto text = core::trim(line.text);
    auto& device = devices_.back();
    if (text.starts_with("LnkCap:")) device.able = link_of(text, line.number);
    if (text.starts_with("LnkSta:")) device.now = link_of(text, line.number);
    if (text.starts_with("ACSCtl:") && device.bridge) take_access_control(text, line.number);
    return true;
  }

  void finish(Testimony& to) override;

 private:
  // "17:00.0 3D controller: NVIDIA Corporation GA100 [A100 SXM4 80GB] (rev a1)"
  bool take_head(std::string_view text) {
    if (text.size() < 12 || std::isxdigit(static_cast<unsigned char>(text.front())) == 0) return false;
    TextScan scan(text);
    PciDevice device{pci_address(scan.word())};
    if (device.address.empty() || !scan.rest().starts_with(' ') || scan.rest().find(": ") == std::string_view::npos)
      return false;
    const auto kind = scan.rest().substr(1, scan.rest().find(':') - 1);
    device.gpu = (kind.find("3D controller") != std::string_view::npos || kind.find("VGA") != std::string_view::npos) &&
                 scan.rest().find("NVIDIA") != std::string_view::npos;
    device.bridge = kind.find("PCI bridge") != std::string_view::npos;
    if (devices_.size() < kMostDevices) devices_.push_back(std::move(device));
    return true;
  }
  void take_access_control(std::string_view text, std::size_t line) {
    // Requests and completions between peers are redirected only by these bits.
    const bool on = text.find("ReqRedir+") != std::string_view::npos ||
                    text.find("CmpltRedir+") != std::string_view::npos ||
                    text.find("SrcValid+") != std::string_view::npos;
    if (on && access_on_ == 0) access_on_ = line;
    if (access_line_ == 0) access_line_ = line;
  }

  std::vector<PciDevice> devices_;
  std::size_t access_line_ = 0, access_on_ = 0;
};

void PciListing::finish(Testimony& to) {
  std::size_t gpus = 0;
  for (const auto& device : devices_) {
    if (!device.gpu) continue;
    ++gpus;
    const auto add = [&](std::string_view limit, const std::optional<Link>& link) {
      if (!link) return;
      const auto subject = "PCI " + device.address;
      if (link->generation) to.facts.add(fmt::format("gpu.pcie_gen{}", limit), subject, *link->generation, link->line);
      if (link->width) to.facts.add(fmt::format("gpu.pcie_width{}", limit), subject, *link->width, link->line);
    };
    add("_max", device.able);
    add("", device.now);
    const bool slow = device.able && device.now && device.now->generation < device.able->generation;
    if (slow)
      to.notes.add({}, device.now->line,
                   fmt::format("the link of {} runs below its generation; idle GPUs do that too, look again under load",
                               device.address));
  }
  if (access_line_ > 0)
    to.facts.add("host.acs", "host", access_on_ > 0 ? "on" : "off", std::max(access_on_, access_line_));
  if (gpus == 0) to.notes.note("lists no GPU of NVIDIA");
}

}  // namespace

std::unique_ptr<LineWitness> make_pci_listing() { return std::make_unique<PciListing>(); }

}  // namespace gradwatt::ingest

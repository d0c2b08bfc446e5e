#include "gradwatt/ingest/smi_links.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/sample_table.hpp"
#include "gradwatt/ingest/text_scan.hpp"

namespace gradwatt::ingest {

// "GPU 7: NVIDIA A100-SXM4-80GB (UUID: GPU-c7e253b0-…)"
bool SmiLinks::take_gpu(std::string_view text, std::size_t line) {
  TextScan scan(text);
  if (!scan.eat("GPU ")) return false;
  const auto index = scan.integer();
  const auto open = scan.rest().rfind("(UUID: ");
  if (!index || *index < 0 || *index > 4096 || !scan.rest().starts_with(": ") || open == std::string_view::npos)
    return false;
  Gpu gpu{.index = static_cast<int>(*index), .line = line};
  gpu.name = printable(core::trim(scan.rest().substr(2, open - 2)), 80);
  gpu.uuid = printable(TextScan(scan.rest().substr(open + 7)).word(")"), 60);
  if (gpu.uuid.empty()) return false;
  const auto known = std::ranges::find(gpus_, gpu.uuid, &Gpu::uuid);
  current_ = static_cast<std::size_t>(known - gpus_.begin());
  if (known == gpus_.end()) {
    if (gpus_.size() >= kMaxDevices) return true;
    gpus_.push_back(std::move(gpu));
  }
  return true;
}

bool SmiLinks::take(const Line& line) {
  const auto text = core::trim(line.text);
  if (text.size() > 300) return false;
  if (!line.text.starts_with(' ') && !line.text.starts_with('\t') && take_gpu(text, line.number)) return true;
  if (gpus_.empty() || current_ >= gpus_.size()) return false;
  auto& gpu = gpus_[current_];
  TextScan scan(text);
  if (scan.eat("Link ")) {  // "Link 3: 25 GB/s", "Link 3: <inactive>"
    if (!scan.integer() || !scan.eat(":")) return false;
    gpu.asked_for_links = true;
    ++gpu.links;
    gpu.links_up += scan.number().value_or(0) > 0 ? 1 : 0;
    return true;
  }
  if (text.find("all links are inactive") != std::string_view::npos) {
    gpu.asked_for_links = true;
    return true;
  }
  if (text.starts_with("MIG ") && text.find("(UUID: MIG-") != std::string_view::npos) {
    ++gpu.slices;
    return true;
  }
  return false;
}

void SmiLinks::finish(Testimony& to) const {
  for (const auto& gpu : gpus_) {
    record::Device device{.kind = record::DeviceKind::gpu, .uuid = gpu.uuid, .name = gpu.name, .index = gpu.index};
    if (gpu.slices > 0) device.attributes.emplace("mig_slices", std::to_string(gpu.slices));
    const auto same = std::ranges::find(to.run.devices, device.uuid, &record::Device::uuid);
    if (same == to.run.devices.end()) to.run.devices.push_back(std::move(device));
    to.facts.add("gpu.name", gpu.uuid, gpu.name, gpu.line);
    if (gpu.slices > 0) to.facts.add("gpu.mig_mode", gpu.uuid, "Enabled", gpu.line);
    if (!gpu.asked_for_links) continue;
    to.facts.add("gpu.nvlink_links_up", gpu.uuid, static_cast<double>(gpu.links_up), gpu.line);
    if (gpu.links > 0) to.facts.add("gpu.nvlink_links", gpu.uuid, static_cast<double>(gpu.links), gpu.line);
  }
}

}  // namespace gradwatt::ingest

#include "gradwatt/ingest/kineto/copies.hpp"

namespace gradwatt::ingest::kineto {

std::optional<double> HostCopies::rate() const {
  if (bytes == 0 || time_ns <= 0) return std::nullopt;
  return static_cast<double>(bytes) / (time_ns * 1e-9);
}

std::optional<double> HostCopies::pageable_share() const {
  const auto known = static_cast<double>(pageable_bytes) + static_cast<double>(pinned_bytes);
  if (known == 0) return std::nullopt;
  return static_cast<double>(pageable_bytes) / known;
}

HostCopies host_copies(std::span<const DeviceEvent> work, const NameTable& kernels) {
  HostCopies copies;
  for (const auto& event : work) {
    if (event.work != Work::copy || !event.size()) continue;
    const auto& name = kernels.text(event.name);  // "Memcpy HtoD (Pageable -> Device)"
    if (name.find("HtoD") == std::string::npos) continue;
    copies.bytes += *event.size();
    copies.time_ns += static_cast<double>(event.end_ns - event.begin_ns);
    if (name.find("(Pageable") != std::string::npos) copies.pageable_bytes += *event.size();
    if (name.find("(Pinned") != std::string::npos) copies.pinned_bytes += *event.size();
  }
  return copies;
}

}  // namespace gradwatt::ingest::kineto

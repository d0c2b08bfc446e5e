#include "gradwatt/ingest/nccl_line.hpp"

#include <algorithm>
#include <array>

#include "gradwatt/core/text.hpp"

namespace gradwatt::ingest {
namespace {

bool digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// The host of "host:pid:tid", the last word of that form before NCCL's mark.
std::string_view host_of(std::string_view head) {
  std::string_view host;
  for (const auto word : core::split_words(head)) {
    const auto tid = word.rfind(':');
    if (tid == std::string_view::npos || tid == 0 || !digits(word.substr(tid + 1))) continue;
    const auto pid = word.rfind(':', tid - 1);
    if (pid == std::string_view::npos || pid == 0 || !digits(word.substr(pid + 1, tid - pid - 1))) continue;
    host = word.substr(0, pid);
    if (const auto junk = host.find_last_of(":]>"); junk != std::string_view::npos) host.remove_prefix(junk + 1);
  }
  return host.size() <= 253 ? host : std::string_view{};
}

}  // namespace

std::optional<NcclLine> parse_nccl_line(std::string_view line) {
  struct Mark {
    std::string_view text;
    bool warning;
  };
  constexpr auto kMarks = std::to_array<Mark>({{"NCCL INFO ", false}, {"NCCL WARN ", true}, {"NCCL TRACE ", false}});
  for (const auto& [mark, warning] : kMarks) {
    const auto at = line.find(mark);
    if (at == std::string_view::npos) continue;
    return NcclLine{host_of(line.substr(0, std::min<std::size_t>(at, 512))), core::trim(line.substr(at + mark.size())),
                    warning};
  }
  return std::nullopt;
}

std::string transport_of(std::string_view via) {
  if (via.starts_with("P2P/")) return "p2p";
  if (via.starts_with("SHM")) return "shm";
  if (via.starts_with("COLLNET")) return "collnet";
  if (!via.starts_with("NET/")) return {};
  auto plugin = core::to_lower(via.substr(4, via.find('/', 4) - 4));
  if (plugin.find("libfabric") != std::string::npos || plugin == "ofi") return "net-ofi";
  if (plugin.starts_with("ib")) return "net-ib";  // IB, IBext, IBext_v8
  std::erase_if(plugin, [](char c) { return (c < 'a' || c > 'z') && (c < '0' || c > '9'); });
  return plugin.empty() || plugin.size() > 20 ? std::string() : "net-" + plugin;
}

}  // namespace gradwatt::ingest

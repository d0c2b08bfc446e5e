#include "gradwatt/training/strategies/host_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace gradwatt::training {

std::size_t HostLayout::host_of(int rank) const {
  const auto found =
      std::ranges::find_if(hosts, [&](const auto& ranks) { return std::ranges::count(ranks, rank) > 0; });
  return static_cast<std::size_t>(found - hosts.begin());
}

std::size_t HostLayout::place_of(int rank) const {
  const auto& ranks = hosts[host_of(rank)];
  return static_cast<std::size_t>(std::ranges::find(ranks, rank) - ranks.begin());
}

std::vector<int> HostLayout::rail(std::size_t place) const {
  std::vector<int> ranks;
  for (const auto& host : hosts) ranks.push_back(host[place]);
  return ranks;
}

bool HostLayout::equal() const {
  return std::ranges::all_of(hosts, [&](const auto& ranks) { return ranks.size() == hosts.front().size(); });
}

planning::Shape HostLayout::shape() const {
  return {.nodes = static_cast<int>(hosts.size()), .gpus_per_node = static_cast<int>(hosts.front().size())};
}

HostLayout layout_of(const std::vector<Peer>& peers, std::int64_t ranks_per_host) {
  HostLayout layout;
  std::map<std::string, std::size_t> known;
  for (const auto& peer : peers) {
    const auto name = ranks_per_host > 0 ? std::to_string(peer.rank / ranks_per_host) : peer.host;
    const auto [place, is_new] = known.try_emplace(name, layout.hosts.size());
    if (is_new) layout.hosts.emplace_back();
    layout.hosts[place->second].push_back(peer.rank);
  }
  return layout;
}

core::Result<void> check_equal_hosts(const HostLayout& layout, const std::vector<Peer>& peers,
                                     std::string_view strategy) {
  const auto& first = layout.hosts.front();
  for (const auto& host : layout.hosts)
    if (host.size() != first.size())
      return core::fail(
          core::Errc::wrong_use,
          fmt::format(
              "sync.strategy = \"{}\" needs as many ranks on each host, but rank {} ({}) is on a host of {} and "
              "rank {} ({}) on one of {}; start as many on each, or use one-bit or all-reduce",
              strategy, first.front(), peers[static_cast<std::size_t>(first.front())].host, first.size(), host.front(),
              peers[static_cast<std::size_t>(host.front())].host, host.size()));
  return {};
}

}  // namespace gradwatt::training

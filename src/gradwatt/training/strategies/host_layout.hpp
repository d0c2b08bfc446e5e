// Which ranks share a host: what can stay inside a host should.
#pragma once

#include <cstddef>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/planning/collectives/cost.hpp"
#include "gradwatt/training/gradient_sync/communicator.hpp"

namespace gradwatt::training {

struct HostLayout {
  std::vector<std::vector<int>> hosts;  ///< ranks by host, both ascending

  [[nodiscard]] std::size_t host_of(int rank) const;
  /// Place of the rank among those of its host.
  [[nodiscard]] std::size_t place_of(int rank) const;
  /// The ranks of that place on all hosts, which have as many ranks each.
  [[nodiscard]] std::vector<int> rail(std::size_t place) const;
  [[nodiscard]] bool together(int a, int b) const { return host_of(a) == host_of(b); }
  [[nodiscard]] bool equal() const;
  /// For cost models, of equal hosts.
  [[nodiscard]] planning::Shape shape() const;
};

/// Hosts by name; `ranks_per_host` above 0 says instead that so many consecutive ranks count as one host.
[[nodiscard]] HostLayout layout_of(const std::vector<Peer>& peers, std::int64_t ranks_per_host);

/// Errors: wrong_use, naming two hosts whose numbers of ranks differ, and what works there.
[[nodiscard]] core::Result<void> check_equal_hosts(const HostLayout& layout, const std::vector<Peer>& peers,
                                                   std::string_view strategy);

}  // namespace gradwatt::training

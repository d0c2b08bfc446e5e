// One line of NCCL: "host:pid:tid [gpu] NCCL INFO text", whatever a launcher or another process put around it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gradwatt::ingest {

struct NcclLine {
  std::string_view host;  ///< empty where the line does not tell it
  std::string_view text;
  bool warning = false;
};
/// Nothing when the line is not NCCL's.
[[nodiscard]] std::optional<NcclLine> parse_nccl_line(std::string_view line);

/// The path that a channel takes, in the words of the fact comm.transport: "P2P/CUMEM/read" is p2p, "NET/IB/0/GDRDMA"
/// net-ib, "NET/AWS Libfabric/1" net-ofi. Empty: not known.
[[nodiscard]] std::string transport_of(std::string_view via);

}  // namespace gradwatt::ingest

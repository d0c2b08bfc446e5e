// NCCL's variables. Ranges and defaults: NCCL user guide and source, 2.30 (restated); what misled users: field reports.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include "gradwatt/diagnosis/lint/lint_rules.hpp"

namespace gradwatt::diagnosis {
namespace {

using enum LintSeverity;

std::optional<Verdict> check_range(std::string_view value, long long low, long long high) {
  const auto number = whole_number(value);
  if (!number)
    return Verdict{wrong, "NCCL reads whole numbers and drops the rest: 2.5 becomes 2, 0.5 becomes 0",
                   fmt::format("a whole number from {} to {}, or unset it", low, high)};
  if (*number < low || *number > high)
    return Verdict{wrong, fmt::format("outside {} to {}", low, high), "unset it: NCCL chooses itself"};
  if (value.size() > 1 && value.front() == '0' && value.find_first_not_of("0123456789") == std::string_view::npos &&
      value.find_first_not_of('0') != std::string_view::npos)
    return Verdict{wrong, fmt::format("a leading 0 makes it octal: NCCL reads {}", *number),
                   "write it without the leading 0"};
  return std::nullopt;
}

template <long long low, long long high>
std::optional<Verdict> range(std::string_view value, const FactSheet&) {
  return check_range(value, low, high);
}

constexpr long long kMostSockets = 64, kMostThreads = 16;

std::optional<Verdict> socket_pair(std::string_view value, const FactSheet& facts, std::string_view other,
                                   std::string_view name) {
  const auto number = whole_number(value);
  const auto partner = facts.variable(other);
  const auto second = partner ? whole_number(*partner) : std::nullopt;
  if (number && second && *number * *second > kMostSockets)
    return Verdict{wrong,
                   fmt::format("{} × {} is {}; NCCL allows {} sockets", name, other, *number * *second, kMostSockets),
                   "lower one of both"};
  return std::nullopt;
}

std::optional<Verdict> socket_threads(std::string_view value, const FactSheet& facts) {
  if (auto bad = check_range(value, 1, kMostThreads)) return bad;
  if (auto bad = socket_pair(value, facts, "NCCL_NSOCKS_PERTHREAD", "NCCL_SOCKET_NTHREADS")) return bad;
  if (const auto nodes = facts.number("job.nodes"); nodes && *nodes <= 1)
    return Verdict{note, "matters only between hosts over TCP; this job has one host", "unset it"};
  return std::nullopt;
}

std::optional<Verdict> sockets_per_thread(std::string_view value, const FactSheet& facts) {
  if (auto bad = check_range(value, 1, kMostSockets)) return bad;
  if (!facts.variable("NCCL_SOCKET_NTHREADS"))
    return Verdict{warning, "alone it does nothing outside of AWS and GCP: the number of helper threads stays 0",
                   "set NCCL_SOCKET_NTHREADS too, or unset it"};
  if (const auto nodes = facts.number("job.nodes"); nodes && *nodes <= 1)
    return Verdict{note, "matters only between hosts over TCP; this job has one host", "unset it"};
  return std::nullopt;
}

std::optional<Verdict> algorithm(std::string_view value, const FactSheet&) {
  if (value.find(':') != std::string_view::npos)
    return Verdict{warning, "forces an algorithm for some collectives; NCCL's own choice is better nearly always",
                   "unset it and measure both"};
  return Verdict{wrong,
                 "forces one algorithm for all collectives; those without it fail since NCCL 2.24 (a DDP job "
                 "broadcasts at its start)",
                 "unset it"};
}

std::optional<Verdict> protocol(std::string_view value, const FactSheet&) {
  if (value.find("LL128") != std::string_view::npos && value.front() != '^')
    return Verdict{wrong, "LL128 where the platform does not support it can corrupt data", "unset it"};
  return Verdict{warning, "forces a protocol; the guide advises against it", "unset it"};
}

std::optional<Verdict> buffer_size(std::string_view value, const FactSheet&) {
  constexpr long long kDefault = 4'194'304;
  if (auto bad = check_range(value, 1024, 1LL << 30)) return bad;
  if (whole_number(value) == kDefault) return Verdict{note, "is the default: it changes nothing", "unset it"};
  return Verdict{warning, "differs from the default of 4194304 bytes", "unset it and measure both"};
}

bool is_on(std::string_view value) { return whole_number(value).value_or(0) != 0; }

std::optional<Verdict> infiniband_off(std::string_view value, const FactSheet& facts) {
  if (auto bad = check_range(value, 0, 1)) return bad;
  if (!is_on(value)) return std::nullopt;
  if (const auto ports = facts.highest("comm.rdma_ports_active"); ports && *ports > 0)
    return Verdict{wrong,
                   fmt::format("forbids InfiniBand and RoCE while {:.0f} RDMA port{} active", *ports,
                               *ports == 1 ? " is" : "s are"),
                   "unset it"};
  return Verdict{warning, "forbids InfiniBand and RoCE; without RDMA cards NCCL uses sockets by itself", "unset it"};
}

std::optional<Verdict> peers_off(std::string_view value, const FactSheet&) {
  if (auto bad = check_range(value, 0, 1)) return bad;
  if (!is_on(value)) return std::nullopt;
  return Verdict{warning, "sends all traffic between GPUs through host memory; it is meant to find faults",
                 "unset it; where it hangs then, look for ACS and IOMMU"};
}

std::optional<Verdict> shared_memory_off(std::string_view value, const FactSheet&) {
  if (auto bad = check_range(value, 0, 1)) return bad;
  if (!is_on(value)) return std::nullopt;
  return Verdict{warning, "sends traffic inside a host through the network",
                 "unset it; give the container a larger /dev/shm"};
}

std::optional<Verdict> interface_name(std::string_view value, const FactSheet&) {
  if (value.front() == '^') return std::nullopt;
  const auto name = value.substr(value.find_first_not_of('='));
  for (const std::string_view part : {"docker", "virbr", "veth", "lo"})
    if (name.starts_with(part))
      return Verdict{wrong, fmt::format("{} does not reach other hosts", name),
                     "name the interface of the fast network"};
  if (value.front() != '=')
    return Verdict{note, "names are prefixes: eth1 also takes eth10", fmt::format("NCCL_SOCKET_IFNAME=={}", value)};
  return std::nullopt;
}

std::optional<Verdict> cards(std::string_view value, const FactSheet&) {
  if (value.front() == '^' || value.front() == '=') return std::nullopt;
  return Verdict{note, "names are prefixes: mlx5_1 also takes mlx5_10", fmt::format("NCCL_IB_HCA=={}", value)};
}

std::optional<Verdict> debug(std::string_view value, const FactSheet&) {
  constexpr std::array<std::string_view, 5> kLevels{"VERSION", "WARN", "INFO", "ABORT", "TRACE"};
  std::string upper(value);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (std::ranges::find(kLevels, upper) == kLevels.end())
    return Verdict{wrong, "is no level of NCCL", "VERSION, WARN, INFO or TRACE"};
  if (upper == "TRACE") return Verdict{warning, "writes a line for each call", "WARN"};
  if (upper == "INFO") return Verdict{note, "is for one probing run; it fills logs", "WARN, once the log was read"};
  return std::nullopt;
}

std::optional<Verdict> gdr_level(std::string_view value, const FactSheet&) {
  if (value == "0" || value == "LOC") return Verdict{warning, "switches GPUDirect RDMA off", "unset it"};
  return std::nullopt;
}

std::optional<Verdict> p2p_level(std::string_view value, const FactSheet&) {
  if (value == "0" || value == "LOC") return Verdict{warning, "switches peer-to-peer off", "unset it"};
  return std::nullopt;
}

std::optional<Verdict> threads(std::string_view value, const FactSheet&) {
  const auto number = whole_number(value);
  constexpr std::array kAllowed{64LL, 128LL, 256LL, 512LL};
  if (!number || std::ranges::find(kAllowed, *number) == kAllowed.end())
    return Verdict{wrong, "must be 64, 128, 256 or 512", "unset it"};
  return Verdict{note, "sets what NCCL tunes itself", "unset it and measure both"};
}

std::optional<Verdict> channels(std::string_view value, const FactSheet&) {
  if (auto bad = check_range(value, 1, 64)) return bad;
  return Verdict{warning, "limits the channels, and with them the bandwidth", "unset it and measure both"};
}

std::optional<Verdict> nvls(std::string_view value, const FactSheet&) {
  if (value == "0") return Verdict{note, "switches NVLink SHARP off", "unset it and measure both"};
  return check_range(value, 0, 2);
}

std::optional<Verdict> graph_file(std::string_view, const FactSheet&) {
  return Verdict{warning, "replaces the topology that NCCL sees",
                 "unset it unless the cloud provider's own file is meant"};
}

constexpr auto kRules = std::to_array<VariableRule>({
    {"NCCL_ALGO", "forced algorithm", algorithm},
    {"NCCL_PROTO", "forced protocol", protocol},
    {"NCCL_BUFFSIZE", "buffer size", buffer_size},
    {"NCCL_IB_DISABLE", "RDMA switched off", infiniband_off},
    {"NCCL_P2P_DISABLE", "peer-to-peer switched off", peers_off},
    {"NCCL_SHM_DISABLE", "shared memory switched off", shared_memory_off},
    {"NCCL_SOCKET_NTHREADS", "1 to 16; threads × sockets at most 64", socket_threads},
    {"NCCL_NSOCKS_PERTHREAD", "does nothing alone; threads × sockets at most 64", sockets_per_thread},
    {"NCCL_SOCKET_IFNAME", "prefix match, interfaces that reach no other host", interface_name},
    {"NCCL_IB_HCA", "prefix match", cards},
    {"NCCL_DEBUG", "level; INFO and TRACE are for probing", debug},
    {"NCCL_NET_GDR_LEVEL", "GPUDirect RDMA switched off", gdr_level},
    {"NCCL_P2P_LEVEL", "peer-to-peer switched off", p2p_level},
    {"NCCL_NTHREADS", "64, 128, 256 or 512", threads},
    {"NCCL_MAX_NCHANNELS", "limited channels", channels},
    {"NCCL_MIN_NCHANNELS", "1 to 64", range<1, 64>},
    {"NCCL_MAX_CTAS", "1 to 64", range<1, 64>},
    {"NCCL_MIN_CTAS", "1 to 64", range<1, 64>},
    {"NCCL_IB_QPS_PER_CONNECTION", "1 to 128", range<1, 128>},
    {"NCCL_IB_TIMEOUT", "1 to 31", range<1, 31>},
    {"NCCL_IB_RETRY_CNT", "0 to 7", range<0, 7>},
    {"NCCL_IB_GID_INDEX", "−1 to 255", range<-1, 255>},
    {"NCCL_IB_TC", "0 to 255", range<0, 255>},
    {"NCCL_CROSS_NIC", "0 to 2", range<0, 2>},
    {"NCCL_NET_GDR_READ", "0 or 1", range<0, 1>},
    {"NCCL_NVLS_ENABLE", "NVLink SHARP switched off", nvls},
    {"NCCL_CHECKS_DISABLE", "0 or 1", range<0, 1>},
    {"NCCL_LAUNCH_MODE", "obsolete",
     [](std::string_view, const FactSheet&) {
       return std::optional(Verdict{note, "is obsolete since NCCL 2.9", "unset it"});
     }},
    {"NCCL_TOPO_FILE", "replaced topology", graph_file},
    {"NCCL_GRAPH_FILE", "replaced topology", graph_file},
});

}  // namespace

std::optional<long long> whole_number(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const long long value = std::strtoll(copy.c_str(), &end, 0);
  return !copy.empty() && *end == '\0' ? std::optional(value) : std::nullopt;
}

std::span<const VariableRule> nccl_rules() { return kRules; }

}  // namespace gradwatt::diagnosis

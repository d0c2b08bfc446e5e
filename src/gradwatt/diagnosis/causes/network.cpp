// The network between hosts: too slow for the job, sockets where RDMA is there, the wrong interface, a damaged fabric.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/diagnosis/causes/cause.hpp"
#include "gradwatt/diagnosis/symptoms.hpp"

namespace gradwatt::diagnosis {
namespace {

/// Slower than this a network between training hosts is called slow; 10 Gbit/s carries 1.25 GB/s against 25 and more
/// inside a host.
constexpr double kSlowLink_bits_per_s = 10.5e9;
constexpr double kGigabit = 1e9;

bool expect_several_hosts(const FactSheet& facts, Opinion& opinion) {
  const auto several = several_hosts(facts);
  if (several && !*several)
    opinion.rules_out("one host takes part", {"job.nodes"});
  else if (!several)
    opinion.wants("job.nodes", weight::kFair);
  return !several || *several;
}

void judge_poor_scaling(const FactSheet& facts, Opinion& opinion) {
  for (const std::string_view what : {"nodes", "gpus"})
    if (const auto gained = scaling(facts, what)) {
      if (gained->value < 0.7)
        opinion.supports(weight::kFair, gained->text, gained->facts);
      else if (gained->value > 0.9)
        opinion.speaks_against(weight::kStrong, gained->text, gained->facts);
      return;
    }
}

void judge_slow_ethernet(const FactSheet& facts, Opinion& opinion) {
  if (!expect_several_hosts(facts, opinion)) return;
  const auto used = facts.number("comm.link_bits_per_s", facts.text("comm.interface").value_or("")),
             fastest = facts.highest("comm.link_bits_per_s");
  if (used && fastest && *used < 0.5 * *fastest)
    return void(opinion.rules_out("a faster interface is there and not in use", {"comm.link_bits_per_s"}));
  if (const auto rate = facts.lowest("comm.link_bits_per_s")) {
    if (*rate > 30e9)
      return void(
          opinion.rules_out(fmt::format("the link carries {:.0f} Gbit/s", *rate / 1e9), {"comm.link_bits_per_s"}));
    if (*rate <= kSlowLink_bits_per_s)
      opinion.supports(*rate <= 1.5 * kGigabit ? weight::kDecisive : weight::kStrong,
                       fmt::format("the link between the hosts carries {:.3g} Gbit/s", *rate / 1e9),
                       {"comm.link_bits_per_s"});
  } else {
    opinion.wants("comm.link_bits_per_s", weight::kStrong);
  }
  if (const auto ports = facts.highest("comm.rdma_ports_active"); ports && *ports > 0)
    opinion.speaks_against(weight::kStrong, fmt::format("{:.0f} RDMA ports are active", *ports),
                           {"comm.rdma_ports_active"});
  if (const auto slower = slower_on_more_hosts(facts)) {
    opinion.supports(weight::kStrong, slower->text, slower->facts);
    // Hosts with such cards have RDMA: when they do not scale, the network is not in use rather than slow.
    if (const auto server = server_gpu(facts); server && !facts.has("comm.link_bits_per_s"))
      *server ? opinion.speaks_against(weight::kFair, "hosts with such cards have a fast network", {"gpu.name"})
              : opinion.supports(weight::kWeak, "hosts with such cards have Ethernet", {"gpu.name"});
  } else {
    judge_poor_scaling(facts, opinion);
  }
  if (const auto exposed = exposed_communication(facts))
    exposed->value < 0.05 ? opinion.rules_out(exposed->text, exposed->facts)
                          : opinion.supports(weight::kWeak, exposed->text, exposed->facts);
}

void judge_sockets(const FactSheet& facts, Opinion& opinion) {
  if (!expect_several_hosts(facts, opinion)) return;
  const auto socket = facts.text_holds("comm.transport", "socket");
  if (socket && !*socket)
    return void(opinion.rules_out("NCCL uses " + *facts.text("comm.transport"), {"comm.transport"}));
  if (socket)
    opinion.supports(weight::kFair, "NCCL sends between hosts over sockets", {"comm.transport"});
  else
    opinion.wants("comm.transport", weight::kStrong);
  const auto ports = facts.highest("comm.rdma_ports_active");
  if (ports && *ports == 0) return void(opinion.rules_out("no RDMA port is active", {"comm.rdma_ports_active"}));
  if (ports)
    opinion.supports(weight::kStrong, fmt::format("{:.0f} RDMA ports are active", *ports), {"comm.rdma_ports_active"});
  else
    opinion.wants("comm.rdma_ports_active", weight::kStrong);
  if (const auto off = facts.variable("NCCL_IB_DISABLE"); off && *off != "0")
    opinion.speaks_against(weight::kWeak, "NCCL_IB_DISABLE forbids RDMA: the setting is the cause", {"env.value"});
  const auto got = facts.highest("comm.bus_bandwidth_bytes_per_s"),
             expected = facts.number("comm.expected_bytes_per_s");
  if (got && expected && *got < 0.6 * *expected)
    opinion.supports(weight::kFair,
                     fmt::format("an all-reduce reaches {:.3g} of {:.3g} GB/s", *got * 1e-9, *expected * 1e-9),
                     {"comm.bus_bandwidth_bytes_per_s"});
}

void judge_interface(const FactSheet& facts, Opinion& opinion) {
  const auto name = facts.text("comm.interface");
  if (!name) return void(opinion.wants("comm.interface", weight::kStrong));
  for (const std::string_view part : {"docker", "virbr", "veth", "br-", "lo", "tun", "cni", "flannel", "cali"})
    if (name->starts_with(part) && (part != "lo" || *name == "lo"))
      opinion.supports(weight::kDecisive,
                       fmt::format("NCCL uses interface {}, which is no network to other hosts", *name),
                       {"comm.interface"});
  const auto used = facts.number("comm.link_bits_per_s", *name), fastest = facts.highest("comm.link_bits_per_s");
  if (used && fastest && *used < 0.5 * *fastest)
    opinion.supports(weight::kDecisive,
                     fmt::format("NCCL uses {} with {:.3g} Gbit/s, another interface has {:.3g}", *name, *used / 1e9,
                                 *fastest / 1e9),
                     {"comm.interface", "comm.link_bits_per_s"});
  if (!opinion.has_support())
    opinion.speaks_against(weight::kFair, "the interface looks right: " + *name, {"comm.interface"});
}

void judge_fabric(const FactSheet& facts, Opinion& opinion) {
  if (!expect_several_hosts(facts, opinion)) return;
  const auto errors = facts.highest("comm.port_errors_per_min");
  if (!errors) return void(opinion.wants("comm.port_errors_per_min", weight::kStrong));
  if (*errors < 1) return void(opinion.rules_out("no port counts errors", {"comm.port_errors_per_min"}));
  opinion.supports(*errors > 60 ? weight::kDecisive : weight::kStrong,
                   fmt::format("a port counts {:.0f} errors a minute", *errors), {"comm.port_errors_per_min"});
}

void judge_transfer_bound(const FactSheet& facts, Opinion& opinion) {
  if (!several_ranks(facts).value_or(true)) return void(opinion.rules_out("there is one rank", {"job.world_size"}));
  const auto exposed = exposed_communication(facts);
  if (!exposed) return void(opinion.wants("step.comm_exposed_share", weight::kStrong));
  if (exposed->value < 0.1) return void(opinion.rules_out(exposed->text, exposed->facts));
  opinion.supports(std::min(weight::kStrong, weight::kWeak + 4 * exposed->value), exposed->text, exposed->facts);
  constexpr double kShortStep_s = 0.02;
  if (const auto step = facts.number("step.time_s"), batch = facts.number("loader.batch_size");
      step && *step < kShortStep_s && batch && *batch <= 4)
    opinion.speaks_against(weight::kStrong,
                           fmt::format("a step of {:.1f} ms for {:.0f} sample{} is too short to hide any exchange",
                                       1e3 * *step, *batch, *batch == 1 ? "" : "s"),
                           {"step.time_s", "loader.batch_size"});
  if (const auto threads = facts.number("job.cpu_wait_share"); threads && *threads > 0.25)
    opinion.speaks_against(
        weight::kFair, fmt::format("threads wait for a CPU {:.0f} % of the time that they want one", 100 * *threads),
        {"job.cpu_wait_share"});
  if (const auto skew = facts.number("rank.skew_share"))
    *skew > 0.1 ? opinion.speaks_against(
                      weight::kStrong,
                      fmt::format("ranks take unlike time ({:.0f} %): they wait for each other, not for the network",
                                  100 * *skew),
                      {"rank.skew_share"})
                : opinion.supports(weight::kFair, "all ranks take like time", {"rank.skew_share"});
  else
    opinion.wants("rank.skew_share", weight::kFair);
  const auto got = facts.highest("comm.bus_bandwidth_bytes_per_s"),
             expected = facts.number("comm.expected_bytes_per_s");
  if (got && expected)
    *got > 0.75 * *expected
        ? opinion.supports(weight::kFair, "the path carries what it can", {"comm.bus_bandwidth_bytes_per_s"})
        : opinion.speaks_against(weight::kStrong, "the path carries less than it could",
                                 {"comm.bus_bandwidth_bytes_per_s"});
}

constexpr std::string_view kLess =
    "exchange less often or less: accumulation with no_sync between micro-steps, gradients in bf16 "
    "(bf16_compress_hook), a larger local batch, fewer hosts";

constexpr auto kCauses = std::to_array<CauseInfo>({
    {"network:slow-ethernet", "N2", "the network between the hosts is too slow for the gradients", prior::kUsual,
     "step.comm_exposed_share", judge_slow_ethernet, kLess, "user", "a larger batch needs the learning rate checked",
     "the former settings", nullptr, exposed_share},
    {"network:transfer-bound", "N2", "gradients take longer to exchange than the backward pass can hide", prior::kUsual,
     "step.comm_exposed_share", judge_transfer_bound, kLess, "user", "a larger batch needs the learning rate checked",
     "the former settings", nullptr, exposed_share},
    {"interconnect:tcp-instead-of-rdma", "N6", "NCCL uses sockets although RDMA is there", prior::kUsual,
     "comm.transport", judge_sockets,
     "find out why with NCCL_DEBUG=INFO: RDMA libraries in the container, --device=/dev/infiniband, ulimit -l "
     "unlimited, NCCL_IB_HCA naming the right cards",
     "user", "", "unset what was set", nullptr, exposed_share},
    {"network:wrong-interface", "N5", "NCCL uses the wrong network interface", prior::kUsual, "comm.interface",
     judge_interface, "NCCL_SOCKET_IFNAME==NAME (the second = asks for exactly that name)", "user",
     "the interface reaches all hosts", "unset NCCL_SOCKET_IFNAME", nullptr, exposed_share},
    {"network:degraded-fabric", "N7", "a network port counts errors", prior::kRare, "comm.port_errors_per_min",
     judge_fabric, "check cable and port, compare rates between the hosts in pairs", "operator", "", "", nullptr,
     exposed_share},
});

}  // namespace

std::span<const CauseInfo> network_causes() { return kCauses; }

}  // namespace gradwatt::diagnosis

// Paths between GPUs: peer-to-peer over PCIe and NVLink, what breaks it (ACS, IOMMU), GPUDirect RDMA, links below their
// rate.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/diagnosis/causes/cause.hpp"
#include "gradwatt/diagnosis/symptoms.hpp"

namespace gradwatt::diagnosis {
namespace {

/// Bus bandwidth under this part of what the path should reach is a fault, not a matter of message size.
constexpr double kFarBelow = 0.6;

/// Bandwidth far under what is expected of the path.
std::optional<Symptom> slow_collective(const FactSheet& facts) {
  const auto got = facts.highest("comm.bus_bandwidth_bytes_per_s"),
             expected = facts.number("comm.expected_bytes_per_s");
  if (got && expected && *expected > 0)
    return Symptom{*got / *expected,
                   fmt::format("an all-reduce reaches {:.3g} of {:.3g} GB/s", *got * 1e-9, *expected * 1e-9),
                   {"comm.bus_bandwidth_bytes_per_s", "comm.expected_bytes_per_s"}};
  if (facts.text_holds("comm.observation", "below the link rate").value_or(false))
    return Symptom{0.3, "collectives stay far below the rate of the link", {"comm.observation"}};
  return std::nullopt;
}

bool uses_rdma(const FactSheet& facts) {
  return facts.text_holds("comm.transport", "ib").value_or(false) ||
         facts.text_holds("comm.transport", "roce").value_or(false);
}

/// What ACS and IOMMU have in common: peer-to-peer is offered and does not work.
void judge_broken_p2p(const FactSheet& facts, Opinion& opinion, bool hanging) {
  if (hanging) {
    if (const auto stuck = hang(facts))
      opinion.supports(weight::kFair, stuck->text, stuck->facts);
    else if (facts.is("comm.fails").value_or(false))
      opinion.supports(weight::kWeak, "a collective ends in an error", {"comm.fails"});
    else if (facts.number("step.time_s") || facts.has("comm.bus_bandwidth_bytes_per_s"))
      return void(opinion.rules_out("the job moves", {"step.time_s"}));
    else
      opinion.wants("comm.hangs", weight::kStrong);
  } else {
    if (const auto stuck = hang(facts)) return void(opinion.rules_out("the job hangs, it is not slow", stuck->facts));
    if (const auto slow = slow_collective(facts))
      slow->value < kFarBelow ? opinion.supports(weight::kFair, slow->text, slow->facts)
                              : opinion.rules_out(slow->text, slow->facts);
    else
      opinion.wants("comm.bus_bandwidth_bytes_per_s", weight::kFair);
  }
  // A path that breaks at its first use was never right; a rank that goes missing does so later.
  if (hanging && facts.text_holds("job.stalls_at", "start").value_or(false))
    opinion.supports(weight::kFair, "the first collective already stands still", {"job.stalls_at"});
  if (const auto works = facts.is("comm.works_without_gpudirect"))
    *works ? opinion.supports(weight::kStrong, "without GPUDirect RDMA it runs: cards do not reach GPU memory",
                              {"comm.works_without_gpudirect"})
           : opinion.speaks_against(weight::kFair, "it fails without GPUDirect RDMA too",
                                    {"comm.works_without_gpudirect"});
  if (const auto without = facts.is("comm.hangs_without_p2p"))
    *without ? opinion.speaks_against(weight::kStrong, "it hangs with P2P disabled too", {"comm.hangs_without_p2p"})
             : opinion.supports(weight::kStrong, "with P2P disabled it runs", {"comm.hangs_without_p2p"});
  else
    opinion.wants("comm.hangs_without_p2p", weight::kStrong);
  std::optional<bool> near, far;
  for (const auto* fact : facts.all("comm.hangs"))
    if (const auto stuck = record::as_number(*fact)) {
      const auto holds = [&](std::string_view word) { return fact->subject.find(word) != std::string::npos; };
      if (holds("PIX") || holds("PXB") || holds("PHB")) near = near.value_or(false) || *stuck > 0;
      if (holds("SYS") || holds("NODE")) far = far.value_or(false) || *stuck > 0;
    }
  if (near && far && *near && !*far)
    opinion.supports(weight::kStrong, "pairs below one bridge hang, pairs across sockets run", {"comm.hangs"});
}

void judge_acs(const FactSheet& facts, Opinion& opinion, bool hanging) {
  if (!several_ranks(facts).value_or(true)) return void(opinion.rules_out("there is one rank", {"job.world_size"}));
  judge_broken_p2p(facts, opinion, hanging);
  if (const auto acs = facts.is("host.acs"))
    *acs ? opinion.fits(weight::kStrong, "access control services are on on PCIe bridges", {"host.acs"})
         : opinion.rules_out("access control services are off", {"host.acs"});
  else
    opinion.wants("host.acs", weight::kStrong);
  if (const auto level = facts.variable("NCCL_NET_GDR_LEVEL"); level && *level == "0" && !hanging)
    opinion.supports(weight::kFair, "it runs only without GPUDirect RDMA", {"env.value"});
}
void judge_acs_slow(const FactSheet& facts, Opinion& opinion) { judge_acs(facts, opinion, false); }
void judge_acs_hang(const FactSheet& facts, Opinion& opinion) { judge_acs(facts, opinion, true); }

void judge_iommu(const FactSheet& facts, Opinion& opinion) {
  if (!several_ranks(facts).value_or(true)) return void(opinion.rules_out("there is one rank", {"job.world_size"}));
  judge_broken_p2p(facts, opinion, true);
  if (const auto iommu = facts.text("host.iommu"))
    iommu->find("translat") != std::string::npos || *iommu == "on"
        ? opinion.fits(weight::kStrong, "the IOMMU translates addresses", {"host.iommu"})
        : opinion.rules_out("the IOMMU is " + *iommu, {"host.iommu"});
  else
    opinion.wants("host.iommu", weight::kStrong);
  // ROCm's installation notes name it as the first thing to check when an application hangs on several GPUs.
  if (facts.text_holds("gpu.name", "amd").value_or(false) || facts.text_holds("job.backend", "rccl").value_or(false))
    opinion.fits(hang(facts) ? weight::kFair : weight::kWeak, "RCCL needs iommu=pt on many hosts",
                 {"gpu.name", "job.backend"});
}

/// Whoever told the facts looked at the communication: then the kind of card is more than a circumstance.
bool tells_of_communication(const FactSheet& facts) {
  return std::ranges::any_of(facts.facts(), [](const auto& fact) {
    return fact.name.starts_with("comm.") || fact.name == "step.comm_exposed_share" ||
           fact.name == "trace.comm_exposed_share";
  });
}

void judge_no_p2p(const FactSheet& facts, Opinion& opinion) {
  if (!several_ranks(facts).value_or(true)) return void(opinion.rules_out("there is one GPU", {"gpu.count"}));
  if (hang(facts)) opinion.speaks_against(weight::kStrong, "the job hangs, it is not slow", {"comm.hangs"});
  const auto consumer = consumer_gpu(facts);
  if (const auto possible = facts.lowest("comm.p2p_possible")) {
    if (*possible > 0) return void(opinion.rules_out("GPUs reach each other's memory", {"comm.p2p_possible"}));
    opinion.fits(weight::kStrong, "GPUs cannot reach each other's memory", {"comm.p2p_possible"});
  } else if (facts.text_holds("comm.transport", "shm").value_or(false)) {
    opinion.fits(weight::kStrong, "NCCL goes through host memory (SHM)", {"comm.transport"});
  } else {
    opinion.wants("comm.p2p_possible", weight::kStrong);
  }
  if (consumer)
    *consumer ? opinion.fits(tells_of_communication(facts) ? weight::kStrong : weight::kFair,
                             fmt::format("{} has no peer-to-peer over PCIe", *facts.text("gpu.name")), {"gpu.name"})
              : opinion.speaks_against(weight::kWeak, "the card can do peer-to-peer", {"gpu.name"});
  const auto exposed = exposed_communication(facts);
  if (exposed && exposed->value < 0.05) return void(opinion.rules_out(exposed->text, exposed->facts));
  if (exposed)
    opinion.supports(weight::kWeak, exposed->text, exposed->facts);
  else if (const auto seen = facts.text("comm.observation"))
    opinion.supports(weight::kWeak, "seen of the communication: " + *seen, {"comm.observation"});
  else if (const auto slow = slow_collective(facts); slow && slow->value < kFarBelow)
    opinion.supports(weight::kWeak, slow->text, slow->facts);
  if (several_hosts(facts).value_or(false))
    opinion.speaks_against(weight::kWeak, "several hosts take part: the network is slower still", {"job.nodes"});
}

void judge_gpudirect(const FactSheet& facts, Opinion& opinion) {
  const auto several = several_hosts(facts);
  if (several && !*several) return void(opinion.rules_out("one host takes part", {"job.nodes"}));
  if (facts.text_holds("comm.transport", "socket").value_or(false))
    return void(opinion.rules_out("NCCL uses sockets, not RDMA", {"comm.transport"}));
  if (uses_rdma(facts)) opinion.supports(weight::kWeak, "NCCL uses RDMA", {"comm.transport"});
  if (const auto direct = facts.is("comm.gpudirect_rdma")) {
    if (*direct) return void(opinion.rules_out("the network card reads GPU memory itself", {"comm.gpudirect_rdma"}));
    opinion.supports(weight::kDecisive, "data pass through host memory: GPUDirect RDMA is not in use",
                     {"comm.gpudirect_rdma"});
  } else if (const auto peermem = facts.is("host.peermem")) {
    if (*peermem)
      opinion.speaks_against(weight::kFair, "the module for GPUDirect RDMA is loaded", {"host.peermem"});
    else
      opinion.supports(weight::kDecisive, "neither nvidia-peermem nor DMA-BUF is there", {"host.peermem"});
  } else {
    opinion.wants("comm.gpudirect_rdma", weight::kDecisive);
  }
  if (const auto slow = slow_collective(facts))
    slow->value < 0.75 ? opinion.supports(uses_rdma(facts) ? weight::kStrong : weight::kFair, slow->text, slow->facts)
                       : opinion.speaks_against(weight::kStrong, slow->text, slow->facts);
  else if (uses_rdma(facts) && facts.has("comm.bus_bandwidth_bytes_per_s"))
    opinion.supports(weight::kWeak, "the bandwidth of a collective is in question", {"comm.bus_bandwidth_bytes_per_s"});
}

void judge_nvlink(const FactSheet& facts, Opinion& opinion) {
  for (const auto* fact : facts.all("gpu.nvlink_links_up")) {
    const auto up = record::as_number(*fact);
    const auto all = facts.number("gpu.nvlink_links", fact->subject);
    if (up && all && *up < *all)
      opinion.supports(weight::kDecisive, fmt::format("{} of {} NVLinks of {} are up", *up, *all, fact->subject),
                       {"gpu.nvlink_links_up"});
  }
  for (const auto* fact : facts.all("gpu.xid"))
    if (const auto xid = record::as_number(*fact); xid && (*xid == 74 || (*xid >= 144 && *xid <= 150)))
      opinion.supports(weight::kStrong, fmt::format("Xid {:.0f} (NVLink) on {}", *xid, fact->subject), {"gpu.xid"});
  if (!opinion.has_support())
    facts.has("gpu.nvlink_links_up") ? opinion.rules_out("all NVLinks are up", {"gpu.nvlink_links_up"})
                                     : opinion.wants("gpu.nvlink_links_up", weight::kStrong);
}

void judge_pcie_link(const FactSheet& facts, Opinion& opinion) {
  bool seen = false;
  for (const auto* fact : facts.all("gpu.pcie_width")) {
    const auto now = record::as_number(*fact), most = facts.number("gpu.pcie_width_max", fact->subject);
    if (!now || !most || at_rest(facts, fact->subject)) continue;
    seen = true;
    if (*now < *most)
      opinion.supports(weight::kDecisive,
                       fmt::format("{} runs on {:.0f} of {:.0f} PCIe lanes under load", fact->subject, *now, *most),
                       {"gpu.pcie_width", "gpu.pcie_width_max"});
  }
  for (const auto* fact : facts.all("gpu.pcie_gen")) {
    const auto now = record::as_number(*fact), most = facts.number("gpu.pcie_gen_max", fact->subject);
    if (!now || !most || at_rest(facts, fact->subject)) continue;
    seen = true;
    if (*now < *most)
      opinion.supports(
          weight::kStrong + weight::kWeak,
          fmt::format("{} runs at PCIe generation {:.0f} of {:.0f} under load", fact->subject, *now, *most),
          {"gpu.pcie_gen", "gpu.pcie_gen_max"});
  }
  for (const auto* fact : facts.all("gpu.pcie_replays_per_min"))
    if (const auto replays = record::as_number(*fact); replays && *replays > 10)
      opinion.supports(weight::kFair,
                       fmt::format("{} sends {:.0f} PCIe packets a minute again", fact->subject, *replays),
                       {"gpu.pcie_replays_per_min"});
  if (!seen)
    opinion.wants("gpu.pcie_width", weight::kStrong);
  else if (!opinion.has_support())
    opinion.rules_out("all PCIe links run at full width and rate", {"gpu.pcie_width"});
}

constexpr std::string_view kAcsChange =
    "switch ACS off: in the BIOS (also of the root bridges), with setpci on the bridges above the GPUs, or pci=noacs "
    "at boot; in a virtual machine use ATS instead";

constexpr auto kCauses = std::to_array<CauseInfo>({
    {"interconnect:pcie-acs", "N4", "access control on PCIe bridges sends peer traffic through the root complex",
     prior::kUsual, "comm.bus_bandwidth_bytes_per_s", judge_acs_slow, kAcsChange, "root",
     "bare metal without device pass-through to guests", "set the former bits again", nullptr, exposed_share},
    {"interconnect:pcie-acs-hang", "N4", "access control on PCIe bridges breaks peer-to-peer, collectives hang",
     prior::kUsual, "comm.hangs", judge_acs_hang, kAcsChange, "root",
     "bare metal without device pass-through to guests", "set the former bits again", nullptr, nullptr},
    {"interconnect:iommu-hang", "N4", "the IOMMU breaks peer-to-peer, collectives hang", prior::kUsual, "comm.hangs",
     judge_iommu,
     "boot with iommu=pt, or switch the IOMMU (VT-d, AMD-Vi) off in the BIOS; NCCL_P2P_DISABLE=1 only to prove it",
     "root", "no device pass-through to guests", "the former kernel options", nullptr, nullptr},
    {"interconnect:no-p2p-consumer-gpu", "N3", "cards without peer-to-peer exchange through host memory", prior::kUsual,
     "step.comm_exposed_share", judge_no_p2p,
     "exchange less: accumulation with no_sync, bf16 gradients, a larger local batch; spread the cards over root "
     "ports; a limit of the card, no setting removes it",
     "user", "a larger batch needs the learning rate checked", "the former settings", nullptr, exposed_share},
    {"interconnect:gpudirect-rdma-off", "N6", "network traffic passes through host memory: GPUDirect RDMA is off",
     prior::kUsual, "comm.bus_bandwidth_bytes_per_s", judge_gpudirect,
     "load nvidia-peermem (modprobe nvidia-peermem) or use a driver and NCCL with DMA-BUF; NCCL_DEBUG=INFO must then "
     "show GDRDMA",
     "root", "RDMA card and GPU below one root complex", "unload the module", nullptr, exposed_share},
    {"interconnect:nvlink-down", "N8", "NVLinks are down", prior::kRare, "gpu.nvlink_links_up", judge_nvlink,
     "reset the GPU, restart the fabric manager, then have the baseboard checked", "operator", "no job on the node", "",
     nullptr, exposed_share},
    {"interconnect:pcie-link-downgraded", "N9", "a PCIe link runs below its width or rate under load", prior::kUsual,
     "gpu.pcie_width", judge_pcie_link,
     "reseat card and riser, check the slot's lanes and its BIOS setting, update firmware", "operator",
     "judged under load: links rest at a low rate", "", nullptr, exposed_share},
});

}  // namespace

std::span<const CauseInfo> interconnect_causes() { return kCauses; }

}  // namespace gradwatt::diagnosis

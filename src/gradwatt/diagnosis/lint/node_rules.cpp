// The node and the job's own set-up.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/diagnosis/lint/lint_rules.hpp"
#include "gradwatt/diagnosis/symptoms.hpp"

namespace gradwatt::diagnosis {
namespace {

using enum LintSeverity;

double ranks_on_host(const FactSheet& facts) {
  return std::max(1.0,
                  facts.number("job.world_size").value_or(1) / std::max(1.0, facts.number("job.nodes").value_or(1)));
}

void process_group_timeout(const FactSheet& facts, std::vector<LintFinding>& out) {
  const auto seconds = facts.number("job.process_group_timeout_s");
  if (seconds && *seconds < 300)
    out.push_back({*seconds <= 60 ? wrong : warning, fmt::format("process-group time-out of {:.0f} s", *seconds),
                   "a checkpoint, a compilation or the first step takes longer and kills a healthy job",
                   "10 minutes (the default of the NCCL backend) or more", "user"});
}

void threads_unset(const FactSheet& facts, std::vector<LintFinding>& out) {
  const auto cores = usable_cpus(facts);
  // Only where the whole environment was seen does "not there" mean "not set".
  if (!facts.has("env.nccl_count") || facts.variable("OMP_NUM_THREADS") || ranks_on_host(facts) < 2 || !cores ||
      *cores < 2)
    return;
  out.push_back({warning, "OMP_NUM_THREADS is not set",
                 fmt::format("each of {:.0f} ranks may compute with {:.0f} threads", ranks_on_host(facts), *cores),
                 fmt::format("OMP_NUM_THREADS={:.0f}", std::max(1.0, std::floor(*cores / ranks_on_host(facts)))),
                 "user"});
}

void worker_count(const FactSheet& facts, std::vector<LintFinding>& out) {
  const auto workers = facts.number("loader.workers"), cores = usable_cpus(facts);
  if (!workers || !cores) return;
  const double wanted = ranks_on_host(facts) * (*workers + 1);
  if (wanted > 1.25 * *cores)
    out.push_back({warning, fmt::format("num_workers={:.0f}", *workers),
                   fmt::format("{:.0f} ranks with {:.0f} workers each are {:.0f} processes for {:.0f} CPUs",
                               ranks_on_host(facts), *workers, wanted, *cores),
                   fmt::format("num_workers={:.0f}",
                               std::max(0.0, std::floor((*cores - ranks_on_host(facts)) / ranks_on_host(facts)))),
                   "user"});
}

void governor(const FactSheet& facts, std::vector<LintFinding>& out) {
  const auto name = facts.text("host.governor");
  if (name && (*name == "powersave" || *name == "conservative"))
    out.push_back({note, "CPU frequency governor " + *name,
                   "launching kernels and decoding may run at low clocks (with intel_pstate powersave still clocks up)",
                   "performance, where the training thread is what limits", "root"});
}

void shared_memory(const FactSheet& facts, std::vector<LintFinding>& out) {
  constexpr double kLeast = 1024.0 * 1024 * 1024;
  const auto bytes = facts.number("host.shm_bytes");
  if (bytes && *bytes < kLeast)
    out.push_back({*bytes <= 64.0 * 1024 * 1024 ? wrong : warning,
                   fmt::format("/dev/shm of {:.0f} MiB", *bytes / 1048576),
                   "loader workers and NCCL exchange through it; the start of either may fail",
                   "docker --shm-size=8g, or --ipc=host", "user"});
}

void locked_memory(const FactSheet& facts, std::vector<LintFinding>& out) {
  const auto bytes = facts.number("host.memlock_bytes");
  const auto ports = facts.highest("comm.rdma_ports_active");
  if (bytes && *bytes >= 0 && *bytes < 1024.0 * 1024 * 1024 && ports && *ports > 0)
    out.push_back({wrong, fmt::format("memlock limit of {:.0f} KiB", *bytes / 1024),
                   "RDMA must lock its buffers; NCCL then falls back to sockets or fails",
                   "ulimit -l unlimited (limits.conf, LimitMEMLOCK=infinity, docker --ulimit memlock=-1)", "root"});
}

void power_limit(const FactSheet& facts, std::vector<LintFinding>& out) {
  for (const auto* fact : facts.all("gpu.power_limit_w")) {
    const auto limit = record::as_number(*fact), usual = facts.number("gpu.power_limit_default_w", fact->subject);
    if (limit && usual && *limit < 0.97 * *usual)
      out.push_back(
          {note, fmt::format("power limit of {}: {:.0f} W", fact->subject.empty() ? "a GPU" : fact->subject, *limit),
           fmt::format("its default is {:.0f} W; a lower one saves energy and may cost speed", *usual),
           "the default, if the rack's power budget allows it", "operator"});
  }
}

void pcie_link(const FactSheet& facts, std::vector<LintFinding>& out) {
  for (const auto& [now_name, most_name, what] : {std::tuple{"gpu.pcie_width", "gpu.pcie_width_max", "PCIe lanes"},
                                                  std::tuple{"gpu.pcie_gen", "gpu.pcie_gen_max", "PCIe generation"}})
    for (const auto* fact : facts.all(now_name)) {
      const auto now = record::as_number(*fact), most = facts.number(most_name, fact->subject);
      if (now && most && *now < *most)
        out.push_back({warning, fmt::format("{} of {}: {:.0f} of {:.0f}", what, fact->subject, *now, *most),
                       "copies and exchange are slower than the card allows",
                       "reseat card and riser, check slot and BIOS", "operator"});
    }
}

void persistence(const FactSheet& facts, std::vector<LintFinding>& out) {
  if (facts.is("gpu.persistence_mode") == std::optional(false) ||
      facts.text_holds("gpu.persistence_mode", "disabled").value_or(false))
    out.push_back(
        {note, "persistence mode is off",
         "each first use waits for the driver, and a set power limit is lost; it does not make training faster",
         "nvidia-persistenced", "root"});
}

struct DriverMinimum {
  int cuda;
  double driver;
};
/// NVIDIA's table of minimum drivers a CUDA major version.
constexpr auto kMinimum = std::to_array<DriverMinimum>({{11, 450}, {12, 525}, {13, 580}});

void driver_version(const FactSheet& facts, std::vector<LintFinding>& out) {
  const auto cuda = facts.text("job.cuda_version"), driver = facts.text("gpu.driver_version");
  if (!cuda || !driver) return;
  const auto major = core::parse_int(cuda->substr(0, cuda->find('.'))),
             installed = core::parse_int(driver->substr(0, driver->find('.')));
  if (!major || !installed) return;
  for (const auto& row : kMinimum)
    if (row.cuda == *major && static_cast<double>(*installed) < row.driver)
      out.push_back({wrong, "driver " + *driver, fmt::format("CUDA {} needs {:.0f} or newer", *cuda, row.driver),
                     "a newer driver, or a framework built for an older CUDA", "root"});
}

void mixed_versions(const FactSheet& facts, std::vector<LintFinding>& out) {
  for (const auto& [name, what] :
       {std::pair{"gpu.driver_version", "drivers"}, std::pair{"comm.nccl_version", "NCCL versions"},
        std::pair{"job.framework", "framework versions"}}) {
    std::set<std::string> seen;
    for (const auto* fact : facts.all(name))
      if (const auto text = record::as_text(*fact)) seen.insert(*text);
    if (seen.size() > 1)
      out.push_back({wrong, fmt::format("unlike {}: {}", what, fmt::join(seen, ", ")),
                     "ranks of one job must run the same", "install the same everywhere", "operator"});
  }
}

void storage(const FactSheet& facts, std::vector<LintFinding>& out) {
  const auto kind = facts.text("host.data_storage");
  if (!kind) return;
  for (const std::string_view slow : {"hdd", "nfs", "cifs", "fuse"})
    if (kind->find(slow) != std::string::npos)
      out.push_back({note, "training data on " + *kind, "random reads are slow there",
                     "a local NVMe disk, or shards that are read in order", "user"});
}

void pinned_memory(const FactSheet& facts, std::vector<LintFinding>& out) {
  const auto gpus = facts.number("gpu.count");
  if (gpus && *gpus > 0 && facts.is("loader.pin_memory") == std::optional(false))
    out.push_back({note, "pin_memory=False", "copies to the GPU cannot run beside computing",
                   "DataLoader(pin_memory=True) and .to(device, non_blocking=True)", "user"});
}

void unused_parameters(const FactSheet& facts, std::vector<LintFinding>& out) {
  if (facts.is("ddp.find_unused_parameters").value_or(false))
    out.push_back({note, "find_unused_parameters=True", "walks the graph in each step",
                   "False, where each parameter gets a gradient in each step", "user"});
}

constexpr auto kRules = std::to_array<NodeRule>({
    {"process-group time-out", "shorter than checkpoints and compilations", process_group_timeout},
    {"OMP_NUM_THREADS unset", "threads of all ranks against CPUs", threads_unset},
    {"num_workers", "workers of all ranks against CPUs", worker_count},
    {"frequency governor", "powersave", governor},
    {"/dev/shm", "too small for workers and NCCL", shared_memory},
    {"memlock limit", "too small for RDMA", locked_memory},
    {"power limit", "below the card's default", power_limit},
    {"PCIe link", "below what the card can do, under load", pcie_link},
    {"persistence mode", "off", persistence},
    {"driver version", "older than the CUDA major version needs", driver_version},
    {"versions", "unlike over ranks", mixed_versions},
    {"storage", "slow below the training data", storage},
    {"pin_memory", "off with GPUs", pinned_memory},
    {"find_unused_parameters", "on", unused_parameters},
});

}  // namespace

std::span<const NodeRule> node_rules() { return kRules; }

}  // namespace gradwatt::diagnosis

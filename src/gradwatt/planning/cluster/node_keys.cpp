#include "gradwatt/planning/cluster/node_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/catalog/cpu_table.hpp"
#include "gradwatt/catalog/gpu_table.hpp"

namespace gradwatt::planning {
namespace {

/// Share of its cores that a host keeps busy beside GPUs that train, where nobody says the CPU's power. An assumption:
/// data loading and one thread a GPU; cpu_w replaces it.
constexpr double kAssumedCpuLoad = 0.25;

/// Far above any node of today, far below where a product of two overflows.
constexpr double kMostWatts = 1e6, kMostMicroseconds = 1e6, kMostRate = 1e6;

template <std::optional<double> NodeDraft::*Member>
bool set_number(NodeDraft& draft, const Scalar& value, double low, double high) {
  if (!value.number || !(*value.number >= low && *value.number <= high)) return false;
  draft.*Member = *value.number;
  return true;
}
template <std::optional<double> NodeDraft::*Member>
bool watts(NodeDraft& draft, const Scalar& value) {
  return set_number<Member>(draft, value, 0, kMostWatts);
}
template <std::optional<double> NodeDraft::*Member>
bool microseconds(NodeDraft& draft, const Scalar& value) {
  return set_number<Member>(draft, value, 0, kMostMicroseconds);
}
template <std::optional<double> NodeDraft::*Member>
bool rate(NodeDraft& draft, const Scalar& value) {
  return set_number<Member>(draft, value, 1e-6, kMostRate);
}
template <int NodeDraft::*Member>
bool count(NodeDraft& draft, const Scalar& value) {
  if (!value.number || !value.whole || *value.number < 1 || *value.number > 1024) return false;
  draft.*Member = static_cast<int>(*value.number);
  return true;
}
template <std::string NodeDraft::*Member>
bool text(NodeDraft& draft, const Scalar& value) {
  if (!value.text || value.text->empty()) return false;
  draft.*Member = *value.text;
  return true;
}
bool speed(NodeDraft& draft, const Scalar& value) { return set_number<&NodeDraft::speed>(draft, value, 1e-3, 1e3); }

constexpr std::string_view kWatts = "watts from 0 to 1000000", kMicroseconds = "microseconds from 0 to 1000000",
                           kCount = "a whole number from 1 to 1024", kName = "a name in quotes";

constexpr auto kKeys = std::to_array<NodeKey>({
    {"gpu", kName, text<&NodeDraft::gpu>},
    {"gpu_idle_w", kWatts, watts<&NodeDraft::gpu_idle_w>},
    {"gpu_busy_w", kWatts, watts<&NodeDraft::gpu_busy_w>},
    {"gpu_comm_w", kWatts, watts<&NodeDraft::gpu_comm_w>},
    {"gpu_power_cap_w", kWatts, watts<&NodeDraft::gpu_cap_w>},
    {"speed", "a factor from 0.001 to 1000 (1: the usual node)", speed},
    {"cpu", kName, text<&NodeDraft::cpu>},
    {"cpus_per_node", kCount, count<&NodeDraft::cpus>},
    {"cpu_w", kWatts, watts<&NodeDraft::cpu_w>},
    {"node_link_gbyte_per_s", "GB/s of one GPU, above 0 and at most 1000000", rate<&NodeDraft::link_gbyte_per_s>},
    {"node_link_us", kMicroseconds, microseconds<&NodeDraft::link_us>},
    {"nics", kCount, count<&NodeDraft::nics>},
    {"nic_gbit_per_s", "Gbit/s of one card, above 0 and at most 1000000", rate<&NodeDraft::nic_gbit_per_s>},
    {"nic_us", kMicroseconds, microseconds<&NodeDraft::nic_us>},
    {"base_w", kWatts, watts<&NodeDraft::base_w>},
    {"network_w", kWatts, watts<&NodeDraft::network_w>},
});

Incomplete missing(std::string_view key, std::string_view why) { return {fmt::format("{} is missing: {}", key, why)}; }

/// Watts without work as the table of GPUs has them; nothing where the name is not exactly one of its products.
std::optional<double> idle_of_table(const std::string& gpu) {
  const auto* row = catalog::find_gpu(gpu);
  return row != nullptr ? catalog::value_of(row->power.idle_w) : std::nullopt;
}

std::optional<Incomplete> complete_gpu(const NodeDraft& draft, Node& node) {
  const auto idle_w = draft.gpu_idle_w ? draft.gpu_idle_w : idle_of_table(draft.gpu);
  if (!idle_w)
    return missing("gpu_idle_w", draft.gpu.empty()
                                     ? "watts of one GPU are needed to count energy"
                                     : fmt::format("'{}' is no GPU whose idle power is known", draft.gpu));
  constexpr std::string_view kOfTheJob = "it depends on the job; take it from a run's report, or a guess of yours";
  if (!draft.gpu_busy_w) return missing("gpu_busy_w", kOfTheJob);
  if (!draft.gpu_comm_w) return missing("gpu_comm_w", kOfTheJob);
  node.gpu_w = {*idle_w, *draft.gpu_busy_w, *draft.gpu_comm_w};
  node.gpu_idle_w_from_catalog = !draft.gpu_idle_w;
  if (node.gpu_w.idle_w > node.gpu_w.busy_w)
    return Incomplete{fmt::format("gpu_idle_w = {} is above gpu_busy_w = {}", node.gpu_w.idle_w, node.gpu_w.busy_w)};
  if (!draft.gpu_cap_w) return std::nullopt;
  if (*draft.gpu_cap_w < node.gpu_w.idle_w)
    return Incomplete{
        fmt::format("gpu_power_cap_w = {} is below gpu_idle_w = {}", *draft.gpu_cap_w, node.gpu_w.idle_w)};
  if (*draft.gpu_cap_w < node.gpu_w.busy_w && !draft.speed)
    return missing("speed", fmt::format("a cap of {} W below gpu_busy_w = {} slows computing by a factor that depends "
                                        "on the job; measure it under the cap",
                                        *draft.gpu_cap_w, node.gpu_w.busy_w));
  node.gpu_w.busy_w = std::min(node.gpu_w.busy_w, *draft.gpu_cap_w);
  node.gpu_w.comm_w = std::min(node.gpu_w.comm_w, *draft.gpu_cap_w);
  node.gpu_cap_w = draft.gpu_cap_w;
  return std::nullopt;
}

std::optional<Incomplete> complete_cpu(const NodeDraft& draft, Node& node) {
  node.cpu = draft.cpu, node.cpus = draft.cpus, node.cpu_w = draft.cpu_w;
  if (draft.cpu_w || draft.cpu.empty()) return std::nullopt;
  const auto* row = catalog::find_cpu(draft.cpu);
  if (row == nullptr)
    return Incomplete{
        fmt::format("cpu = '{}' is not in the table of CPUs; give cpu_w, the watts of one package", draft.cpu)};
  node.cpu_w = catalog::package_power_w(row->peak_w.value_or(row->tdp_w), kAssumedCpuLoad);
  node.cpu_w_from_catalog = true;
  return std::nullopt;
}

std::optional<Incomplete> complete_links(const NodeDraft& draft, const Shape& shape, Node& node) {
  constexpr double kMicrosecond = 1e-6, kGigabyte = 1e9, kGigabit = 1e9 / 8;
  if (shape.gpus_per_node > 1) {
    if (!draft.link_gbyte_per_s) return missing("node_link_gbyte_per_s", "the GPUs of a node exchange over it");
    if (!draft.link_us) return missing("node_link_us", "latency of a message between GPUs of a node");
    node.link = {.latency_s = *draft.link_us * kMicrosecond, .bytes_per_s = *draft.link_gbyte_per_s * kGigabyte};
  }
  if (shape.nodes > 1) {
    if (!draft.nic_gbit_per_s) return missing("nic_gbit_per_s", "the nodes exchange over it");
    if (!draft.nic_us) return missing("nic_us", "latency of a message between nodes");
    node.nics = draft.nics;
    node.nic = {.latency_s = *draft.nic_us * kMicrosecond, .bytes_per_s = *draft.nic_gbit_per_s * kGigabit};
  }
  return std::nullopt;
}

}  // namespace

std::span<const NodeKey> node_keys() { return kKeys; }

std::optional<Incomplete> complete(const NodeDraft& draft, const Shape& in_cluster, Node& node) {
  node.gpu = draft.gpu;
  node.speed = draft.speed.value_or(1);
  node.base_w = draft.base_w, node.network_w = draft.network_w;
  if (auto wrong = complete_gpu(draft, node)) return wrong;
  if (auto wrong = complete_cpu(draft, node)) return wrong;
  return complete_links(draft, in_cluster, node);
}

}  // namespace gradwatt::planning

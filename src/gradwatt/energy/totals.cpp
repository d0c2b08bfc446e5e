#include "gradwatt/energy/totals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace gradwatt::energy {
namespace {

using record::DeviceKind;

constexpr std::array kParts{DeviceKind::gpu, DeviceKind::cpu, DeviceKind::dram};

const record::Device& device_of(const record::Run& run, const Measured& m) { return run.device(m.figure.device); }

std::string_view component_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu:
      return "gpu";
    case DeviceKind::cpu:
      return "cpu";
    case DeviceKind::dram:
      return "ram";
    default:
      return "rest";
  }
}

void leave_out(Measured& device, std::string why) {
  device.figure.in_total = false;
  device.figure.why_not = std::move(why);
}

std::string_view attribute(const record::Device& device, const std::string& key) {
  const auto it = device.attributes.find(key);
  return it != device.attributes.end() ? std::string_view(it->second) : std::string_view{};
}

bool counts(const Measured& m) { return m.figure.in_total && m.figure.energy_j.has_value(); }

void leave_out_repeated(const record::Run& run, std::vector<Measured>& all) {
  std::set<std::tuple<DeviceKind, std::string_view, std::string_view>> seen;
  for (auto& m : all) {
    const auto& device = device_of(run, m);
    if (device.uuid.empty() || !m.figure.energy_j) continue;
    if (!seen.emplace(device.kind, device.host, device.uuid).second)
      leave_out(m, "the record holds this device twice; it counts once");
  }
}

void leave_out_parts(const record::Run& run, std::vector<Measured>& all) {
  using Identity = std::pair<std::string_view, std::string_view>;
  std::map<Identity, const Measured*> counted;
  for (const auto& m : all)
    if (counts(m)) counted.emplace(Identity(device_of(run, m).host, device_of(run, m).uuid), &m);
  for (auto& m : all) {
    const auto& device = device_of(run, m);
    const auto parent =
        attribute(device, "parent").empty() ? attribute(device, "part_of") : attribute(device, "parent");
    if (parent.empty() || parent == device.uuid) continue;
    const auto it = counted.find({device.host, parent});
    if (it == counted.end()) continue;
    leave_out(m, fmt::format("it is a part of {}, which is counted", short_name(device_of(run, *it->second))));
  }
}

void leave_out_inside_modules(const record::Run& run, std::vector<Measured>& all) {
  std::map<std::string_view, std::string> module_of_host;
  for (const auto& m : all)
    if (counts(m) && device_of(run, m).kind == DeviceKind::gpu && m.whole_module())
      module_of_host.emplace(device_of(run, m).host, short_name(device_of(run, m)));
  for (auto& m : all) {
    const auto kind = device_of(run, m).kind;
    if (kind != DeviceKind::cpu && kind != DeviceKind::dram) continue;
    if (const auto it = module_of_host.find(device_of(run, m).host); it != module_of_host.end())
      leave_out(m, fmt::format("it is inside the module whose energy {} reports", it->second));
  }
}

void leave_out_modelled_beside_measured(const record::Run& run, std::vector<Measured>& all) {
  std::set<std::pair<DeviceKind, std::string_view>> measured;
  for (const auto& m : all)
    if (counts(m) && m.figure.how < record::How::modelled)
      measured.emplace(device_of(run, m).kind, device_of(run, m).host);
  for (auto& m : all) {
    const auto kind = device_of(run, m).kind;
    if (!counts(m) || m.figure.how < record::How::modelled || kind == DeviceKind::gpu) continue;
    if (measured.contains({kind, device_of(run, m).host})) leave_out(m, "the same host has a measured figure");
  }
}

/// A CPU or RAM entry that never had a power source (it carries clocks or use only) is no hole in a total.
void leave_out_without_source(const record::Run& run, std::vector<Measured>& all) {
  for (auto& m : all) {
    const bool needs_power = device_of(run, m).kind == DeviceKind::gpu || m.has_candidates;
    if (!m.figure.energy_j && !needs_power) m.figure.in_total = false;
  }
}

/// Sums what counts; keeps the spread so that totals can add it up again.
struct Sum {
  double energy_j = 0, power_w = 0, estimated_j = 0;
  bool any = false, any_estimated = false;
  double coverage = 1;
  record::How how = record::How::counter;
  record::Where where = record::Where::live;
  Spread spread;

  void add(const Measured& m) {
    coverage = std::min(coverage, m.figure.coverage);
    if (!m.figure.energy_j) return;
    any = true;
    energy_j += *m.figure.energy_j;
    power_w += m.figure.power_avg_w.value_or(0);
    if (m.figure.estimated_j) {
      estimated_j += *m.figure.estimated_j;
      any_estimated = true;
    }
    how = std::max(how, m.figure.how);
    where = std::max(where, m.figure.where);
    spread += m.spread;
  }
};

void fill(Component& out, const Sum& sum) {
  if (!sum.any) return;
  out.energy_j = sum.energy_j;
  out.power_avg_w = sum.power_w;
  out.how = sum.how;
  out.where = sum.where;
  out.coverage = sum.coverage;
  if (sum.any_estimated) out.estimated_j = sum.estimated_j;
  if (const auto ends = interval(sum.energy_j, sum.spread)) {
    out.low_j = ends->first;
    out.high_j = ends->second;
  }
}

std::string reason_without(const record::Run& run, const std::vector<Measured>& all, DeviceKind kind) {
  for (const auto& m : all)
    if (device_of(run, m).kind == kind && !m.figure.why_not.empty())
      return fmt::format("{}: {}", short_name(device_of(run, m)), m.figure.why_not);
  return kind == DeviceKind::gpu ? "the record holds no GPU" : "nothing that measures it could be read";
}

struct Built {
  Component component;
  Sum sum;
};

Built build_part(const record::Run& run, const std::vector<Measured>& all, DeviceKind kind) {
  Built out;
  out.component.component = component_of(kind);
  out.component.where = run.where();
  for (const auto& m : all) {
    if (device_of(run, m).kind != kind) continue;
    out.component.devices.push_back(m.figure);
    if (m.figure.in_total) out.sum.add(m);
  }
  fill(out.component, out.sum);
  if (!out.sum.any) out.component.why_not = reason_without(run, all, kind);
  return out;
}

/// What one node's meter shows beyond the counted parts of its host.
void add_rest_of(const record::Run& run, const std::vector<Measured>& all, const Measured& node, Built& out) {
  Sum parts;
  for (const auto& m : all)
    if (m.figure.in_total && device_of(run, m).host == device_of(run, node).host &&
        device_of(run, m).kind != DeviceKind::node)
      parts.add(m);
  const double rest_w = node.figure.power_avg_w.value_or(0) - parts.power_w;
  if (rest_w < 0) {
    out.component.why_not = fmt::format("the node meter shows {:.0f} W, less than the {:.0f} W of the measured parts",
                                        node.figure.power_avg_w.value_or(0), parts.power_w);
    return;
  }
  Sum& sum = out.sum;
  const double energy_j = rest_w * node.covered_s;
  sum.any = true;
  sum.energy_j += energy_j;
  sum.power_w += rest_w;
  if (node.figure.estimated_j && node.covered_s > 0) {
    sum.any_estimated = true;
    sum.estimated_j += *node.figure.estimated_j * rest_w / node.figure.power_avg_w.value_or(1);
  }
  sum.coverage = std::min({sum.coverage, node.figure.coverage, parts.coverage});
  sum.how = std::max({sum.how, node.figure.how, parts.any ? parts.how : record::How::counter});
  sum.where = std::max(sum.where, node.figure.where);
  // The error of a difference is that of both sides.
  sum.spread += node.spread;
  Spread swapped = parts.spread;
  std::swap(swapped.lean_low_j, swapped.lean_high_j);
  sum.spread += swapped;
}

std::optional<Built> build_rest(const record::Run& run, const std::vector<Measured>& all) {
  Built out;
  out.component.component = "rest";
  bool meter = false;
  for (const auto& m : all) {
    if (device_of(run, m).kind != DeviceKind::node || !m.figure.energy_j || !m.figure.in_total) continue;
    meter = true;
    out.component.devices.push_back(m.figure);
    add_rest_of(run, all, m, out);
  }
  if (!meter) return std::nullopt;
  fill(out.component, out.sum);
  return out;
}

void add_to_totals(Totals& totals, const Built& built, Sum& sum) {
  totals.components.push_back(built.component);
  if (!built.sum.any) return;
  sum.any = true;
  sum.energy_j += built.sum.energy_j;
  sum.estimated_j += built.sum.estimated_j;
  sum.any_estimated = sum.any_estimated || built.sum.any_estimated;
  sum.coverage = std::min(sum.coverage, built.sum.coverage);
  sum.how = std::max(sum.how, built.sum.how);
  sum.where = std::max(sum.where, built.sum.where);
  sum.spread += built.sum.spread;
}

std::vector<std::string> name_missing(const record::Run& run, const Totals& totals, bool rest) {
  std::vector<std::string> out;
  const bool has_gpu =
      std::ranges::any_of(run.devices, [](const record::Device& d) { return d.kind == DeviceKind::gpu; });
  const bool module = std::ranges::any_of(totals.components[1].devices, [](const DeviceEnergy& d) {
    return !d.in_total && d.why_not.find("inside the module") != std::string::npos;
  });
  if (!totals.components[0].energy_j && has_gpu) out.emplace_back("GPU");
  if (!totals.components[1].energy_j && !module) out.emplace_back("CPU");
  if (!totals.components[2].energy_j && !module) out.emplace_back("RAM");
  if (!rest) out.emplace_back("rest of the node (fans, disks, network, power supply)");
  return out;
}

}  // namespace

std::vector<Measured> measure_all(const record::Run& run, Window job) {
  std::vector<Measured> out;
  for (std::uint32_t i = 0; i < run.devices.size(); ++i) {
    if (energy_candidates(run.devices[i].kind).empty()) continue;
    out.push_back(measure(run, static_cast<record::DeviceIndex>(i), job));
  }
  leave_out_repeated(run, out);
  leave_out_parts(run, out);
  leave_out_inside_modules(run, out);
  leave_out_modelled_beside_measured(run, out);
  leave_out_without_source(run, out);
  return out;
}

Totals total_of(const record::Run& run, const std::vector<Measured>& devices, Window /*job*/) {
  Totals totals;
  totals.where = run.where();
  Sum sum;
  for (const auto kind : kParts) add_to_totals(totals, build_part(run, devices, kind), sum);
  const auto rest = build_rest(run, devices);
  if (rest) add_to_totals(totals, *rest, sum);
  totals.not_measured = name_missing(run, totals, rest && rest->sum.any);
  if (!sum.any) return totals;

  totals.energy_j = sum.energy_j;
  totals.how = sum.how;
  totals.where = sum.where;
  totals.coverage = sum.coverage;
  if (sum.any_estimated) totals.estimated_j = sum.estimated_j;
  if (const auto ends = interval(sum.energy_j, sum.spread)) {
    totals.low_j = ends->first;
    totals.high_j = ends->second;
  }
  for (auto& component : totals.components)
    if (component.energy_j && sum.energy_j > 0) component.share = *component.energy_j / sum.energy_j;
  return totals;
}

}  // namespace gradwatt::energy

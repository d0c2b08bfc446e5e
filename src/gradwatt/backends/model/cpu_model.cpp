#include "gradwatt/backends/model/cpu_model.hpp"

#include <fmt/format.h>

#include "gradwatt/catalog/cpu_table.hpp"

namespace gradwatt::model {
namespace {

// A virtual CPU is one hardware thread; where it has a core to itself the share is up to twice as large.
constexpr double kCoresPerVirtualCpu = 0.5;
constexpr double kVirtualCpuHigh = 2.0;

double full_of(const catalog::CpuRow& row) { return row.peak_w.value_or(row.tdp_w); }

CpuModel known(const catalog::CpuRow& row, const catalog::HostCpu& cpu, const catalog::HostCpu::Package& package) {
  const catalog::CpuPowerCurve curve;
  CpuModel model;
  model.full_w = full_of(row);
  model.low = curve.low;
  model.high = curve.high;
  model.rests_on = fmt::format("{} of {:.0f} W and the utilisation of its CPUs ({})",
                               row.peak_w ? "turbo power" : "thermal design power", full_of(row), row.source);
  if (cpu.virtual_machine) {
    const double cores = kCoresPerVirtualCpu * static_cast<double>(package.cpus.size());
    model.full_w *= cores / row.cores;
    model.high *= kVirtualCpuHigh;
    model.rests_on = fmt::format("this guest's share only: {} virtual CPUs, each half of one of {} cores; {}",
                                 package.cpus.size(), row.cores, model.rests_on);
  }
  return model;
}

CpuModel unknown(const catalog::HostCpu& cpu, const catalog::HostCpu::Package& package) {
  const catalog::UnknownCore core;
  const double cores =
      cpu.virtual_machine ? kCoresPerVirtualCpu * static_cast<double>(package.cpus.size()) : package.cores;
  CpuModel model;
  model.full_w = core.full_w * cores;
  model.low = core.low;
  model.high = core.high * (cpu.virtual_machine ? kVirtualCpuHigh : 1);
  const auto name = cpu.model_name.empty() ? std::string("this CPU") : fmt::format("'{}'", cpu.model_name);
  model.rests_on = fmt::format("{} is not in the CPU table: {:.0f} W a core and the utilisation", name, core.full_w);
  if (cpu.virtual_machine)
    model.rests_on = fmt::format("this guest's share only: {} virtual CPUs, each taken as half a core; {}",
                                 package.cpus.size(), model.rests_on);
  return model;
}

}  // namespace

std::vector<CpuModel> make_cpu_models(const catalog::HostCpu& cpu) {
  const auto* row = catalog::find_cpu(cpu.model_name);
  std::vector<CpuModel> models;
  for (const auto& [id, package] : cpu.packages) {
    auto model = row != nullptr ? known(*row, cpu, package) : unknown(cpu, package);
    model.package = id;
    model.cpus = package.cpus;
    model.cpu_name =
        cpu.model_name.empty() ? fmt::format("CPU package {}", id) : catalog::clean_cpu_name(cpu.model_name);
    models.push_back(std::move(model));
  }
  return models;
}

}  // namespace gradwatt::model

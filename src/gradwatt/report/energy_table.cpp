#include "gradwatt/report/energy_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "gradwatt/report/figures.hpp"
#include "gradwatt/report/headline.hpp"

namespace gradwatt::report {
namespace {

constexpr std::size_t kPowerColumns = 8;
constexpr std::size_t kEnergyColumns = 10;
constexpr std::size_t kShareColumns = 8;
constexpr std::size_t kBeforeOrigin = kLabelColumns + kPowerColumns + kEnergyColumns + kShareColumns + 3;
/// Below this a reader must know that part of the time is missing.
constexpr double kFullCoverage = 0.99;
/// More GPUs than this are said as a spread with its outliers.
constexpr std::size_t kGpusOneByOne = 16;

struct TableRow {
  std::string label, power, energy, share, origin;
};

void put_row(Screen& screen, const TableRow& row, Style style = Style::plain) {
  const auto room = screen.width() > kBeforeOrigin + 12 ? screen.width() - kBeforeOrigin : 12;
  auto head = pad_right("  " + row.label, kLabelColumns) + pad_left(row.power, kPowerColumns) +
              pad_left(row.energy, kEnergyColumns) + pad_left(row.share, kShareColumns) + "   ";
  const auto pieces = wrap(row.origin, room);
  if (pieces.empty()) return screen.line(head, style);
  for (const auto& piece : pieces) {
    screen.line(head + piece, style);
    head = std::string(kBeforeOrigin, ' ');
  }
}

std::string with_range_and_coverage(std::string origin, std::optional<std::string> range, double coverage) {
  const bool is_split = origin.find(',') != std::string::npos && range;
  // Behind a split the range would seem to belong to its last part.
  if (range) origin = is_split ? fmt::format("{} ({})", *range, origin) : origin + " " + *range;
  if (coverage < kFullCoverage) origin += fmt::format(", {} covered", coverage_text(coverage));
  return origin;
}

void put_missing(Screen& screen, const energy::Component& c) {
  screen.entry(component_text(c.component), c.why_not.empty() ? "not measured" : "not measured: " + c.why_not);
}

TableRow component_row(const energy::Component& c, record::Where run_where) {
  TableRow row{component_text(c.component), "–", "–", "–", ""};
  if (c.power_avg_w) row.power = power_text(*c.power_avg_w);
  row.energy = energy_text(*c.energy_j);
  if (c.share) row.share = share_text(*c.share);
  row.origin = with_range_and_coverage(origin_text(c.how, c.where, run_where),
                                       range_text(c.energy_j, c.low_j, c.high_j), c.coverage);
  return row;
}

/// "94 % counter, 6 % modelled": the split that a total of mixed origin must show.
std::string origin_split(const energy::Totals& totals) {
  std::array<double, 4> by_how{};
  double sum = 0;
  for (const auto& c : totals.components)
    for (const auto& d : c.devices)
      if (d.in_total && d.energy_j) by_how.at(static_cast<std::size_t>(d.how)) += *d.energy_j, sum += *d.energy_j;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < by_how.size(); ++i)
    if (by_how.at(i) > 0)
      parts.push_back(
          unbroken(fmt::format("{} {}", share_text(by_how.at(i) / sum), name_of(static_cast<record::How>(i)))));
  return parts.size() < 2 ? origin_text(totals.how, totals.where, totals.where)
                          : fmt::format("{}", fmt::join(parts, ", "));
}

void put_total(Screen& screen, const energy::Totals& totals) {
  if (!totals.energy_j) return;
  const auto power_w = total_power_w(totals);
  put_row(screen,
          {"total", power_w ? power_text(*power_w) : "–", energy_text(*totals.energy_j), "",
           with_range_and_coverage(origin_split(totals), range_text(totals.energy_j, totals.low_j, totals.high_j),
                                   totals.coverage)},
          Style::strong);
}

std::vector<energy::DeviceEnergy> measured_devices(const energy::Component& component) {
  std::vector<energy::DeviceEnergy> devices;
  std::ranges::copy_if(component.devices, std::back_inserter(devices),
                       [](const auto& d) { return d.power_avg_w.has_value(); });
  return devices;
}

void put_each_gpu(Screen& screen, const record::Run& run, const std::vector<energy::DeviceEnergy>& gpus) {
  const bool one_host = hosts_of(run).size() < 2;
  std::vector<std::string> cells;
  for (const auto& gpu : gpus) {
    const int index = run.device(gpu.device).index;
    const auto label = one_host && index >= 0 ? std::to_string(index) : device_label(run, gpu.device);
    cells.push_back(unbroken(
        fmt::format("{}: {}{}", label, power_text(*gpu.power_avg_w), gpu.in_total ? "" : " (in its parent's figure)")));
  }
  screen.entry("each GPU", fmt::format("{}", fmt::join(cells, ", ")));
}

void put_gpu_spread(Screen& screen, const record::Run& run, std::vector<energy::DeviceEnergy> gpus) {
  std::ranges::sort(gpus, {}, [](const auto& gpu) { return *gpu.power_avg_w; });
  const auto say = [&](const auto& gpu) {
    return fmt::format("{} ({})", power_text(*gpu.power_avg_w), device_label(run, gpu.device));
  };
  screen.entry("each of " + std::to_string(gpus.size()),
               fmt::format("lowest {}, median {}, highest {}", say(gpus.front()),
                           power_text(*gpus[gpus.size() / 2].power_avg_w), say(gpus.back())));
}

/// GPUs that could not be measured, with the reason of the first.
void put_unmeasured(Screen& screen, const record::Run& run, const energy::Component& component) {
  std::vector<std::string> labels;
  std::string why;
  for (const auto& d : component.devices) {
    if (d.energy_j) continue;
    labels.push_back(device_label(run, d.device));
    if (why.empty()) why = d.why_not;
  }
  if (labels.empty() || !component.energy_j) return;
  screen.entry("", fmt::format("not measured: {}{}", fmt::join(labels, ", "), why.empty() ? "" : " (" + why + ")"),
               Style::bad);
}

void put_devices(Screen& screen, const record::Run& run, const energy::Component& component) {
  if (component.component != "gpu") return;
  const auto gpus = measured_devices(component);
  if (gpus.size() > kGpusOneByOne)
    put_gpu_spread(screen, run, gpus);
  else if (gpus.size() > 1)
    put_each_gpu(screen, run, gpus);
  put_unmeasured(screen, run, component);
}

void put_estimated(Screen& screen, const energy::Totals& totals) {
  if (!totals.estimated_j || !totals.energy_j || *totals.estimated_j < 0.001 * *totals.energy_j) return;
  screen.entry("estimated", fmt::format("{} more in the time that no reading covers; not in the total",
                                        energy_text(*totals.estimated_j)));
}

void put_not_measured(Screen& screen, const energy::Totals& totals) {
  std::vector<std::string> names;
  for (const auto& name : totals.not_measured) {
    const bool has_row = std::ranges::any_of(
        totals.components, [&](const auto& c) { return !c.energy_j && component_text(c.component) == name; });
    if (!has_row) names.push_back(name);
  }
  if (!names.empty()) screen.entry("not seen", fmt::format("{}", fmt::join(names, ", ")));
}

}  // namespace

void put_energy_table(Screen& screen, const record::Run& run, const energy::Totals& totals) {
  put_row(screen, {"", "power", "energy", "share", "origin"}, Style::dim);
  for (const auto& component : totals.components) {
    if (component.energy_j)
      put_row(screen, component_row(component, run.where()));
    else
      put_missing(screen, component);
    put_devices(screen, run, component);
  }
  put_total(screen, totals);
  put_estimated(screen, totals);
  put_not_measured(screen, totals);
}

}  // namespace gradwatt::report

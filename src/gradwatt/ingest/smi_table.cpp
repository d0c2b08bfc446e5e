#include "gradwatt/ingest/smi_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/smi_cell.hpp"
#include "gradwatt/ingest/text_scan.hpp"

namespace gradwatt::ingest {
namespace {

constexpr std::size_t kLongestRow = 400;

/// Cells between bars: "| a | b |" -> a, b.
std::vector<std::string_view> cells_of(std::string_view row) {
  row.remove_prefix(1);
  if (row.ends_with('|')) row.remove_suffix(1);
  auto cells = core::split(row, '|');
  for (auto& cell : cells) cell = core::trim(cell);
  return cells;
}

/// The two sides of "76W / 700W"; "N/A" has a bar of its own.
std::pair<std::string_view, std::string_view> sides(std::string_view cell) {
  const auto bar = cell.find(" / ");
  if (bar == std::string_view::npos) return {cell, {}};
  return {core::trim(cell.substr(0, bar)), core::trim(cell.substr(bar + 3))};
}

/// ERR! is a fault and N/A nothing; the rest must begin as a number.
bool is_value(std::string_view text) { return !text.empty() && read_cell(text).kind != CellKind::text; }

}  // namespace

bool SmiTable::take(const Line& line) {
  const auto text = core::trim(line.text);
  if (text.size() > kLongestRow || line.too_long) return false;
  if (text.starts_with("+-") || text.starts_with("|==") || text.starts_with("|--")) {
    if (part_ == Part::head && text.starts_with("|==")) part_ = Part::gpus;
    return part_ != Part::none || date_;
  }
  if (text.starts_with("| NVIDIA-SMI ")) {
    flush();
    part_ = Part::head;
    TextScan scan(text);
    driver_ = scan.skip_past("Driver Version: ") ? std::string(scan.word("|").substr(0, 40)) : std::string();
    time_ = std::exchange(date_, std::nullopt);
    return true;
  }
  if (text.starts_with('|') && text.size() > 2 && part_ != Part::none) return take_row(line);
  if (const auto time = text.size() < 40 && !text.empty() && text.front() >= 'A' ? parse_time(text) : std::nullopt) {
    date_ = time, date_line_ = line.number;
    return true;
  }
  if (text.empty()) return part_ != Part::none;
  part_ = Part::none;
  return false;
}

bool SmiTable::take_row(const Line& line) {
  const auto text = core::trim(line.text);
  const auto cells = cells_of(text);
  if (text.starts_with("| Processes:") || text.starts_with("| MIG devices:")) part_ = Part::other;
  if (part_ == Part::other && cells.size() == 1) take_process(cells.front());
  if (part_ != Part::gpus || cells.size() != 3) return true;
  const auto number = TextScan(cells[0]).integer();
  const bool begins = number && *number >= 0 && *number < 4096 && cells[1].find(':') != std::string_view::npos;
  if (begins) {
    take_first(cells, line.number);
  } else if (!gpus_.empty() && gpus_.back().lines == 1) {
    take_second(gpus_.back(), cells);
    ++gpus_.back().lines;
  } else if (!gpus_.empty() && gpus_.back().lines == 2) {
    if (!cells[2].empty() && cells[2].size() < 20)
      gpus_.back().look.fields.push_back({"mig.mode.current", std::string(cells[2])});
    ++gpus_.back().lines;
  }
  return true;
}

// "|   0  NVIDIA H200                    On  |   00000000:8D:00.0 Off |                    0 |"
void SmiTable::take_first(const std::vector<std::string_view>& cells, std::size_t line) {
  if (gpus_.size() >= kMaxDevices) return;
  Gpu gpu;
  TextScan scan(cells[0]);
  gpu.index = static_cast<int>(*scan.integer());
  gpu.lines = 1;
  gpu.look.line = line;
  auto& fields = gpu.look.fields;
  fields.push_back({"index", std::to_string(gpu.index)});
  auto name = core::trim(scan.rest());
  for (const std::string_view mode : {"On", "Off", "N/A"}) {
    if (!name.ends_with(mode)) continue;
    name.remove_suffix(mode.size());
    fields.push_back({"persistence_mode", std::string(mode)});
    break;
  }
  name = core::trim(name);
  // "WDDM" and "TCC" of Windows stand where persistence does on Linux.
  if (!name.empty()) fields.push_back({"name", std::string(name)});
  fields.push_back({"pci.bus_id", std::string(TextScan(cells[1]).word())});
  const auto errors = cells[2];
  if (read_cell(errors).kind == CellKind::number)
    fields.push_back({"ecc.errors.uncorrected.volatile.total", std::string(errors)});
  if (errors == "Off") fields.push_back({"ecc.mode.current", "Disabled"});
  gpus_.push_back(std::move(gpu));
}

// "| N/A   29C    P0             76W /  700W |       0MiB / 143771MiB |      0%      Default |"
void SmiTable::take_second(Gpu& gpu, const std::vector<std::string_view>& cells) const {
  auto& fields = gpu.look.fields;
  const auto put = [&](std::string_view name, std::string_view text) {
    if (is_value(text)) fields.push_back({std::string(name), std::string(text)});
  };
  const auto [left, limit] = sides(cells[0]);
  TextScan scan(left);
  put("fan.speed", scan.word());
  put("temperature.gpu", scan.word());
  if (const auto state = scan.word(); state.size() <= 3 && state.starts_with('P'))
    fields.push_back({"pstate", std::string(state)});
  put("power.draw", scan.word());
  put("power.limit", limit);
  const auto [used, total] = sides(cells[1]);
  put("memory.used", used);
  put("memory.total", total);
  put("utilization.gpu", TextScan(cells[2]).word());
}

// "    0   N/A  N/A   3794277      C   python                                      11942MiB "
void SmiTable::take_process(std::string_view text) {
  TextScan scan(text);
  const auto index = scan.integer();
  if (!index || !scan.rest().starts_with(' ')) return;
  for (auto& gpu : gpus_)
    if (gpu.index == *index && text.find(" C ") != std::string_view::npos) ++gpu.processes;
}

void SmiTable::flush() {
  if (!gpus_.empty()) looks_.at(time_, date_line_);
  for (auto& gpu : gpus_) {
    if (!driver_.empty()) gpu.look.fields.push_back({"driver_version", driver_});
    gpu.look.fields.push_back({"processes", std::to_string(gpu.processes)});
    if (gpu.lines >= 2) looks_.add(std::move(gpu.look));
  }
  gpus_.clear();
}

}  // namespace gradwatt::ingest

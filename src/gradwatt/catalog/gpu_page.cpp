#include "gradwatt/catalog/gpu_page.hpp"

#include <fmt/format.h>

#include <array>
#include <span>

#include "gradwatt/catalog/gpu_table.hpp"

namespace gradwatt::catalog {
namespace {

/// Raised after a figure: its source, explained below the tables.
constexpr std::string_view kLetters = "*SRADZCFLPU";
char letter_of(GpuSource source) { return kLetters.at(static_cast<std::size_t>(source)); }

std::string shown(const GpuCell& cell) {
  return cell ? fmt::format("{:g} <sup>{}</sup>", cell->value, letter_of(cell->source)) : "–";
}

void add_row(std::string& page, std::string_view name, std::span<const GpuCell> cells) {
  page += fmt::format("| {} |", name);
  for (const auto& cell : cells) page += fmt::format(" {} |", shown(cell));
  page += '\n';
}

}  // namespace

std::string gpu_page() {
  std::string page =
      "# Hardware table\n\n"
      "What gradwatt knows of GPUs beforehand, for plans of machines that are not here and for rooflines. Made from\n"
      "`src/gradwatt/catalog/gpu_table.cpp`; change that, then run `GRADWATT_REGENERATE=1 "
      "build/dev/tests/catalog_test`.\n\n"
      "What the device itself says wins over every figure: names do not tell all products apart, and hosts change "
      "limits.\n"
      "A figure that is not known is a dash, and a plan that needs it says so. A letter behind a figure is its "
      "source.\n"
      "GB is 10⁹ bytes; rates are dense, half precision with sums in fp32.\n\n"
      "## Memory, rates, links\n\n"
      "| GPU | memory GB | GB/s | fp32 TFLOPS | TF32 | bf16 | fp16 | links GB/s, both ways | links | PCIe |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& row : gpu_table())
    add_row(
        page, row.name,
        std::array{row.memory.gb, row.memory.gb_per_s, row.peak.fp32_tflops, row.peak.tf32_tflops, row.peak.bf16_tflops,
                   row.peak.fp16_tflops, row.links.gb_per_s, row.links.count, row.links.pcie_gen});
  page +=
      "\n## Power\n\n"
      "| GPU | limit W | lowest W | highest W | idle W | idle with a context W |\n|---|---|---|---|---|---|\n";
  for (const auto& row : gpu_table())
    add_row(page, row.name,
            std::array{row.power.default_w, row.power.min_w, row.power.max_w, row.power.idle_w, row.power.context_w});
  page += "\n## Notes\n\n";
  for (const auto& row : gpu_table())
    if (!row.note.empty()) page += fmt::format("* {}: {}.\n", row.name, row.note);
  page += "\n## Sources\n\n";
  for (auto i = static_cast<int>(GpuSource::data_sheet); i <= static_cast<int>(GpuSource::unconfirmed); ++i)
    page += fmt::format("* {}: {}\n", letter_of(static_cast<GpuSource>(i)), words_of(static_cast<GpuSource>(i)));
  return page;
}

}  // namespace gradwatt::catalog

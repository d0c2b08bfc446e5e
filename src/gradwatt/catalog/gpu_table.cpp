#include "gradwatt/catalog/gpu_table.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"

namespace gradwatt::catalog {
namespace {

// A short word a source, so that a row stays readable.
constexpr GpuCell sheet(double v) { return GpuFigure{v, GpuSource::data_sheet}; }
constexpr GpuCell mle(double v) { return GpuFigure{v, GpuSource::accelerators}; }
constexpr GpuCell dump(double v) { return GpuFigure{v, GpuSource::driver_dump}; }
constexpr GpuCell zeus(double v) { return GpuFigure{v, GpuSource::zeus_traces}; }
constexpr GpuCell dcgm(double v) { return GpuFigure{v, GpuSource::dcgm}; }
constexpr GpuCell field(double v) { return GpuFigure{v, GpuSource::field_report}; }
constexpr GpuCell sum(double v) { return GpuFigure{v, GpuSource::derived}; }
constexpr GpuCell page(double v) { return GpuFigure{v, GpuSource::spec_page}; }
constexpr GpuCell recall(double v) { return GpuFigure{v, GpuSource::recalled}; }
constexpr GpuCell said(double v) { return GpuFigure{v, GpuSource::unconfirmed}; }
constexpr GpuCell none;

// Links are counted from the total: a link of NVLink 2, 3 and 4 carries 50 GB/s in both directions together, of GA102
// bridges 28.125, of NVLink 5 100 (NVIDIA, NVLink generations).
constexpr auto kGpus = std::to_array<GpuRow>({
    // clang-format off
    // name, spellings
    //   {memory GB, GB/s}, {limit default, min, max, idle, with context}, {fp32, tf32, bf16, fp16}, {links GB/s, count, PCIe}
    {"P100 PCIe 16GB", {"P100-PCIE-16GB"},
     {recall(16), recall(732)}, {zeus(250), none, zeus(250), none, none}, {recall(9.3), none, none, recall(18.7)},
     {none, none, recall(3)}, "no tensor cores"},
    {"V100 PCIe 16GB", {"V100-PCIE-16GB"},
     {sheet(16), sheet(900)}, {dump(250), dump(100), dump(250), dump(24.5), none}, {sheet(14), none, none, sheet(112)},
     {none, none, sheet(3)}, ""},
    {"V100 PCIe 32GB", {"V100-PCIE-32GB"},
     {sheet(32), sheet(900)}, {dump(250), dump(100), dump(250), dump(24.5), none}, {sheet(14), none, none, sheet(112)},
     {none, none, sheet(3)}, ""},
    {"V100 SXM2 16GB", {"V100-SXM2-16GB"},
     {sheet(16), sheet(900)}, {dump(300), dump(150), dump(300), dump(44), dump(64)}, {sheet(15.7), none, none, sheet(125)},
     {sheet(300), sum(6), sheet(3)}, ""},
    {"V100 SXM2 32GB", {"V100-SXM2-32GB"},
     {sheet(32), sheet(900)}, {dump(300), dump(150), dump(300), dump(44), dump(64)}, {sheet(15.7), none, none, sheet(125)},
     {sheet(300), sum(6), sheet(3)}, ""},
    {"T4", {},
     {sheet(16), sheet(320)}, {dump(70), dump(60), dump(70), dump(11.5), none}, {sheet(8.1), none, none, sheet(65)},
     {none, none, sheet(3)}, ""},
    {"Quadro RTX 6000", {},
     {recall(24), recall(672)}, {zeus(260), none, zeus(260), none, none}, {recall(16.3), none, none, recall(130.5)},
     {recall(100), sum(2), recall(3)}, "Turing; not the RTX 6000 Ada Generation"},
    {"A10", {},
     {sheet(24), sheet(600)}, {dump(150), dump(100), dump(150), dump(15), none}, {sheet(31.2), sheet(62.5), sheet(125), sheet(125)},
     {none, none, sheet(4)}, ""},
    {"A10G", {},
     {sheet(24), sheet(600)}, {dump(300), dump(100), dump(300), dump(30), dump(60)}, {said(31), said(35), said(70), said(70)},
     {none, none, sheet(4)}, "made for one cloud; its peak rates are not published"},
    {"A30", {},
     {sheet(24), sheet(933)}, {sheet(165), none, none, dump(31), none}, {sheet(10.3), sheet(82), sheet(165), sheet(165)},
     {sheet(200), sum(4), sheet(4)}, "links only with a bridge"},
    {"A40", {},
     {page(48), page(696)}, {zeus(300), zeus(100), zeus(300), said(16.5), none}, {page(37.4), page(74.8), page(149.7), page(149.7)},
     {page(112.5), sum(4), page(4)}, "links only with a bridge"},
    {"RTX A6000", {},
     {recall(48), recall(768)}, {dump(300), dump(100), dump(300), dump(16.5), none}, {recall(38.7), recall(77.4), recall(154.8), recall(154.8)},
     {recall(112.5), sum(4), recall(4)}, "links only with a bridge"},
    {"A100 PCIe 40GB", {"A100-PCIE-40GB"},
     {mle(40), mle(1555)}, {sheet(250), none, none, said(40), none}, {mle(19.5), mle(156), mle(312), mle(312)},
     {mle(600), sum(12), mle(4)}, "links only with a bridge"},
    {"A100 PCIe 80GB", {"A100 80GB PCIe", "A100-PCIE-80GB"},
     {mle(80), mle(1935)}, {dump(300), dump(150), dump(300), none, dump(64.5)}, {mle(19.5), mle(156), mle(312), mle(312)},
     {mle(600), sum(12), mle(4)}, "links only with a bridge"},
    {"A100 SXM4 40GB", {"A100-SXM4-40GB", "A100 SXM 40GB"},
     {mle(40), mle(1555)}, {dump(400), dump(100), dump(400), dump(52), none}, {mle(19.5), mle(156), mle(312), mle(312)},
     {mle(600), sum(12), mle(4)}, "400 W, never 450"},
    {"A100 SXM4 80GB", {"A100-SXM4-80GB", "A100 SXM 80GB"},
     {mle(80), mle(2039)}, {dump(400), dump(100), dump(400), dump(67.5), none}, {mle(19.5), mle(156), mle(312), mle(312)},
     {mle(600), sum(12), mle(4)}, "some (PCI subsystem 147F) come with 500 W and print the same name: read the limit from the device"},
    {"L4", {},
     {page(24), page(300)}, {dump(72), dump(40), dump(72), dump(16), none}, {page(30.3), page(60), page(121), page(121)},
     {none, none, page(4)}, ""},
    {"L40", {},
     {page(48), page(864)}, {dump(300), dump(100), dump(300), dump(24), none}, {page(90.5), page(90.5), page(181), page(181)},
     {none, none, page(4)}, "its dump may be of an RTX 6000 Ada, which has the same clocks"},
    {"L40S", {},
     {mle(48), mle(864)}, {dump(350), dump(150), dump(350), dump(29), dump(82)}, {mle(91.6), mle(183), mle(362), mle(362)},
     {none, none, mle(4)}, ""},
    {"RTX 3090", {},
     {sheet(24), sheet(936)}, {dump(350), dump(100), dump(350), dump(22), none}, {sheet(35.6), sheet(35.6), sheet(71), sheet(71)},
     {sheet(112.5), sum(4), sheet(4)}, "partners' cards have other limits; links only with a bridge"},
    {"RTX 4090", {},
     {page(24), page(1008)}, {dump(450), dump(150), dump(600), dump(18), none}, {page(82.6), page(82.6), page(165), page(165)},
     {none, none, page(4)}, "no peer-to-peer with the stock driver; 480 W at most on some cards"},
    {"RTX 5090", {},
     {sheet(32), sheet(1792)}, {dump(575), none, said(600), dump(27.5), none}, {sheet(104.8), said(105), said(210), said(210)},
     {none, none, sheet(5)}, "no peer-to-peer; its headline of 838 TFLOPS is with fp16 sums and sparsity"},
    {"H100 PCIe", {"H100 PCIe 80GB"},
     {mle(80), mle(2000)}, {dump(350), none, none, dump(50.5), dump(84.5)}, {mle(51), mle(378), mle(756), mle(756)},
     {mle(600), sum(12), mle(5)}, "links only with a bridge"},
    {"H100 SXM5 80GB", {"H100 80GB HBM3", "H100 SXM5", "H100 SXM"},
     {mle(80), mle(3350)}, {dump(700), dump(200), dump(700), dump(72), field(133)}, {mle(67), mle(494.5), mle(989), mle(989)},
     {mle(900), sum(18), mle(5)}, ""},
    {"H100 NVL", {},
     {mle(94), mle(3900)}, {dump(400), dump(200), dump(400), dump(61.5), dump(90.5)}, {said(60), said(418), said(835), said(835)},
     {mle(600), sum(12), mle(5)}, "some come with 310 W and print the same name: read the limit from the device"},
    {"H200 SXM", {"H200"},
     {mle(141), mle(4800)}, {dump(700), dump(200), dump(700), dump(75), none}, {mle(67), mle(494.5), mle(989), mle(989)},
     {mle(900), sum(18), mle(5)}, ""},
    {"H200 NVL", {},
     {mle(141), mle(4800)}, {dcgm(600), none, none, none, none}, {said(60), said(418), said(835), said(835)},
     {mle(900), sum(18), mle(5)}, "links only with a bridge"},
    {"GH200 96GB", {"GH200 480GB", "GH200 120GB"},
     {mle(96), mle(4000)}, {dump(900), dump(100), dump(900), none, none}, {mle(67), mle(494.5), mle(989), mle(989)},
     {mle(900), sum(18), none}, "the name states the CPU's memory; the module has a limit of its own; 900 GB/s to the CPU"},
    {"GH200 144GB", {"GH200 144G HBM3e"},
     {mle(144), mle(4800)}, {dump(900), dump(100), dump(900), none, none}, {mle(67), mle(494.5), mle(989), mle(989)},
     {mle(900), sum(18), none}, "the module has a limit of its own; 900 GB/s to the CPU"},
    {"B200", {},
     {mle(180), mle(8000)}, {dcgm(1000), none, none, dump(140.5), none}, {mle(75), mle(1125), mle(2250), mle(2250)},
     {mle(1800), sum(18), mle(5)}, ""},
    {"GB200", {},
     {mle(186), mle(8000)}, {dcgm(1200), none, none, none, none}, {mle(80), mle(1250), mle(2500), mle(2500)},
     {mle(1800), sum(18), none}, "linked to its CPU, not by PCIe"},
    {"MI250X", {},
     {mle(128), mle(3277)}, {sheet(500), none, none, said(90), none}, {mle(47.9), none, mle(383), mle(383)},
     {none, none, mle(4)}, "shows itself as two devices, each with half of these figures; 560 W at its peak"},
    {"MI300X", {},
     {mle(192), mle(5300)}, {sheet(750), none, none, said(145), none}, {mle(163.4), mle(653.7), mle(1307), mle(1307)},
     {mle(896), sum(7), mle(5)}, "links go from each to each of 8"},
    // clang-format on
});

/// Words that say nothing of the product.
constexpr auto kAddsNothing =
    std::to_array<std::string_view>({"nvidia", "tesla", "geforce", "amd", "instinct", "oam", "gpu", "tensor", "core",
                                     "hbm2", "hbm2e", "hbm3", "hbm3e"});

using Words = std::set<std::string, std::less<>>;

/// "NVIDIA A100-SXM4-40GB" -> 40gb a100 nvidia sxm4; "40 GB" counts as one word.
Words words_in(std::string_view name) {
  auto text = core::to_lower(name);
  std::ranges::replace_if(
      text, [](char c) { return c == '-' || c == '_' || c == '/' || c == ','; }, ' ');
  Words words;
  std::string before;
  for (const auto word : core::split_words(text)) {
    std::string whole(word);
    if (word == "gb" && core::parse_int(before)) {
      words.erase(before);
      whole = before + "gb";
    }
    words.insert(whole);
    before = whole;
  }
  return words;
}

bool says_memory(std::string_view word, const GpuCell& memory_gb) {
  if (!memory_gb || !word.ends_with("gb")) return false;
  const auto gb = core::parse_int(word.substr(0, word.size() - 2));
  return gb && static_cast<double>(*gb) == memory_gb->value;
}

/// How many words of the spelling the name has, where it has all of them and no other that names a product; else 0.
std::size_t fit(const Words& name, std::string_view spelling, const GpuRow& row) {
  const auto wanted = words_in(spelling);
  for (const auto& word : wanted)
    if (!name.contains(word)) return 0;
  for (const auto& word : name) {
    const bool known = wanted.contains(word) || std::ranges::find(kAddsNothing, word) != kAddsNothing.end();
    if (!known && !says_memory(word, row.memory.gb)) return 0;
  }
  return wanted.size();
}

std::size_t best_fit(const Words& name, const GpuRow& row) {
  auto best = fit(name, row.name, row);
  for (const auto spelling : row.spellings)
    if (!spelling.empty()) best = std::max(best, fit(name, spelling, row));
  return best;
}

void replace(GpuCell& cell, const std::optional<double>& live) {
  if (live) cell = GpuFigure{*live, GpuSource::live};
}

}  // namespace

std::string_view words_of(GpuSource source) {
  switch (source) {
    case GpuSource::live:
      return "device itself";
    case GpuSource::data_sheet:
      return "vendor's data sheet";
    case GpuSource::recalled:
      return "vendor's data sheet as remembered, not looked up again";
    case GpuSource::accelerators:
      return "accelerator tables of stas00/ml-engineering, August 2026";
    case GpuSource::driver_dump:
      return "nvidia-smi output of such a device in a public repository";
    case GpuSource::zeus_traces:
      return "power traces of Zeus (NSDI 2023)";
    case GpuSource::dcgm:
      return "target power of DCGM 4.6's diagnostic";
    case GpuSource::field_report:
      return "one user's measurement (NVIDIA/nccl issue 1550)";
    case GpuSource::derived:
      return "total of the links by what one carries";
    case GpuSource::spec_page:
      return "specification page of a third party";
    case GpuSource::unconfirmed:
      break;
  }
  return "figure that places state without a source";
}

std::span<const GpuRow> gpu_table() { return kGpus; }

const GpuRow* find_gpu(std::string_view name) {
  const auto words = words_in(name);
  const GpuRow* best = nullptr;
  std::size_t best_words = 0;
  for (const auto& row : kGpus)
    if (const auto n = best_fit(words, row); n > best_words) best = &row, best_words = n;
  return best;
}

std::vector<const GpuRow*> gpus_like(std::string_view name) {
  auto words = words_in(name);
  std::erase_if(words, [](const auto& word) { return std::ranges::find(kAddsNothing, word) != kAddsNothing.end(); });
  std::vector<const GpuRow*> out;
  if (words.empty()) return out;
  for (const auto& row : kGpus)
    if (std::ranges::includes(words_in(row.name), words)) out.push_back(&row);
  if (!out.empty()) return out;
  // "A100 SXM" has a word that no row has; the model number alone may still say what is meant.
  for (const auto& row : kGpus)
    if (std::ranges::any_of(words, [&](const auto& word) { return words_in(row.name).contains(word); }))
      out.push_back(&row);
  if (!out.empty()) return out;
  std::vector<std::string_view> names;
  for (const auto& row : kGpus) names.push_back(row.name);
  if (const auto near = core::nearest(name, names)) out.push_back(find_gpu(*near));
  return out;
}

GpuRow with_live(GpuRow row, const LiveGpu& live) {
  replace(row.memory.gb, live.memory_gb);
  replace(row.power.default_w, live.power_default_w);
  replace(row.power.min_w, live.power_min_w);
  replace(row.power.max_w, live.power_max_w);
  replace(row.power.enforced_w, live.power_enforced_w);
  replace(row.power.idle_w, live.power_idle_w);
  replace(row.links.count, live.links);
  replace(row.links.pcie_gen, live.pcie_gen);
  return row;
}

const GpuCell& power_limit(const GpuRow& row) {
  return row.power.enforced_w ? row.power.enforced_w : row.power.default_w;
}

}  // namespace gradwatt::catalog

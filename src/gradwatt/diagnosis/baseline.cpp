#include "gradwatt/diagnosis/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gradwatt::diagnosis {
namespace {

struct FigureRow {
  std::string_view name, unit;
  std::optional<double> Baseline::*figure;
  int better;  ///< +1: more is better, −1: less is, 0: either way is a change
};
constexpr auto kFigures = std::to_array<FigureRow>({
    {"samples_per_s", "1/s", &Baseline::samples_per_s, +1},
    {"steps_per_s", "1/s", &Baseline::steps_per_s, +1},
    {"energy_per_sample_j", "J", &Baseline::energy_per_sample_j, -1},
    {"power_avg_w", "W", &Baseline::power_avg_w, 0},
});

std::optional<double> figure_of(const energy::Comparison& self, std::string_view name) {
  const auto* metric = self.find(name);
  return metric != nullptr ? metric->a : std::nullopt;
}

struct PublishedRow {
  std::string_view name, gpu;
  double gpus, samples_per_s;
};
/// NVIDIA DeepLearningExamples, repository state of April 2024: training throughput of the recipes there.
constexpr std::string_view kSource = "published: NVIDIA DeepLearningExamples, April 2024";
constexpr auto kPublished = std::to_array<PublishedRow>({
    {"resnet50-pytorch-a100-tf32", "A100 80GB", 1, 938},
    {"resnet50-pytorch-a100-amp", "A100 80GB", 1, 2470},
    {"resnet50-pytorch-a100x8-tf32", "A100 80GB", 8, 7248},
    {"resnet50-pytorch-a100x8-amp", "A100 80GB", 8, 16621},
    {"resnet50-pytorch-v100-fp32", "V100 16GB", 1, 367},
    {"resnet50-pytorch-v100-amp", "V100 16GB", 1, 1200},
    {"resnet50-pytorch-v100x8-amp", "V100 16GB", 8, 8322},
    {"resnet50-mxnet-a100-amp", "A100 80GB", 1, 3411},
    {"resnet50-mxnet-a100x8-amp", "A100 80GB", 8, 26674},
    {"bert-large-128-pytorch-a100-amp", "A100 80GB", 1, 580},
    {"bert-large-128-pytorch-a100x8-amp", "A100 80GB", 8, 4591},
    {"bert-large-512-pytorch-a100-amp", "A100 80GB", 1, 210},
    {"bert-large-512-pytorch-a100x8-amp", "A100 80GB", 8, 1657},
    {"ssd300-pytorch-a100-amp", "A100 80GB", 1, 724},
    {"ssd300-pytorch-a100x8-amp", "A100 80GB", 8, 5734},
});

}  // namespace

Baseline baseline_of(const record::Run& run, std::string name) {
  Baseline out{.name = std::move(name)};
  out.run_id = run.text(record::meta::kRunId).value_or("");
  out.command = run.text(record::meta::kCommand).value_or("");
  out.origin = "measured";
  const auto figures = energy::figures_of(run);
  out.ranks = figures.ranks;
  out.gpus = figures.gpus;
  for (const auto& device : run.devices)
    if (device.kind == record::DeviceKind::gpu && out.gpu.empty()) out.gpu = device.name;
  // Compared with itself a run gives its own figures, by the rules that every comparison follows.
  const auto self = energy::compare(std::span(&figures, 1), std::span(&figures, 1));
  for (const auto& row : kFigures) out.*row.figure = figure_of(self, row.name);
  return out;
}

BaselineCheck check(const Baseline& baseline, const Baseline& now, double allowed_loss) {
  BaselineCheck out;
  if (!baseline.gpu.empty() && !now.gpu.empty() && baseline.gpu != now.gpu)
    out.differences.push_back(fmt::format("GPU {} instead of {}", now.gpu, baseline.gpu));
  const bool other_size = baseline.ranks && now.ranks && *baseline.ranks != *now.ranks;
  if (other_size)
    out.differences.push_back(fmt::format("{:.0f} ranks instead of {:.0f}: speed and power are compared a rank",
                                          *now.ranks, *baseline.ranks));
  for (const auto& row : kFigures) {
    auto expected = baseline.*row.figure, got = now.*row.figure;
    if (!expected || !got || *expected <= 0) continue;
    // A step has the same length under ideal scaling, and a sample costs the same energy; the rest grows with the
    // ranks.
    if (other_size && (row.name == "samples_per_s" || row.name == "power_avg_w")) {
      *expected /= *baseline.ranks;
      *got /= *now.ranks;
      if (row.name == "samples_per_s") out.efficiency = *got / *expected;
    }
    const double change = *got / *expected - 1;
    const bool worse = row.better > 0   ? change < -allowed_loss
                       : row.better < 0 ? change > allowed_loss
                                        : std::abs(change) > allowed_loss;
    out.figures.push_back({row.name, row.unit, *expected, *got, change, worse});
  }
  return out;
}

bool BaselineCheck::passed() const {
  return std::ranges::none_of(figures, [](const auto& figure) { return figure.worse; });
}

const std::vector<Baseline>& published_baselines() {
  static const auto table = [] {
    std::vector<Baseline> out;
    for (const auto& row : kPublished) {
      Baseline baseline{.name = std::string(row.name)};
      baseline.origin = kSource;
      baseline.gpu = row.gpu;
      baseline.ranks = baseline.gpus = row.gpus;
      baseline.samples_per_s = row.samples_per_s;
      out.push_back(std::move(baseline));
    }
    return out;
  }();
  return table;
}

}  // namespace gradwatt::diagnosis

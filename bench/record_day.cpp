// A day of eight GPUs with forty metrics at one reading a second: how big is the record, how long does it take to load
// what a report reads? Usage: record_day [FOLDER]
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <random>

#include "gradwatt/energy/summary.hpp"
#include "gradwatt/record/store.hpp"

namespace {

using namespace gradwatt;
using record::DeviceKind;
using Clock = std::chrono::steady_clock;

constexpr int kGpus = 8;
constexpr std::size_t kMetrics = 40;
constexpr std::int64_t kSeconds = 86400;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Believable sizes: power in mW with noise, counters that grow, most health counters zero.
std::int64_t value_of(const record::Metric& metric, std::int64_t t, std::mt19937_64& random) {
  if (metric.unit == "j") return 400'000'000 * t + static_cast<std::int64_t>(random() % 1'000'000) / 1000 * 1000;
  if (metric.unit == "w") return 400'000 + static_cast<std::int64_t>(random() % 100'000);
  if (metric.unit == "pct") return static_cast<std::int64_t>(random() % 1000);
  if (metric.unit == "mhz") return 1980 - static_cast<std::int64_t>(random() % 8) * 15;
  if (metric.unit == "bytes" && metric.type == record::MetricType::counter)
    return 2'000'000'000 * t + static_cast<std::int64_t>(random() % 1'000'000'000);
  if (metric.unit == "bytes") return 70'000'000'000;
  if (metric.unit == "c") return 60 + static_cast<std::int64_t>(random() % 5);
  return metric.type == record::MetricType::counter ? 0 : 1;
}

void write_day(const std::filesystem::path& file) {
  auto writer = record::Writer::create(file);
  if (!writer) {
    fmt::print(stderr, "{}\n", writer.error().message);
    std::exit(1);
  }
  auto& out = **writer;
  std::mt19937_64 random(1);
  for (std::uint32_t gpu = 0; gpu < kGpus; ++gpu) {
    out.add_device(static_cast<record::DeviceIndex>(gpu),
                   {DeviceKind::gpu, fmt::format("GPU-{}", gpu), "Synthetic", static_cast<int>(gpu), "host", {}});
    for (std::size_t i = 0; i < kMetrics; ++i) {
      record::SeriesQuality quality;
      quality.device = static_cast<record::DeviceIndex>(gpu);
      quality.metric = record::metric_at(DeviceKind::gpu, i);
      quality.cadence_ns = 1'000'000'000;
      out.set_quality(quality);
    }
  }
  constexpr std::int64_t kBoot = 3'000'000'000'000'000;
  out.set_meta(record::meta::kJobBegin, std::to_string(kBoot));
  out.set_meta(record::meta::kJobEnd, std::to_string(kBoot + kSeconds * 1'000'000'000));
  for (std::int64_t t = 0; t < kSeconds; ++t) {
    for (std::uint32_t gpu = 0; gpu < kGpus; ++gpu) {
      auto row = record::empty_row(static_cast<record::DeviceIndex>(gpu), DeviceKind::gpu,
                                   kBoot + t * 1'000'000'000 + static_cast<std::int64_t>(random() % 1'000'000));
      for (std::size_t i = 0; i < kMetrics; ++i) {
        const auto& metric = record::metrics_of(DeviceKind::gpu)[i];
        row.values[i] = value_of(metric, t, random);
        if (metric.type == record::MetricType::counter) row.raw[i] = row.values[i] == 0 ? 0 : row.values[i] + 12'345'000;
      }
      out.add_row(std::move(row));
    }
    if (t % 2000 == 0) out.flush(std::chrono::minutes(1));
  }
  if (!out.close(std::chrono::minutes(5))) fmt::print(stderr, "rows were lost\n");
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : std::filesystem::temp_directory_path();
  const auto file = folder / "record_day.db";
  std::filesystem::remove(file);
  const auto begin = Clock::now();
  write_day(file);
  fmt::print("{} rows x {} metrics written in {:.1f} s\n", kSeconds * kGpus, kMetrics, since(begin));
  fmt::print("file: {:.1f} MiB\n", static_cast<double>(std::filesystem::file_size(file)) / 1048576.0);
  for (int i = 0; i < 3; ++i) {
    const auto load = Clock::now();
    const auto run = record::load_file(file, energy::columns_for_summary());
    const double loaded = since(load);
    if (!run) return 1;
    const auto summary = energy::summarize(*run);
    fmt::print("load {:.3f} s, summary {:.3f} s ({} GPU components)\n", loaded, since(load) - loaded,
               summary.energy.components.empty() ? 0 : summary.energy.components[0].devices.size());
  }
  std::filesystem::remove(file);
}

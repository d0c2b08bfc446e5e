#include "gradwatt/ingest/power_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradwatt/ingest/power_meaning.hpp"

namespace gradwatt::ingest {
namespace {

using record::MetricId;
constexpr auto kGpu = record::DeviceKind::gpu;
constexpr MetricId kAverage = record::metric(kGpu, "power_avg");
constexpr MetricId kInstant = record::metric(kGpu, "power_inst");
constexpr MetricId kLimitEnforced = record::metric(kGpu, "power_limit_enforced");
constexpr MetricId kLimitRequested = record::metric(kGpu, "power_limit_requested");

/// No GPU board draws more; the largest limit seen is 2900 W, of a superchip module (k8s-test-infra #676). A column
/// whose typical value is above holds another unit.
constexpr double kMostPlausibleWatts = 3000;
/// A single reading above is a glitch whatever the board.
constexpr double kGlitchWatts = 20'000;
/// Gain and offset of a card are typically within ±5 % (arXiv 2312.02741, over 70 GPUs).
constexpr double kSensorUncertainty = 0.05;

}  // namespace

std::optional<std::string> judge_power(SampleTable& table, const std::function<std::string(MetricId)>& column_of,
                                       std::size_t header_line, Diagnostics& diagnostics) {
  std::optional<std::string> refused;
  for (std::size_t i = 0; i < record::metric_count(kGpu); ++i) {
    const auto metric = record::metric_at(kGpu, i);
    const auto& row = record::info(metric);
    auto values = row.unit == "w" ? table.values(metric) : std::vector<std::int64_t>{};
    if (values.empty()) continue;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    const double typical = static_cast<double>(*middle) * row.step;
    const auto column = column_of(metric);
    if (typical > kMostPlausibleWatts) {
      table.drop(metric);
      refused = fmt::format(
          "column {} holds {:.0f} W in the middle, more than any GPU ({:.0f} W), so its unit is not W and it is not "
          "used; "
          "if it is milliwatt, say --unit {}=mW",
          in_quotes(column), typical, kMostPlausibleWatts, column);
      diagnostics.add({}, header_line, *refused);
    } else if (const auto gone = table.drop_above(metric, std::llround(kGlitchWatts / row.step)); gone > 0) {
      diagnostics.note(fmt::format("{} values of column {} are above {:.0f} W and taken as missing", gone,
                                   in_quotes(column), kGlitchWatts));
    }
  }
  return refused;
}

void fill_enforced_limit(record::Run& run) {
  for (auto& series : run.series) {
    const auto* requested = series.find(kLimitRequested);
    if (requested == nullptr || series.find(kLimitEnforced) != nullptr) continue;
    record::Column copy{kLimitEnforced, requested->values, {}};
    auto quality = *run.find_quality(series.device, kLimitRequested);
    quality.metric = kLimitEnforced;
    quality.how = record::How::estimated;
    quality.note = "the recording holds only the limit asked for; the one in force may be lower";
    series.columns.push_back(std::move(copy));
    run.quality.push_back(std::move(quality));
  }
}

void describe_power(record::SeriesQuality& quality, std::string_view gpu_name, bool plain) {
  if (record::info(quality.metric).name.starts_with("power_module")) quality.scope = "module";
  if (quality.metric != kAverage && quality.metric != kInstant) return;
  const auto meaning = power_draw_of(gpu_name);
  quality.uncertainty = kSensorUncertainty;
  quality.duty = quality.metric == kInstant ? duty_of_instant(gpu_name) : std::optional(1.0);
  if (!plain) return;
  quality.note = meaning.note;
  if (!meaning.known) quality.duty.reset();
}

}  // namespace gradwatt::ingest

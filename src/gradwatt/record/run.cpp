#include "gradwatt/record/run.hpp"

#include <algorithm>
#include <array>

#include "gradwatt/core/file_tree.hpp"

namespace gradwatt::record {
namespace {
constexpr std::array<std::string_view, 3> kSamplingNames{"deadline", "stratified", "irregular"};
}

std::string_view name_of(Sampling sampling) { return kSamplingNames.at(static_cast<std::size_t>(sampling)); }
std::optional<Sampling> sampling_from(std::string_view name) {
  const auto* it = std::ranges::find(kSamplingNames, name);
  if (it == kSamplingNames.end()) return std::nullopt;
  return static_cast<Sampling>(it - kSamplingNames.begin());
}

const DeviceSeries* Run::find_series(DeviceIndex i) const {
  const auto it = std::ranges::find(series, i, &DeviceSeries::device);
  return it != series.end() ? &*it : nullptr;
}

const SeriesQuality* Run::find_quality(DeviceIndex i, MetricId metric) const {
  const auto it =
      std::ranges::find_if(quality, [&](const SeriesQuality& q) { return q.device == i && q.metric == metric; });
  return it != quality.end() ? &*it : nullptr;
}

std::optional<std::string_view> Run::text(std::string_view key) const {
  const auto it = meta.find(key);
  if (it == meta.end()) return std::nullopt;
  return it->second;
}

std::optional<std::int64_t> Run::number_of(std::string_view key) const {
  const auto value = text(key);
  return value ? core::parse_int(*value) : std::nullopt;
}

void Run::set(std::string_view key, std::string value) { meta.insert_or_assign(std::string(key), std::move(value)); }
void Run::set(std::string_view key, std::int64_t value) { set(key, std::to_string(value)); }

Where Run::where() const { return where_from(text(meta::kWhere).value_or("live")).value_or(Where::live); }
bool Run::complete() const { return text(meta::kComplete) == "1"; }

std::optional<Run::Extent> Run::extent() const {
  auto begin = number_of(meta::kJobBegin);
  auto end = number_of(meta::kJobEnd);
  const auto widen_begin = [&](std::int64_t t) { begin = begin ? std::min(*begin, t) : t; };
  const auto widen_end = [&](std::int64_t t) { end = end ? std::max(*end, t) : t; };
  if (!begin) {
    for (const auto& s : series)
      if (!s.time_ns.empty()) widen_begin(s.time_ns.front());
    for (const auto& m : marks) widen_begin(m.begin_ns);
  }
  if (!end) {
    for (const auto& s : series)
      if (!s.time_ns.empty()) widen_end(s.time_ns.back());
    for (const auto& m : marks) widen_end(m.end_ns);
  }
  if (!begin || !end) return std::nullopt;
  return Extent{*begin, std::max(*begin, *end)};
}

}  // namespace gradwatt::record

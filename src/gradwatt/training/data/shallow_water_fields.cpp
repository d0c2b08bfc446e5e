#include "gradwatt/training/data/shallow_water_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gradwatt::training {
namespace {

/// Numbers of the flows that training never sees begin here.
constexpr std::uint64_t kHeldOutFlows = 1'000'000;

core::Result<void> check(const ShallowWaterData& data) {
  const auto& m = data.model;
  if (m.rows < 4 || m.columns < 4 || data.flows < 1 || data.steps < 1 || data.snapshots <= data.steps) {
    return core::fail(
        core::Errc::wrong_use,
        fmt::format("shallow water needs 4×4 cells or more and more snapshots than steps, not {}×{} cells, {} "
                    "flows, {} snapshots, {} steps",
                    m.rows, m.columns, data.flows, data.snapshots, data.steps));
  }
  if (!(m.latitude_limit_deg > 0 && m.latitude_limit_deg < 90) || !(m.mean_depth_m > 0) || !(data.interval_s > 0)) {
    return core::fail(core::Errc::wrong_use,
                      "shallow water needs a latitude limit below 90 degrees, a depth and an interval");
  }
  return {};
}

/// Appends the snapshots of one flow, in units.
core::Result<void> append_flow(const ShallowWaterData& data, std::uint64_t number, std::vector<float>& fields) {
  ShallowWater water(data.model);
  water.begin_random(data.seed * 0x9E3779B97F4A7C15U + number);
  const auto size = 3 * static_cast<std::size_t>(data.model.rows) * static_cast<std::size_t>(data.model.columns);
  bool stable = data.spin_up_s <= 0 || water.advance(data.spin_up_s);
  for (int i = 0; i < data.snapshots && stable; ++i) {
    if (i > 0) stable = water.advance(data.interval_s);
    fields.resize(fields.size() + size);
    water.write_fields(std::span(fields).last(size));
  }
  if (stable) return {};
  return core::fail(core::Errc::unusable_input,
                    fmt::format("the shallow-water flow {} of seed {} became unstable: use less wind or more depth",
                                number, data.seed));
}

/// Mean of normalised fields over time and longitude, at every longitude.
std::vector<float> zonal_mean(std::span<const float> fields, const FieldGrid& grid) {
  const auto columns = static_cast<std::size_t>(grid.columns), size = grid.field_size();
  std::vector<float> mean(size);
  for (std::size_t row = 0; row < size; row += columns) {
    double sum = 0;
    for (std::size_t at = row; at < fields.size(); at += size) {
      for (std::size_t x = 0; x < columns; ++x) sum += fields[at + x];
    }
    const auto value = sum / static_cast<double>(columns * (fields.size() / size));
    std::fill_n(mean.begin() + static_cast<std::ptrdiff_t>(row), columns, static_cast<float>(value));
  }
  return mean;
}

}  // namespace

core::Result<std::shared_ptr<FieldDataset>> make_shallow_water(const ShallowWaterData& data) {
  if (auto sound = check(data); !sound) return core::fail(std::move(sound.error()));
  FieldSeries::Parts parts;
  parts.steps = data.steps;
  parts.grid.channels = {"depth (m)", "u (m/s)", "v (m/s)"};
  parts.grid.columns = data.model.columns;
  const ShallowWater geometry(data.model);
  for (int j = 0; j < data.model.rows; ++j) parts.grid.latitudes_deg.push_back(geometry.latitude_deg(j));

  std::vector<float> reference;
  if (auto made = append_flow(data, 0, reference); !made) return core::fail(std::move(made.error()));
  measure_channels(reference, parts.grid);
  const auto first = data.held_out ? kHeldOutFlows : 0;
  for (std::uint64_t flow = 0; flow < static_cast<std::uint64_t>(data.flows); ++flow) {
    if (first + flow == 0) {
      parts.fields = reference;
    } else if (auto made = append_flow(data, first + flow, parts.fields); !made) {
      return core::fail(std::move(made.error()));
    }
    for (int i = 0; i + data.steps < data.snapshots; ++i) {
      parts.starts.push_back(flow * static_cast<std::size_t>(data.snapshots) + static_cast<std::size_t>(i));
    }
  }
  normalise(parts.fields, parts.grid);
  normalise(reference, parts.grid);
  parts.climatology = zonal_mean(reference, parts.grid);
  return std::make_shared<FieldSeries>(std::move(parts));
}

}  // namespace gradwatt::training

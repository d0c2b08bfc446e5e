#include "gradwatt/training/data/fields.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gradwatt::training {

std::vector<std::int64_t> FieldDataset::input_shape() const {
  return {static_cast<std::int64_t>(grid().channels.size()), grid().rows(), grid().columns};
}

std::vector<std::int64_t> FieldDataset::target_shape() const {
  auto shape = input_shape();
  if (steps() > 1) shape.insert(shape.begin(), steps());
  return shape;
}

core::Result<void> FieldSeries::fill(std::size_t index, ExampleRandom&, ExampleSlot slot) const {
  const auto size = parts_.grid.field_size();
  const auto input = parts_.fields.begin() + static_cast<std::ptrdiff_t>(parts_.starts.at(index) * size);
  std::copy_n(input, size, slot.input.begin());
  std::copy_n(input + static_cast<std::ptrdiff_t>(size), size * static_cast<std::size_t>(parts_.steps),
              slot.field.begin());
  return {};
}

std::span<const float> FieldSeries::at_its_time(std::span<const float> period, std::size_t index, int step) const {
  const auto size = parts_.grid.field_size();
  const auto number = parts_.starts.at(index) + static_cast<std::size_t>(step);
  return period.subspan((parts_.phase.empty() ? 0 : parts_.phase.at(number)) * size, size);
}

void FieldSeries::climatology(std::size_t index, int step, std::span<float> field) const {
  std::ranges::copy(at_its_time(parts_.climatology, index, step + 1), field.begin());
}

std::span<const float> FieldSeries::removed(std::size_t index, int step) const {
  if (parts_.cycle.empty()) return {};
  return at_its_time(parts_.cycle, index, step);
}

void measure_channels(std::span<const float> fields, FieldGrid& grid) {
  const auto rows = grid.latitudes_deg.size(), columns = static_cast<std::size_t>(grid.columns);
  const auto channels = grid.channels.size();
  std::vector<double> sum(channels), squares(channels);
  double weight = 0;
  // Two passes: the spread of a layer's depth is small beside its mean.
  const auto over_all = [&](auto visit) {
    for (std::size_t at = 0, plane = 0; at < fields.size(); at += rows * columns, ++plane) {
      for (std::size_t y = 0; y < rows; ++y) {
        const double w = std::cos(grid.latitudes_deg[y] * std::numbers::pi / 180);
        for (std::size_t x = 0; x < columns; ++x) visit(plane % channels, w, fields[at + y * columns + x]);
      }
    }
  };
  over_all([&](std::size_t c, double w, double value) {
    sum[c] += w * value;
    weight += w / static_cast<double>(channels);
  });
  for (auto& s : sum) s /= weight;
  over_all([&](std::size_t c, double w, double value) { squares[c] += w * (value - sum[c]) * (value - sum[c]); });
  grid.mean.assign(sum.begin(), sum.end());
  grid.deviation.clear();
  for (const double s : squares) {
    const double deviation = std::sqrt(s / weight);
    grid.deviation.push_back(deviation > 0 ? static_cast<float>(deviation) : 1.0F);  // a constant channel becomes 0
  }
}

void normalise(std::span<float> fields, const FieldGrid& grid) {
  const auto plane = grid.latitudes_deg.size() * static_cast<std::size_t>(grid.columns);
  for (std::size_t at = 0, number = 0; at < fields.size(); at += plane, ++number) {
    const auto c = number % grid.channels.size();
    const float mean = grid.mean[c], scale = 1.0F / grid.deviation[c];
    for (auto& value : fields.subspan(at, plane)) value = (value - mean) * scale;
  }
}

}  // namespace gradwatt::training

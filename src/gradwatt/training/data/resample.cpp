#include "gradwatt/training/data/resample.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

// The one pass over all pixels of a training set: also built for newer processors, chosen when the program starts.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define GRADWATT_FOR_EACH_PROCESSOR __attribute__((target_clones("arch=haswell", "default")))
#else
#define GRADWATT_FOR_EACH_PROCESSOR
#endif

namespace gradwatt::training {
namespace {

GRADWATT_FOR_EACH_PROCESSOR
void add_weighted(const std::uint8_t* bytes, float weight, std::size_t count, float* sums) {
  for (std::size_t i = 0; i < count; ++i) sums[i] += weight * static_cast<float>(bytes[i]);
}

GRADWATT_FOR_EACH_PROCESSOR
void set_weighted(const std::uint8_t* bytes, float weight, std::size_t count, float* sums) {
  for (std::size_t i = 0; i < count; ++i) sums[i] = weight * static_cast<float>(bytes[i]);
}

/// One pixel: red, green, blue and a lane that nobody reads.
using Pixel = float __attribute__((vector_size(16)));

}  // namespace

void Resampler::Axis::set(double begin, double length, double low, double high, int pixels, int outputs) {
  const double scale = length / outputs;
  const double support = std::max(1.0, scale);  // of the triangle, in input pixels
  taps = static_cast<int>(std::ceil(support)) * 2 + 1;
  first.assign(static_cast<std::size_t>(outputs), 0);
  weights.assign(static_cast<std::size_t>(outputs) * static_cast<std::size_t>(taps), 0.0F);
  const int lowest = std::clamp(static_cast<int>(std::floor(low + 1e-6)), 0, pixels - 1);
  const int end = std::clamp(static_cast<int>(std::ceil(high - 1e-6)), lowest + 1, pixels);
  for (int i = 0; i < outputs; ++i) {
    const double centre = begin + (i + 0.5) * scale;
    const int from = std::clamp(static_cast<int>(centre - support + 0.5), lowest, end - 1);
    const int to = std::clamp(static_cast<int>(centre + support + 0.5), from + 1, std::min(end, from + taps));
    float* const row = &weights[static_cast<std::size_t>(i) * static_cast<std::size_t>(taps)];
    double sum = 0;
    for (int x = from; x < to; ++x) {
      const double w = std::max(0.0, 1.0 - std::abs((x + 0.5 - centre) / support));
      row[x - from] = static_cast<float>(w);
      sum += w;
    }
    if (sum <= 0) {
      row[0] = 1.0F;
    } else {
      for (int k = 0; k < to - from; ++k) row[k] = static_cast<float>(row[k] / sum);
    }
    // All taps are read: the unused ones, of weight 0, must lie inside too.
    const int shift = std::max(0, from + taps - pixels);
    const int start = std::max(0, from - shift);
    const int moved = from - start;
    if (moved > 0) {
      std::memmove(row + moved, row, static_cast<std::size_t>(taps - moved) * sizeof(float));
      std::fill_n(row, moved, 0.0F);
    }
    first[static_cast<std::size_t>(i)] = start;
  }
}

void Resampler::sum_rows(const Pixels& source, int output_row, int from, int to) {
  const auto taps = static_cast<std::size_t>(down_.taps);
  const float* const weights = &down_.weights[static_cast<std::size_t>(output_row) * taps];
  const int top = down_.first[static_cast<std::size_t>(output_row)];
  const auto count = static_cast<std::size_t>(to - from) * 4;
  bool begun = false;
  for (int k = 0; k < down_.taps; ++k) {
    if (weights[k] == 0.0F) continue;
    const auto* const bytes = source.row(top + k) + static_cast<std::size_t>(from) * 4;
    (begun ? add_weighted : set_weighted)(bytes, weights[k], count, row_.data());
    begun = true;
  }
}

void Resampler::sum_columns(int from, int output_row, const Target& target, std::span<float> planes) const {
  const auto width = static_cast<std::size_t>(target.size.width);
  const auto plane = width * static_cast<std::size_t>(target.size.height);
  Pixel scale{}, shift{};
  for (int c = 0; c < 3; ++c) {
    const auto i = static_cast<std::size_t>(c);
    scale[c] = 1.0F / (255.0F * target.colours.deviation[i]);
    shift[c] = -target.colours.mean[i] / target.colours.deviation[i];
  }
  float* const red = planes.data() + static_cast<std::size_t>(output_row) * width;
  const auto taps = static_cast<std::size_t>(across_.taps);
  for (std::size_t x = 0; x < width; ++x) {
    const float* const pixels = row_.data() + static_cast<std::size_t>(across_.first[x] - from) * 4;
    const float* const weights = across_.weights.data() + x * taps;
    Pixel sum{};
    for (std::size_t k = 0; k < taps; ++k) {
      Pixel pixel;
      std::memcpy(&pixel, pixels + k * 4, sizeof pixel);
      sum += pixel * weights[k];
    }
    sum = sum * scale + shift;
    const auto at = target.mirrored ? width - 1 - x : x;
    red[at] = sum[0];
    red[at + plane] = sum[1];
    red[at + 2 * plane] = sum[2];
  }
}

void Resampler::resample(const Pixels& source, const Box& box, const Box& bounds, const Target& target,
                         std::span<float> planes) {
  across_.set(box.left, box.width, bounds.left, bounds.left + bounds.width, source.width, target.size.width);
  down_.set(box.top, box.height, bounds.top, bounds.top + bounds.height, source.height, target.size.height);
  const int from = across_.first.front();
  // Taps of weight 0 may reach past a narrow image: the row has room for them, and they stay 0.
  const int to = std::min(source.width, across_.first.back() + across_.taps);
  const auto room = static_cast<std::size_t>(across_.first.back() - from + across_.taps) * 4;
  row_.assign(std::max(room, static_cast<std::size_t>(to - from) * 4), 0.0F);
  for (int y = 0; y < target.size.height; ++y) {
    sum_rows(source, y, from, to);
    sum_columns(from, y, target, planes);
  }
}

}  // namespace gradwatt::training

#include "gradwatt/training/data/augment.hpp"

#include <algorithm>
#include <cmath>

namespace gradwatt::training {
namespace {

// Of random erasing's paper: share of the area, and aspect up to.
constexpr double kEraseAreaLow = 0.02, kEraseAreaHigh = 0.33, kEraseAspect = 3.3;
constexpr int kEraseTries = 10;

}  // namespace

Augmenter::Augmenter(Shape image, AugmentSettings settings, const ChannelStatistics& statistics, bool random)
    : image_(image), output_(image), settings_(settings), random_(random) {
  if (settings_.canvas) output_.height = output_.width = *settings_.canvas;
  for (int c = 0; c < image.channels; ++c) {
    const auto i = static_cast<std::size_t>(c);
    scale_.push_back(1.0F / (255.0F * statistics.deviation[i]));
    shift_.push_back(-statistics.mean[i] / statistics.deviation[i]);
  }
}

Augmenter::Place Augmenter::draw_place(ExampleRandom& random) const {
  Place place{(output_.width - image_.width) / 2, (output_.height - image_.height) / 2, false};
  if (!random_) return place;
  const auto choices = static_cast<std::uint64_t>(2 * settings_.shift_pixels + 1);
  place.left += static_cast<int>(random.below(choices)) - settings_.shift_pixels;
  place.top += static_cast<int>(random.below(choices)) - settings_.shift_pixels;
  place.mirrored = random.uniform() < settings_.mirror_probability;
  return place;
}

void Augmenter::write_plane(const std::uint8_t* image, const Place& place, int channel, float* plane) const {
  const float scale = scale_[static_cast<std::size_t>(channel)], shift = shift_[static_cast<std::size_t>(channel)];
  const int from = std::clamp(place.left, 0, output_.width);
  const int to = std::clamp(place.left + image_.width, from, output_.width);
  for (int y = 0; y < output_.height; ++y) {
    float* const row = plane + y * output_.width;
    const int source_y = y - place.top;
    if (source_y < 0 || source_y >= image_.height) {
      std::fill_n(row, output_.width, shift);  // black
      continue;
    }
    std::fill(row, row + from, shift);
    std::fill(row + to, row + output_.width, shift);
    const std::uint8_t* const source = image + source_y * image_.width;
    if (place.mirrored) {
      const int last = image_.width - 1 + place.left;
      for (int x = from; x < to; ++x) row[x] = static_cast<float>(source[last - x]) * scale + shift;
    } else {
      for (int x = from; x < to; ++x) row[x] = static_cast<float>(source[x - place.left]) * scale + shift;
    }
  }
}

void Augmenter::erase(ExampleRandom& random, std::span<float> planes) const {
  const double area = static_cast<double>(output_.height) * output_.width;
  for (int i = 0; i < kEraseTries; ++i) {
    const double target = area * random.uniform(kEraseAreaLow, kEraseAreaHigh);
    const double aspect = std::exp(random.uniform(-std::log(kEraseAspect), std::log(kEraseAspect)));
    const int height = static_cast<int>(std::sqrt(target * aspect)),
              width = static_cast<int>(std::sqrt(target / aspect));
    if (height < 1 || width < 1 || height > output_.height || width > output_.width) continue;
    const auto top = random.below(static_cast<std::uint64_t>(output_.height - height) + 1);
    const auto left = random.below(static_cast<std::uint64_t>(output_.width - width) + 1);
    for (int row = 0; row < output_.channels * height; ++row) {
      const auto plane_row = static_cast<std::size_t>(row / height * output_.height + row % height) + top;
      std::fill_n(
          planes.begin() + static_cast<std::ptrdiff_t>(plane_row * static_cast<std::size_t>(output_.width) + left),
          width, 0.0F);
    }
    return;
  }
}

void Augmenter::apply(std::span<const std::uint8_t> image, ExampleRandom& random, std::span<float> planes) const {
  const auto place = draw_place(random);
  const auto pixels = static_cast<std::size_t>(image_.height) * static_cast<std::size_t>(image_.width);
  const auto plane = static_cast<std::size_t>(output_.height) * static_cast<std::size_t>(output_.width);
  for (int c = 0; c < image_.channels; ++c) {
    const auto i = static_cast<std::size_t>(c);
    write_plane(image.data() + i * pixels, place, c, planes.data() + i * plane);
  }
  if (random_ && settings_.erase_probability > 0 && random.uniform() < settings_.erase_probability)
    erase(random, planes);
}

}  // namespace gradwatt::training

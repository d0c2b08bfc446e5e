#include "gradwatt/training/data/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gradwatt::training {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr int kWaves = 4;  // in each pattern or field

std::size_t pixels(const SyntheticShape& shape) {
  return static_cast<std::size_t>(shape.channels * shape.height * shape.width);
}

/// Adds a few waves of random direction and phase to each channel.
void add_pattern(const SyntheticShape& shape, ExampleRandom& random, std::span<float> image) {
  auto value = image.begin();
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    double across[kWaves], down[kWaves], phase[kWaves];
    for (int w = 0; w < kWaves; ++w) {
      across[w] = kTurn * static_cast<double>(random.below(4)) / static_cast<double>(shape.width);
      down[w] = kTurn * static_cast<double>(random.below(4)) / static_cast<double>(shape.height);
      phase[w] = random.uniform(0, kTurn);
    }
    for (std::int64_t y = 0; y < shape.height; ++y) {
      for (std::int64_t x = 0; x < shape.width; ++x, ++value) {
        for (int w = 0; w < kWaves; ++w) {
          *value += static_cast<float>(
              0.7 * std::cos(across[w] * static_cast<double>(x) + down[w] * static_cast<double>(y) + phase[w]));
        }
      }
    }
  }
}

}  // namespace

SyntheticImages::SyntheticImages(std::size_t size, SyntheticShape shape, std::int64_t classes, std::uint64_t seed,
                                 double noise, std::uint64_t first_number)
    : size_(size), shape_(shape), classes_(classes), seed_(seed), first_number_(first_number), noise_(noise) {
  patterns_.resize(static_cast<std::size_t>(classes) * pixels(shape));
  for (std::size_t c = 0; c < static_cast<std::size_t>(classes); ++c) {
    auto random = example_random(seed, 0xC1A55, c);
    add_pattern(shape, random, std::span(patterns_).subspan(c * pixels(shape), pixels(shape)));
  }
}

core::Result<void> SyntheticImages::fill(std::size_t index, ExampleRandom&, ExampleSlot slot) const {
  auto random = example_random(seed_, 0xE8A, first_number_ + index);
  const auto label = random.below(static_cast<std::uint64_t>(classes_));
  const auto* const pattern = patterns_.data() + label * pixels(shape_);
  // A sum of four uniform numbers out of one draw is normal enough for noise, and ten times as fast.
  const auto scale = static_cast<float>(noise_ * std::sqrt(3.0));
  for (std::size_t i = 0; i < slot.input.size(); ++i) {
    const auto bits = random();
    float sum = 0;
    for (unsigned part = 0; part < 4; ++part)
      sum += static_cast<float>((bits >> (16 * part)) & 0xFFFFU) / 65536.0F - 0.5F;
    slot.input[i] = pattern[i] + scale * sum;
  }
  *slot.label = static_cast<std::int64_t>(label);
  return {};
}

FreeImages::FreeImages(std::size_t size, SyntheticShape shape, std::int64_t classes)
    : size_(size), shape_(shape), classes_(classes), image_(pixels(shape)) {
  ExampleRandom random(0);
  add_pattern(shape, random, image_);
}

core::Result<void> FreeImages::fill(std::size_t index, ExampleRandom&, ExampleSlot slot) const {
  std::copy(image_.begin(), image_.end(), slot.input.begin());
  *slot.label = static_cast<std::int64_t>(index) % classes_;
  return {};
}

SyntheticFields::SyntheticFields(std::size_t size, SyntheticShape shape, int steps, std::uint64_t seed,
                                 std::uint64_t first_number)
    : size_(size), steps_(steps), seed_(seed), first_number_(first_number) {
  grid_.columns = shape.width;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    grid_.latitudes_deg.push_back(90.0 - 180.0 * (static_cast<double>(y) + 0.5) / static_cast<double>(shape.height));
  }
  const auto channels = static_cast<std::size_t>(shape.channels);
  for (std::size_t c = 0; c < channels; ++c) grid_.channels.push_back(fmt::format("wave {}", c));
  grid_.mean.assign(channels, 0.0F);
  grid_.deviation.assign(channels, 1.0F);
}

void SyntheticFields::write(std::uint64_t number, int time, std::span<float> field) const {
  auto random = example_random(seed_, 0xF1E1D, number);
  auto value = field.begin();
  for (std::size_t c = 0; c < grid_.channels.size(); ++c) {
    double size[kWaves], phase[kWaves];
    for (int w = 0; w < kWaves; ++w) {
      size[w] = random.normal() * std::sqrt(2.0 / kWaves);
      phase[w] = random.uniform(0, kTurn);
    }
    for (const double latitude : grid_.latitudes_deg) {
      const double tilt = latitude * std::numbers::pi / 180;
      for (std::int64_t x = 0; x < grid_.columns; ++x, ++value) {
        double sum = 0;
        for (int w = 0; w < kWaves; ++w) {
          // Wave w moves by a tenth of a turn divided by its number each step: long waves are faster.
          const double place =
              kTurn * (static_cast<double>(x) / static_cast<double>(grid_.columns) - 0.1 * time / (w + 1));
          sum += size[w] * std::cos((w + 1) * place + tilt * w + phase[w]);
        }
        *value = static_cast<float>(sum);
      }
    }
  }
}

core::Result<void> SyntheticFields::fill(std::size_t index, ExampleRandom&, ExampleSlot slot) const {
  write(first_number_ + index, 0, slot.input);
  for (int step = 0; step < steps_; ++step) {
    write(first_number_ + index, step + 1,
          slot.field.subspan(static_cast<std::size_t>(step) * grid_.field_size(), grid_.field_size()));
  }
  return {};
}

void SyntheticFields::climatology(std::size_t, int, std::span<float> field) const {
  std::fill(field.begin(), field.end(), 0.0F);
}

}  // namespace gradwatt::training

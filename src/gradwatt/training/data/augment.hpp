// Small images from bytes to normalised floats, with the augmentation of the CIFAR recipes on the way.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gradwatt/training/data/example_random.hpp"

namespace gradwatt::training {

struct AugmentSettings {
  /// Height and width of a black canvas with the image in its middle (32 for 28×28). Nothing: the image's own size.
  std::optional<int> canvas = std::nullopt;
  /// Moved by up to so many pixels each way, black behind: "pad by 4, crop at random".
  int shift_pixels = 4;
  double mirror_probability = 0.5;
  /// Random erasing (Zhong et al. 2017): a rectangle of the image becomes the mean colour.
  double erase_probability = 0.0;
};

/// What (value/255 − mean) / deviation takes of each channel.
struct ChannelStatistics {
  std::vector<float> mean, deviation;
};

/// Fixed once made: any number of threads.
class Augmenter {
 public:
  struct Shape {
    int channels = 1, height = 0, width = 0;
  };
  /// `random`: false for evaluation, which only pads and normalises.
  Augmenter(Shape image, AugmentSettings settings, const ChannelStatistics& statistics, bool random);

  [[nodiscard]] const Shape& output() const { return output_; }
  /// `image`: channels × height × width bytes; `planes`: floats of the output's shape.
  void apply(std::span<const std::uint8_t> image, ExampleRandom& random, std::span<float> planes) const;

 private:
  struct Place {
    int left, top;  // of the image on the canvas; may lie outside
    bool mirrored;
  };
  [[nodiscard]] Place draw_place(ExampleRandom& random) const;
  void write_plane(const std::uint8_t* image, const Place& place, int channel, float* plane) const;
  void erase(ExampleRandom& random, std::span<float> planes) const;

  Shape image_, output_;
  AugmentSettings settings_;
  bool random_;
  std::vector<float> scale_, shift_;
};

}  // namespace gradwatt::training

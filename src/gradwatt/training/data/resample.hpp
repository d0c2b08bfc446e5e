// Shrinks or enlarges a part of an image straight into normalised planes of floats.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "gradwatt/training/data/pixels.hpp"

namespace gradwatt::training {

/// What the network gets for a channel: (value/255 − mean) / deviation.
struct ColourStatistics {
  std::array<float, 3> mean, deviation;
};
/// Of the ImageNet training images, as torchvision's recipes use them.
inline constexpr ColourStatistics kImageNetColours{{0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}};

/// Bilinear with a filter as wide as the shrinkage, so that nothing aliases (what Pillow's BILINEAR does).
/// Its memory is used again for the next image. One thread at a time.
class Resampler {
 public:
  struct Target {
    ImageSize size;
    bool mirrored = false;
    ColourStatistics colours = kImageNetColours;
  };
  /// `box` in `source`'s pixels. `bounds`: the filter reads no pixel outside (the crop itself, or the whole image).
  /// `planes`: red, green, blue, each height × width.
  void resample(const Pixels& source, const Box& box, const Box& bounds, const Target& target, std::span<float> planes);

 private:
  /// Weights of one axis: output i is the sum of weights[i·taps + k] · input[first[i] + k].
  struct Axis {
    std::vector<int> first;
    std::vector<float> weights;
    int taps = 0;

    void set(double begin, double length, double low, double high, int pixels, int outputs);
  };
  void sum_rows(const Pixels& source, int output_row, int from, int to);
  void sum_columns(int from, int output_row, const Target& target, std::span<float> planes) const;

  Axis across_, down_;
  std::vector<float> row_;  // one output row, not yet resampled across: four floats a pixel
};

}  // namespace gradwatt::training

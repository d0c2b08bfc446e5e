// Pixels as the decoders give them and a part of an image, in plain numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradwatt::training {

struct ImageSize {
  int width = 0, height = 0;
};

/// A rectangle in pixels; fractions name parts of pixels. (0, 0) is the upper left corner of the image.
struct Box {
  double left = 0, top = 0, width = 0, height = 0;
};

/// Decoded pixels, four bytes each (red, green, blue, unused): one pixel fills one vector register of floats.
struct Pixels {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgbx;  ///< rows from the top, without gaps

  [[nodiscard]] const std::uint8_t* row(int y) const { return rgbx.data() + static_cast<std::size_t>(y) * stride(); }
  [[nodiscard]] std::uint8_t* row(int y) { return rgbx.data() + static_cast<std::size_t>(y) * stride(); }
  [[nodiscard]] std::size_t stride() const { return static_cast<std::size_t>(width) * 4; }
};

}  // namespace gradwatt::training

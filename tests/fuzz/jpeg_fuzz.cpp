// Entry point for fuzzing our use of libjpeg: any bytes must give the pixels around the crop, or a refusal. A control
// character in front chooses crop and size.
#include <cmath>
#include <span>

#include "gradwatt/training/data/jpeg.hpp"
#include "tests/fuzz/promise.hpp"

namespace {

using namespace gradwatt;
using fuzz::require;

/// libjpeg's own time for a large image of many passes is no finding.
constexpr std::int64_t kMaxPixels = 1 << 20;

/// The eighths of the image that the choice names.
training::Box crop_of(training::ImageSize size, unsigned choice) {
  const double left = (choice & 3U) / 8.0, top = (choice >> 1U & 3U) / 8.0, side = 1 - (choice >> 2U & 7U) / 16.0 - 0.4;
  return {size.width * left, size.height * top, size.width * side, size.height * side};
}

void decode(training::JpegDecoder& decoder, training::ImageSize size, unsigned choice) {
  const auto crop = choice == 0 ? training::Box{0, 0, double(size.width), double(size.height)} : crop_of(size, choice);
  const auto piece = decoder.decode(crop, {1 + static_cast<int>(choice) * 8, 1 + static_cast<int>(choice) * 4});
  if (!piece) return fuzz::require_refusal(piece.error());
  const auto& pixels = *piece->pixels;
  require(pixels.width > 0 && pixels.height > 0, "a piece has pixels");
  require(pixels.rgbx.size() == pixels.stride() * static_cast<std::size_t>(pixels.height), "all of them");
  const auto& in = piece->crop;
  constexpr double kSlack = 1;  // a reduced image is rounded up to whole pixels
  require(in.left >= 0 && in.top >= 0, "the crop begins in the piece");
  require(in.left + in.width <= pixels.width + kSlack && in.top + in.height <= pixels.height + kSlack,
          "and ends there");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static training::JpegDecoder decoder;  // one for all, as a loader's thread has: a damaged file must leave no trace
  const bool told = size > 0 && data[0] < 0x20;
  const unsigned choice = told ? data[0] : 0;
  const auto image = decoder.open({data + (told ? 1 : 0), size - (told ? 1 : 0)});
  if (!image) {
    fuzz::require_refusal(image.error());
    return 0;
  }
  require(image->width > 0 && image->height > 0, "an image has pixels");
  if (std::int64_t{image->width} * image->height <= kMaxPixels) decode(decoder, *image, choice);
  return 0;
}

// Decodes the part of a JPEG that a crop needs, at the smallest of the sizes that the format gives for nothing: the
// inverse transform of a block can make 8, 4, 2 or 1 pixels of it. Stands on libjpeg-turbo.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/data/pixels.hpp"

namespace gradwatt::training {

/// Its memory is used again for the next image. One thread at a time.
class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  /// Reads the header; `file` must stay until decode() is done. Errors: unusable_input with libjpeg's reason, or a size
  /// that no photograph has.
  [[nodiscard]] core::Result<ImageSize> open(std::span<const std::uint8_t> file);

  /// A piece of the image at 1/reduction of its size, and where the crop lies in it.
  struct Piece {
    const Pixels* pixels = nullptr;  ///< the decoder's; until the next call
    Box crop;                        ///< in these pixels
    int reduction = 1;
  };
  /// The image opened last: the crop and a few pixels around it, never reduced below `wanted`.
  /// Errors: unusable_input (damaged data). A file that ends early is an error, not a grey area.
  [[nodiscard]] core::Result<Piece> decode(const Box& crop, ImageSize wanted);

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  Pixels pixels_;
};

}  // namespace gradwatt::training

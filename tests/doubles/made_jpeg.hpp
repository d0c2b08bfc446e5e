// Images for tests and benchmarks, compressed on the spot.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <jpeglib.h>  // needs FILE and size_t before it

namespace gradwatt::doubles {

/// value(x, y, channel) in 0…255. `channels`: 1 grey, 3 colour, 4 inks.
inline std::string made_jpeg(int width, int height, int channels, const std::function<int(int, int, int)>& value,
                             int quality = 95, bool progressive = false) {
  jpeg_compress_struct image{};
  jpeg_error_mgr errors{};
  image.err = jpeg_std_error(&errors);
  jpeg_create_compress(&image);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&image, &bytes, &size);
  image.image_width = static_cast<JDIMENSION>(width);
  image.image_height = static_cast<JDIMENSION>(height);
  image.input_components = channels;
  image.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&image);
  jpeg_set_quality(&image, quality, TRUE);
  if (progressive) jpeg_simple_progression(&image);
  jpeg_start_compress(&image, TRUE);
  std::vector<std::uint8_t> row(static_cast<std::size_t>(width * channels));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        row[static_cast<std::size_t>(x * channels + c)] = static_cast<std::uint8_t>(value(x, y, c));
      }
    }
    JSAMPROW start = row.data();
    jpeg_write_scanlines(&image, &start, 1);
  }
  jpeg_finish_compress(&image);
  std::string file(reinterpret_cast<const char*>(bytes), size);
  jpeg_destroy_compress(&image);
  std::free(bytes);
  return file;
}

}  // namespace gradwatt::doubles

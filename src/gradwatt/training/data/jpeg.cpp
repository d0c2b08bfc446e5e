#include "gradwatt/training/data/jpeg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <string>

#include <jpeglib.h>  // needs FILE and size_t before it

namespace gradwatt::training {
namespace {

/// The filter of a shrinking resize reaches past the crop by less than two output steps of a reduced image.
constexpr int kMarginPixels = 4;
/// More than any photograph of a data set has: a damaged header must not cost gigabytes.
constexpr std::int64_t kMaxPixels = std::int64_t{1} << 28;

}  // namespace

// libjpeg reports an error by a call that must not return. Between setjmp and longjmp no object of ours is made.
struct JpegDecoder::Library {
  jpeg_decompress_struct image{};
  jpeg_error_mgr errors{};
  std::jmp_buf leave{};
  std::array<char, JMSG_LENGTH_MAX> reason{};
  int columns_left = 0, columns = 0;  // what decode() asks for, and gets, in reduced pixels
  int rows_top = 0, rows = 0;

  static Library& of(j_common_ptr common) { return *static_cast<Library*>(common->client_data); }
  static void on_error(j_common_ptr common) {
    (*common->err->format_message)(common, of(common).reason.data());
    std::longjmp(of(common).leave, 1);
  }
  // Damaged data are warnings to libjpeg, which goes on with grey; a training set must not learn those.
  static void on_message(j_common_ptr common, int level) {
    if (level < 0) on_error(common);
  }

  Library() {
    image.err = jpeg_std_error(&errors);
    errors.error_exit = on_error;
    errors.emit_message = on_message;
    jpeg_create_decompress(&image);
    image.client_data = this;
  }
  ~Library() { jpeg_destroy_decompress(&image); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  bool read_header(std::span<const std::uint8_t> file);
  bool start(int reduction);
  bool narrow_to(int left, int right);
  bool read_rows(JSAMPLE* target, std::size_t stride);
};

bool JpegDecoder::Library::read_header(std::span<const std::uint8_t> file) {
  if (setjmp(leave) != 0) {
    jpeg_abort_decompress(&image);
    return false;
  }
  jpeg_abort_decompress(&image);
  jpeg_mem_src(&image, file.data(), file.size());
  jpeg_read_header(&image, TRUE);
  return true;
}

bool JpegDecoder::Library::start(int reduction) {
  if (setjmp(leave) != 0) return false;
  const bool four_inks = image.jpeg_color_space == JCS_CMYK || image.jpeg_color_space == JCS_YCCK;
  image.out_color_space = four_inks ? JCS_CMYK : JCS_EXT_RGBX;
  image.scale_num = 1;
  image.scale_denom = static_cast<unsigned>(reduction);
  image.dct_method = JDCT_ISLOW;  // as fast as the rough one where SIMD is, and exact
  jpeg_start_decompress(&image);
  return true;
}

bool JpegDecoder::Library::narrow_to(int left, int right) {
  if (setjmp(leave) != 0) return false;
  columns_left = 0;
  columns = static_cast<int>(image.output_width);
  if (left > 0 || right < columns) {
    auto from = static_cast<JDIMENSION>(left), width = static_cast<JDIMENSION>(right - left);
    jpeg_crop_scanline(&image, &from, &width);  // moves both outwards to whole blocks
    columns_left = static_cast<int>(from);
    columns = static_cast<int>(image.output_width);
  }
  return true;
}

bool JpegDecoder::Library::read_rows(JSAMPLE* target, std::size_t stride) {
  if (setjmp(leave) != 0) return false;
  if (rows_top > 0) jpeg_skip_scanlines(&image, static_cast<JDIMENSION>(rows_top));
  const auto end = static_cast<JDIMENSION>(rows_top + rows);
  while (image.output_scanline < end) {
    JSAMPROW row = target + (image.output_scanline - static_cast<JDIMENSION>(rows_top)) * stride;
    jpeg_read_scanlines(&image, &row, 1);
  }
  jpeg_abort_decompress(&image);  // nobody needs the rows below
  return true;
}

namespace {

int choose_reduction(const Box& crop, ImageSize wanted) {
  int reduction = 8;
  while (reduction > 1 && (crop.width < static_cast<double>(wanted.width) * reduction ||
                           crop.height < static_cast<double>(wanted.height) * reduction)) {
    reduction /= 2;
  }
  return reduction;
}

/// Adobe's files hold inverted inks.
void inks_to_rgb(Pixels& pixels, bool inverted) {
  for (std::size_t i = 0; i < pixels.rgbx.size(); i += 4) {
    const auto ink = [&](std::size_t c) {
      return inverted ? pixels.rgbx[i + c] : static_cast<std::uint8_t>(255 - pixels.rgbx[i + c]);
    };
    const int black = ink(3);
    for (std::size_t c = 0; c < 3; ++c) pixels.rgbx[i + c] = static_cast<std::uint8_t>(ink(c) * black / 255);
  }
}

}  // namespace

JpegDecoder::JpegDecoder() : library_(std::make_unique<Library>()) {}
JpegDecoder::~JpegDecoder() = default;

core::Result<ImageSize> JpegDecoder::open(std::span<const std::uint8_t> file) {
  if (file.empty()) return core::fail(core::Errc::unusable_input, "the file is empty");
  if (!library_->read_header(file)) return core::fail(core::Errc::unusable_input, library_->reason.data());
  const ImageSize size{static_cast<int>(library_->image.image_width), static_cast<int>(library_->image.image_height)};
  if (std::int64_t{size.width} * size.height > kMaxPixels)
    return core::fail(core::Errc::unusable_input,
                      fmt::format("it says that it has {}×{} pixels, more than {}: it is damaged", size.width,
                                  size.height, kMaxPixels));
  return size;
}

core::Result<JpegDecoder::Piece> JpegDecoder::decode(const Box& crop, ImageSize wanted) {
  auto& library = *library_;
  const auto damaged = [&] {
    std::string reason = library.reason.data();
    jpeg_abort_decompress(&library.image);
    return core::fail(core::Errc::unusable_input, std::move(reason));
  };
  const int reduction = choose_reduction(crop, wanted);
  if (!library.start(reduction)) return damaged();
  const auto width = static_cast<int>(library.image.output_width),
             height = static_cast<int>(library.image.output_height);
  const auto low = [&](double at) { return std::max(0, static_cast<int>(at / reduction) - kMarginPixels); };
  const auto high = [&](double at, int end) {
    return std::min(end, static_cast<int>(std::ceil(at / reduction)) + kMarginPixels);
  };
  if (!library.narrow_to(low(crop.left), high(crop.left + crop.width, width))) return damaged();
  library.rows_top = low(crop.top);
  library.rows = high(crop.top + crop.height, height) - library.rows_top;
  pixels_.width = library.columns;
  pixels_.height = library.rows;
  pixels_.rgbx.resize(pixels_.stride() * static_cast<std::size_t>(pixels_.height));
  if (!library.read_rows(pixels_.rgbx.data(), pixels_.stride())) return damaged();
  if (library.image.out_color_space == JCS_CMYK) inks_to_rgb(pixels_, library.image.saw_Adobe_marker == TRUE);
  const Box in_piece{crop.left / reduction - library.columns_left, crop.top / reduction - library.rows_top,
                     crop.width / reduction, crop.height / reduction};
  return Piece{&pixels_, in_piece, reduction};
}

}  // namespace gradwatt::training

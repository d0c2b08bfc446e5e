#include "gradwatt/training/data/idx.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "gradwatt/core/file_tree.hpp"

namespace gradwatt::training {
namespace {

namespace fs = std::filesystem;

constexpr std::uint8_t kUnsignedByte = 0x08;  // element type in the third byte of the magic number
/// No data set in this format is larger.
constexpr std::size_t kMaxBytes = std::size_t{4} << 30U;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;

struct CloseGz {
  void operator()(gzFile_s* file) const { gzclose(file); }
};

/// Reads gzip and plain files alike.
class GzReader {
 public:
  explicit GzReader(fs::path path) : path_(std::move(path)), file_(gzopen(path_.c_str(), "rb")) {}
  [[nodiscard]] bool is_open() const { return file_ != nullptr; }

  /// Fills all of `target`, at most kPieceBytes: gzread counts in int.
  core::Result<void> read(std::span<std::uint8_t> target) {
    for (std::size_t have = 0; have < target.size();) {
      const auto got = gzread(file_.get(), target.data() + have, static_cast<unsigned>(target.size() - have));
      if (got <= 0) return core::fail(core::Errc::unusable_input, reason());
      have += static_cast<std::size_t>(got);
    }
    return {};
  }

 private:
  std::string reason() {
    int code = Z_OK;
    const char* text = gzerror(file_.get(), &code);
    const bool damaged = code != Z_OK && code != Z_BUF_ERROR && text != nullptr;
    return damaged ? fmt::format("{} is damaged ({}): fetch it again", path_.string(), text)
                   : fmt::format("{} ends too early: fetch it again", path_.string());
  }

  fs::path path_;
  std::unique_ptr<gzFile_s, CloseGz> file_;
};

core::Result<std::vector<std::size_t>> read_dimensions(GzReader& reader, const fs::path& path) {
  std::array<std::uint8_t, 4> magic{};
  if (auto read = reader.read(magic); !read) return core::fail(std::move(read.error()));
  if (magic[0] != 0 || magic[1] != 0 || magic[2] != kUnsignedByte || magic[3] == 0 || magic[3] > 4) {
    return core::fail(core::Errc::unusable_input,
                      fmt::format("{} is no IDX file of bytes: it begins with {:02x} {:02x} {:02x} {:02x}",
                                  path.string(), magic[0], magic[1], magic[2], magic[3]));
  }
  std::vector<std::size_t> dimensions;
  for (int i = 0; i < magic[3]; ++i) {
    std::array<std::uint8_t, 4> word{};
    if (auto read = reader.read(word); !read) return core::fail(std::move(read.error()));
    dimensions.push_back((std::size_t{word[0]} << 24U) | (std::size_t{word[1]} << 16U) | (std::size_t{word[2]} << 8U) |
                         word[3]);
  }
  return dimensions;
}

fs::path with_gz_if_only_that(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) ? path : fs::path(path.string() + ".gz");
}

}  // namespace

core::Result<IdxArray> read_idx(const fs::path& path) {
  GzReader reader(path);
  if (!reader.is_open()) return core::fail(core::file_error("open", path, errno));
  auto dimensions = read_dimensions(reader, path);
  if (!dimensions) return core::fail(std::move(dimensions.error()));
  std::size_t size = 1;
  for (const auto length : *dimensions) {
    if (length != 0 && size > kMaxBytes / length) {
      return core::fail(core::Errc::unusable_input,
                        fmt::format("{} says that it holds more than 4 GiB: it is damaged", path.string()));
    }
    size *= length;
  }
  IdxArray array{std::move(*dimensions), {}};
  // In pieces: a damaged size must not cost memory that the file cannot fill.
  for (std::size_t have = 0; have < size; have = array.bytes.size()) {
    array.bytes.resize(std::min(size, have + kPieceBytes));
    if (auto read = reader.read(std::span(array.bytes).subspan(have)); !read) {
      return core::fail(std::move(read.error()));
    }
  }
  return array;
}

core::Result<LabelledImages> read_idx_images(const fs::path& folder, const std::string& prefix) {
  const auto images_path = with_gz_if_only_that(folder / (prefix + "-images-idx3-ubyte"));
  const auto labels_path = with_gz_if_only_that(folder / (prefix + "-labels-idx1-ubyte"));
  auto images = read_idx(images_path);
  if (!images) return core::fail(std::move(images.error()));
  auto labels = read_idx(labels_path);
  if (!labels) return core::fail(std::move(labels.error()));
  const auto& size = images->dimensions;
  if (size.size() != 3 || labels->dimensions.size() != 1 || size[0] != labels->dimensions[0] || images->bytes.empty()) {
    return core::fail(core::Errc::unusable_input,
                      fmt::format("{} and {} do not belong together: number of images and labels differ",
                                  images_path.string(), labels_path.string()));
  }
  return LabelledImages{
      {1, static_cast<int>(size[1]), static_cast<int>(size[2])}, std::move(images->bytes), std::move(labels->bytes)};
}

}  // namespace gradwatt::training

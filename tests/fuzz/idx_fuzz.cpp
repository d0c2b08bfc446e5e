// Entry point for fuzzing IDX files: any bytes, plain or gzip, must give an array of the size that it names, or a
// refusal. A control character from 1 in front asks for a pair: what follows the last header of labels are labels.
#include <span>
#include <string_view>

#include "gradwatt/training/data/idx.hpp"
#include "tests/fuzz/scratch_folder.hpp"

namespace {

using namespace gradwatt;
using fuzz::require;
using Bytes = std::span<const std::uint8_t>;
constexpr std::string_view kLabelsHeader("\0\0\x08\x01", 4);

void read_one(const fuzz::ScratchFolder& folder, Bytes bytes) {
  const auto array = training::read_idx(folder.write("array", bytes));
  if (!array) return fuzz::require_refusal(array.error());
  require(!array->dimensions.empty() && array->dimensions.size() <= 4, "one to four dimensions");
  std::size_t size = 1;
  for (const auto length : array->dimensions) size *= length;
  require(array->bytes.size() == size, "as many bytes as the dimensions say");
}

void read_pair(const fuzz::ScratchFolder& folder, Bytes bytes) {
  const auto text = std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto split = std::min(text.rfind(kLabelsHeader), text.size());
  (void)folder.write("t10k-images-idx3-ubyte", bytes.first(split));
  (void)folder.write("t10k-labels-idx1-ubyte", bytes.subspan(split));
  const auto images = training::read_idx_images(folder.path(), "t10k");
  if (!images) return fuzz::require_refusal(images.error());
  const auto pixels = static_cast<std::size_t>(images->shape.height) * static_cast<std::size_t>(images->shape.width);
  require(images->shape.height > 0 && images->shape.width > 0, "images have pixels");
  require(images->pixels.size() == images->labels.size() * pixels, "a label an image");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::ScratchFolder folder;
  const Bytes bytes(data, size);
  const bool pair = size > 0 && data[0] > 0 && data[0] < 0x1F;  // a gzip file begins with 1f
  pair ? read_pair(folder, bytes.subspan(1)) : read_one(folder, bytes);
  return 0;
}

#include "gradwatt/training/data/cifar.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "gradwatt/training/data/read_file.hpp"

namespace gradwatt::training {
namespace {

constexpr std::size_t kPixelBytes = 3 * 32 * 32;
constexpr std::size_t kRecordBytes = 1 + kPixelBytes;

core::Result<void> append_records(const std::filesystem::path& path, LabelledImages& images) {
  std::vector<std::uint8_t> bytes;
  if (auto read = read_file(path, bytes); !read) return read;
  if (bytes.empty() || bytes.size() % kRecordBytes != 0) {
    return core::fail(core::Errc::unusable_input,
                      fmt::format("{} holds {} bytes, no whole number of CIFAR-10 records of {}: fetch it again",
                                  path.string(), bytes.size(), kRecordBytes));
  }
  for (std::size_t at = 0; at < bytes.size(); at += kRecordBytes) {
    if (bytes[at] >= kCifarClasses) {
      return core::fail(core::Errc::unusable_input, fmt::format("{} has label {} in record {}: it is no CIFAR-10 file",
                                                                path.string(), bytes[at], at / kRecordBytes));
    }
    images.labels.push_back(bytes[at]);
    const auto pixels = bytes.begin() + static_cast<std::ptrdiff_t>(at + 1);
    images.pixels.insert(images.pixels.end(), pixels, pixels + kPixelBytes);
  }
  return {};
}

}  // namespace

core::Result<LabelledImages> read_cifar(const std::filesystem::path& folder, bool train) {
  std::vector<std::string> names{"test_batch.bin"};
  if (train)
    names = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"};
  LabelledImages images{{3, 32, 32}, {}, {}};
  for (const auto& name : names) {
    if (auto appended = append_records(folder / name, images); !appended)
      return core::fail(std::move(appended.error()));
  }
  return images;
}

}  // namespace gradwatt::training

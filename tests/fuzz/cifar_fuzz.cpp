// Entry point for fuzzing CIFAR-10's records: any bytes must give whole images with a known label, or a refusal. One
// byte more than whole records is taken as a mark in front and left out.
#include "gradwatt/training/data/cifar.hpp"
#include "tests/fuzz/scratch_folder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gradwatt;
  using fuzz::require;
  constexpr std::size_t kPixels = 3 * 32 * 32, kRecord = kPixels + 1;
  static const fuzz::ScratchFolder folder;
  const std::size_t mark = size % kRecord == 1 ? 1 : 0;
  (void)folder.write("test_batch.bin", {data + mark, size - mark});
  const auto images = training::read_cifar(folder.path(), /*train=*/false);
  if (!images) {
    fuzz::require_refusal(images.error());
    return 0;
  }
  require((size - mark) % kRecord == 0, "no part of a record is left over");
  require(images->labels.size() == (size - mark) / kRecord, "an image a record");
  require(images->pixels.size() == images->labels.size() * kPixels, "all pixels of each");
  for (const auto label : images->labels) require(label < training::kCifarClasses, "a label names a class");
  return 0;
}

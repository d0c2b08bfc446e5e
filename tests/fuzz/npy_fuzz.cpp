// Entry point for fuzzing NumPy's files: any bytes must give as many numbers as the shape says, or a refusal. A control
// character in front is left out.
#include "gradwatt/training/data/npy.hpp"
#include "tests/fuzz/scratch_folder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gradwatt;
  using fuzz::require;
  static const fuzz::ScratchFolder folder;
  const std::size_t mark = size > 0 && data[0] < 0x20 ? 1 : 0;
  const auto array = training::read_npy(folder.write("array.npy", {data + mark, size - mark}));
  if (!array) {
    fuzz::require_refusal(array.error());
    return 0;
  }
  require(array->shape.size() <= 8, "at most eight dimensions");
  std::size_t count = 1;
  for (const auto length : array->shape) count *= length;
  require(array->values.size() == count, "as many numbers as the shape says");
  require(count * sizeof(float) <= size, "no numbers that the file does not hold");
  return 0;
}

// Entry point for fuzzing the index of a weights file: any bytes must give an index that lies inside the file, or a
// refusal in words. A control character in front says how much data follow the header.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "gradwatt/training/models/safetensors_header.hpp"
#include "tests/fuzz/promise.hpp"

namespace {

using namespace gradwatt;
using fuzz::require;

void check(const training::SafetensorsHeader& header, std::uint64_t data_bytes) {
  std::uint64_t filled = 0;
  for (const auto& tensor : header.tensors) {
    require(tensor.begin == filled && tensor.begin <= tensor.end, "tensors follow each other");
    std::uint64_t bytes = training::bytes_of(tensor.type);
    for (const auto side : tensor.shape) {
      require(side >= 0, "no side is negative");
      bytes *= static_cast<std::uint64_t>(side);
    }
    require(bytes == tensor.bytes(), "a tensor has the bytes of its shape");
    filled = tensor.end;
  }
  require(filled == data_bytes, "the tensors fill the data");
  const auto again = training::write_safetensors_header(header);
  require(again.has_value(), "what was read can be written");
  const auto twice = training::parse_safetensors_header(*again, data_bytes);
  require(twice && twice->tensors.size() == header.tensors.size(), "what was written can be read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A control character in front, which no header begins with, is the size of the data behind it.
  const bool told = size > 0 && data[0] < 0x20;
  const std::uint64_t data_bytes = told ? data[0] : 16;
  const std::string_view json(reinterpret_cast<const char*>(data) + (told ? 1 : 0), size - (told ? 1 : 0));
  const auto header = training::parse_safetensors_header(json, data_bytes);
  if (header) {
    check(*header, data_bytes);
  } else {
    require(header.error().code == core::Errc::unusable_input, "a refusal says unusable input");
    require(!header.error().message.empty(), "a refusal says why");
  }
  return 0;
}

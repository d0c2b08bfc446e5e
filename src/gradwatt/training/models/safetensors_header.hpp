// The index of a safetensors file: which tensor lies where. Apart from the tensors themselves, so that hostile bytes
// can be tried on it without LibTorch.
//
// Layout (huggingface/safetensors, "Format"): 8 bytes length of the header, little endian; the header, a JSON object
// {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, …, "__metadata__": {text: text}}; then the
// data, offsets counted from their beginning. Tensors fill the data without gap or overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/core/result.hpp"

namespace gradwatt::training {

/// Longer headers are refused before they are read: other readers set the same limit.
inline constexpr std::uint64_t kLargestSafetensorsHeader = 100'000'000;

enum class StoredType : std::uint8_t { f64, f32, f16, bf16, i64, i32, u8, boolean };
/// "F32", …
[[nodiscard]] std::string_view name_of(StoredType type);
[[nodiscard]] std::uint64_t bytes_of(StoredType type);

struct StoredTensor {
  std::string name;
  StoredType type = StoredType::f32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  ///< bytes in the data

  [[nodiscard]] std::uint64_t bytes() const { return end - begin; }
};

struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;  ///< in the order of their data
  std::map<std::string, std::string> metadata;
};

/// `json`: the header's bytes; `data_bytes`: what follows it in the file. Errors: unusable_input, a phrase without the
/// file's name ("tensor \"a\" …") for everything the layout forbids.
[[nodiscard]] core::Result<SafetensorsHeader> parse_safetensors_header(std::string_view json, std::uint64_t data_bytes);

/// The JSON of a header, padded with blanks so that the data begin at a multiple of 8. Errors: wrong_use (a name twice,
/// "__metadata__" as a name, text that is not UTF-8).
[[nodiscard]] core::Result<std::string> write_safetensors_header(const SafetensorsHeader& header);

}  // namespace gradwatt::training

#include "gradwatt/training/models/safetensors_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

namespace gradwatt::training {
namespace {

using core::Errc;
using core::fail;
using core::Result;
using nlohmann::json;

/// An index needs three levels: object, tensor, list. One more lets a wrong shape be named as such.
constexpr int kDeepest = 4;
constexpr std::string_view kMetadata = "__metadata__";

struct TypeRow {
  StoredType type;
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array kTypes{
    TypeRow{StoredType::f64, "F64", 8},   TypeRow{StoredType::f32, "F32", 4},      TypeRow{StoredType::f16, "F16", 2},
    TypeRow{StoredType::bf16, "BF16", 2}, TypeRow{StoredType::i64, "I64", 8},      TypeRow{StoredType::i32, "I32", 4},
    TypeRow{StoredType::u8, "U8", 1},     TypeRow{StoredType::boolean, "BOOL", 1},
};

const TypeRow& row_of(StoredType type) { return *std::ranges::find(kTypes, type, &TypeRow::type); }

/// The parser's own object keeps the last of two equal keys, which would hide an index that names a tensor twice.
struct ParsedIndex {
  json value;
  std::optional<std::string> repeated;
};

Result<ParsedIndex> parse_json(std::string_view text) {
  ParsedIndex parsed;
  std::set<std::string> names;
  bool too_deep = false;
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    if (depth > kDeepest) too_deep = true;
    if (event == json::parse_event_t::key && depth == 1 && !names.insert(value.get<std::string>()).second)
      parsed.repeated = value.get<std::string>();
    return depth <= kDeepest;  // what lies deeper is dropped, not built
  };
  parsed.value = json::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
  if (parsed.value.is_discarded() || !parsed.value.is_object() || too_deep)
    return fail(Errc::unusable_input, "the header is not a JSON object of tensors");
  return parsed;
}

Result<std::map<std::string, std::string>> read_metadata(const json& value) {
  std::map<std::string, std::string> metadata;
  if (!value.is_object()) return fail(Errc::unusable_input, "__metadata__ is not an object of texts");
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) return fail(Errc::unusable_input, fmt::format("__metadata__ \"{}\" is not a text", key));
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

std::optional<std::uint64_t> unsigned_of(const json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  return value.get<std::uint64_t>();
}

/// Bytes of a tensor, or nothing when the sizes are no sizes or their product is too large for 64 bits.
std::optional<std::uint64_t> read_shape(const json& value, std::uint64_t item_bytes, std::vector<std::int64_t>& shape) {
  if (!value.is_array()) return std::nullopt;
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t bytes = item_bytes;
  for (const auto& side : value) {
    const auto length = unsigned_of(side);
    if (!length || (*length != 0 && bytes > kLargest / *length) || *length > kLargest) return std::nullopt;
    bytes *= *length;
    shape.push_back(static_cast<std::int64_t>(*length));
  }
  return bytes;
}

Result<StoredTensor> read_tensor(const std::string& name, const json& value, std::uint64_t data_bytes) {
  const auto refuse = [&](std::string why) {
    return fail(Errc::unusable_input, fmt::format("tensor \"{}\" {}", name, why));
  };
  if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") || !value.contains("data_offsets"))
    return refuse("has no dtype, shape and data_offsets");
  const auto type_name = value["dtype"].is_string() ? value["dtype"].get<std::string>() : value["dtype"].dump();
  const auto type = std::ranges::find(kTypes, type_name, &TypeRow::name);
  if (type == kTypes.end()) return refuse(fmt::format("is of type {}, which is not supported", type_name));
  StoredTensor tensor{.name = name, .type = type->type};
  const auto bytes = read_shape(value["shape"], type->bytes, tensor.shape);
  if (!bytes) return refuse(fmt::format("has no usable shape: {}", value["shape"].dump()));
  const auto& offsets = value["data_offsets"];
  const bool is_pair = offsets.is_array() && offsets.size() == 2;
  const auto begin = is_pair ? unsigned_of(offsets[0]) : std::nullopt;
  const auto end = is_pair ? unsigned_of(offsets[1]) : std::nullopt;
  if (!begin || !end || *begin > *end || *end > data_bytes)
    return refuse(fmt::format("lies outside the file: data_offsets {} of {} bytes", offsets.dump(), data_bytes));
  if (*end - *begin != *bytes)
    return refuse(fmt::format("has {} bytes of data where its type and shape need {}", *end - *begin, *bytes));
  tensor.begin = *begin;
  tensor.end = *end;
  return tensor;
}

Result<void> check_tiling(const std::vector<StoredTensor>& tensors, std::uint64_t data_bytes) {
  std::uint64_t filled = 0;
  for (const auto& tensor : tensors) {
    if (tensor.begin != filled)
      return fail(Errc::unusable_input, fmt::format("tensor \"{}\" {} what lies before it", tensor.name,
                                                    tensor.begin < filled ? "overlaps" : "leaves a gap behind"));
    filled = tensor.end;
  }
  if (filled != data_bytes)
    return fail(Errc::unusable_input, fmt::format("{} bytes at the end belong to no tensor", data_bytes - filled));
  return {};
}

}  // namespace

std::string_view name_of(StoredType type) { return row_of(type).name; }
std::uint64_t bytes_of(StoredType type) { return row_of(type).bytes; }

Result<SafetensorsHeader> parse_safetensors_header(std::string_view text, std::uint64_t data_bytes) {
  const auto parsed = parse_json(text);
  if (!parsed) return fail(parsed.error());
  if (parsed->repeated)
    return fail(Errc::unusable_input, fmt::format("tensor \"{}\" is named twice", *parsed->repeated));
  SafetensorsHeader header;
  for (const auto& [name, value] : parsed->value.items()) {
    if (name == kMetadata) {
      auto metadata = read_metadata(value);
      if (!metadata) return fail(metadata.error());
      header.metadata = std::move(*metadata);
      continue;
    }
    auto tensor = read_tensor(name, value, data_bytes);
    if (!tensor) return fail(tensor.error());
    header.tensors.push_back(std::move(*tensor));
  }
  const auto place = [](const StoredTensor& t) { return std::pair(t.begin, t.end); };
  std::ranges::sort(header.tensors, {}, place);
  if (auto tiled = check_tiling(header.tensors, data_bytes); !tiled) return fail(tiled.error());
  return header;
}

Result<std::string> write_safetensors_header(const SafetensorsHeader& header) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  if (!header.metadata.empty()) object[std::string(kMetadata)] = header.metadata;
  std::set<std::string_view> names;
  for (const auto& tensor : header.tensors) {
    if (tensor.name == kMetadata || !names.insert(tensor.name).second)
      return fail(Errc::wrong_use, fmt::format("tensor \"{}\" cannot be stored twice or under this name", tensor.name));
    object[tensor.name] = {
        {"dtype", name_of(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {tensor.begin, tensor.end}}};
  }
  try {
    auto text = object.dump();
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
  } catch (const nlohmann::json::exception&) {
    return fail(Errc::wrong_use, "a name or metadata text is not UTF-8");
  }
}

}  // namespace gradwatt::training

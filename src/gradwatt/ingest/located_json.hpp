// JSON that people write by hand, with what a message to them needs and the library does not tell: at which line each
// item of a list stands, and keys that stand twice. Hostile depth and size end at once. Private to this folder.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "gradwatt/core/result.hpp"

namespace gradwatt::ingest {

struct LocatedJson {
  nlohmann::json root;
  std::vector<std::size_t> item_lines;  ///< of the items of the list
};

/// `list` is a key of the outermost object, whose items are located. unusable_input ("line N: …") for anything but
/// valid JSON in UTF-8 of at most `most` bytes and 16 levels, without a key twice in one object.
[[nodiscard]] core::Result<LocatedJson> parse_located(std::string_view text, std::string_view list, std::size_t most);

}  // namespace gradwatt::ingest

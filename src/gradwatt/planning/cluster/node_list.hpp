// "0-3, 17": numbers of nodes as people write them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace gradwatt::planning {

/// Nothing when it is not such a list or names a node outside 0 … count − 1.
[[nodiscard]] std::optional<std::vector<int>> parse_node_list(std::string_view text, int count);

}  // namespace gradwatt::planning

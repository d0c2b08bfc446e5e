#include "gradwatt/planning/cluster/node_list.hpp"

#include <charconv>

#include "gradwatt/core/text.hpp"

namespace gradwatt::planning {
namespace {

std::optional<int> whole(std::string_view text) {
  text = core::trim(text);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::vector<int>> parse_node_list(std::string_view text, int count) {
  std::vector<int> nodes;
  for (const auto piece : core::split(text, ',')) {
    const auto dash = piece.find('-', 1);
    const auto first = whole(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole(piece.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= count) return std::nullopt;
    for (int i = *first; i <= *last; ++i) nodes.push_back(i);
  }
  return nodes;
}

}  // namespace gradwatt::planning

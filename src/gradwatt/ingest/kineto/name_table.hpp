// Names as small numbers: a trace repeats a few hundred names hundreds of thousands of times.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gradwatt::ingest::kineto {

using NameId = std::uint32_t;

class NameTable {
 public:
  /// The number of `name`, given on first sight.
  NameId id(std::string_view name) {
    if (const auto it = ids_.find(name); it != ids_.end()) return it->second;
    bytes_ += name.size();
    const auto id = static_cast<NameId>(names_.size());
    ids_.emplace(names_.emplace_back(name), id);
    return id;
  }
  [[nodiscard]] const std::string& text(NameId id) const { return names_[id]; }
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::deque<std::string> names_;  // keeps its elements in place, so the map may point at them
  std::unordered_map<std::string_view, NameId> ids_;
  std::size_t bytes_ = 0;
};

}  // namespace gradwatt::ingest::kineto

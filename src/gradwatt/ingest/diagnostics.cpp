#include "gradwatt/ingest/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace gradwatt::ingest {

std::string format(const Diagnostic& diagnostic) {
  if (diagnostic.line == 0) return fmt::format("{}: {}", diagnostic.file, diagnostic.message);
  return fmt::format("{} line {}: {}", diagnostic.file, diagnostic.line, diagnostic.message);
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 60;
  const bool cut = text.size() > kShown;
  std::string shown(text.substr(0, kShown));
  // A cut may fall inside a UTF-8 character: drop its head.
  while (cut && !shown.empty() && (static_cast<unsigned char>(shown.back()) & 0x80U) != 0) shown.pop_back();
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return fmt::format("'{}{}'", shown, cut ? "…" : "");
}

void Diagnostics::add(std::string_view kind, std::size_t line, std::string message) {
  if (!kind.empty()) {
    auto it = kinds_.find(kind);
    if (it == kinds_.end()) it = kinds_.emplace(std::string(kind), Kind{}).first;
    it->second.last_line = line;
    if (++it->second.count > keep_of_kind_) return;
  }
  kept_.push_back({file_, line, std::move(message)});
}

std::size_t Diagnostics::count(std::string_view kind) const {
  const auto it = kinds_.find(kind);
  return it != kinds_.end() ? it->second.count : 0;
}

std::vector<Diagnostic> Diagnostics::finish() const {
  auto all = kept_;
  for (const auto& [kind, seen] : kinds_)
    if (seen.count > keep_of_kind_)
      all.push_back({file_, seen.last_line, fmt::format("the last of {} {} in all", seen.count, kind)});
  const auto key = [](const Diagnostic& d) { return d.line == 0 ? std::numeric_limits<std::size_t>::max() : d.line; };
  std::ranges::stable_sort(all, {}, key);
  return all;
}

}  // namespace gradwatt::ingest

#include "gradwatt/ingest/kineto/rank_of_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/kineto/trace_facts.hpp"

namespace gradwatt::ingest::kineto {
namespace {

constexpr std::array<std::string_view, 3> kOrigins{"stated", "file name", "assumed"};

/// The number behind `word`, with at most one mark between them.
std::optional<std::int64_t> number_behind(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    auto rest = text.substr(at + word.size());
    if (rest.starts_with('-') || rest.starts_with('_') || rest.starts_with('=')) rest.remove_prefix(1);
    const auto digits = rest.substr(0, rest.find_first_not_of("0123456789"));
    if (digits.empty() || digits.size() > 7) continue;
    return core::parse_int(digits);
  }
  return std::nullopt;
}

void give_rank(record::Run& run, std::int64_t old_rank, std::int64_t rank) {
  for (auto& fact : run.facts)
    if (fact.subject == rank_subject(old_rank)) fact.subject = rank_subject(rank);
  for (auto& mark : run.marks) mark.rank = static_cast<std::int32_t>(rank);
  for (auto& span : run.spans) span.rank = static_cast<std::int32_t>(rank);
  run.set(kRankKey, rank);
}

}  // namespace

std::string_view name_of(RankOrigin origin) { return kOrigins.at(static_cast<std::size_t>(origin)); }

RankOfFile rank_of(const Trace& trace, std::string_view file) {
  if (trace.rank && *trace.rank <= std::numeric_limits<std::int32_t>::max()) return {*trace.rank, RankOrigin::stated};
  const auto name = core::to_lower(file.substr(file.find_last_of('/') + 1));
  for (const auto word : {"rank", "worker"})
    if (const auto number = number_behind(name, word)) return {*number, RankOrigin::file_name};
  return {};
}

void note_rank(const RankOfFile& rank, Diagnostics& notes) {
  if (rank.origin == RankOrigin::file_name)
    notes.note(fmt::format("does not say which rank it is of; its name says {}", rank.rank));
  if (rank.origin == RankOrigin::assumed)
    notes.note("says neither inside nor in its name which rank it is of; taken as rank 0");
}

void settle_ranks(std::vector<NamedRun>& parts, std::vector<Diagnostic>& diagnostics) {
  std::set<std::int64_t> taken;
  const auto is_stated = [](const NamedRun& part) {
    return part.run.text(kRankOriginKey) == name_of(RankOrigin::stated);
  };
  // Stated ranks first: the others give way.
  for (const bool stated : {true, false}) {
    for (auto& part : parts) {
      const auto rank = part.run.number_of(kRankKey);
      if (!rank || is_stated(part) != stated || taken.insert(*rank).second) continue;
      if (stated) {
        diagnostics.push_back(
            {part.name, 0, fmt::format("is of rank {} like a file before; the figures of both are kept", *rank)});
        continue;
      }
      std::int64_t free = 0;
      while (!taken.insert(free).second) ++free;
      give_rank(part.run, *rank, free);
      diagnostics.push_back({part.name, 0, fmt::format("shares its rank with another file; taken as rank {}", free)});
    }
  }
}

}  // namespace gradwatt::ingest::kineto

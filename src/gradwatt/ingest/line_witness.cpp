#include "gradwatt/ingest/line_witness.hpp"

#include "gradwatt/ingest/text_scan.hpp"

namespace gradwatt::ingest {
namespace {

RankLine with_rank(std::optional<std::int64_t> rank, std::string_view rest, std::string_view whole) {
  if (!rank || *rank < 0 || *rank > 10'000'000) return {{}, whole};
  return {static_cast<std::int32_t>(*rank), rest};
}

/// "[1,3]<stdout>:" of mpirun --tag-output, "[rank3]:" of PyTorch, "[default3]:" of torchrun.
RankLine bracketed(std::string_view text) {
  TextScan scan(text);
  scan.eat("[");
  if (scan.eat("rank") || scan.eat("default")) {
    const auto rank = scan.integer();
    return scan.eat("]:") ? with_rank(rank, scan.rest(), text) : RankLine{{}, text};
  }
  if (!scan.integer() || !scan.eat(",")) return {{}, text};
  const auto rank = scan.integer();
  if (!scan.eat("]<stdout>:") && !scan.eat("]<stderr>:")) return {{}, text};
  return with_rank(rank, scan.rest(), text);
}

/// "3: " of srun --label; a colon at the end of the line is something else.
RankLine numbered(std::string_view text) {
  TextScan scan(text);
  const auto rank = scan.integer();
  if (!rank || scan.rest().size() < 3 || !scan.rest().starts_with(": ")) return {{}, text};
  return with_rank(rank, scan.rest().substr(2), text);
}

}  // namespace

RankLine without_launcher_prefix(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos || first > 8) return {{}, text};
  if (text[first] == '[') return bracketed(text);
  return text[first] >= '0' && text[first] <= '9' ? numbered(text) : RankLine{{}, text};
}

}  // namespace gradwatt::ingest

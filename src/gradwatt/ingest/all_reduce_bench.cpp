#include "gradwatt/ingest/all_reduce_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/median.hpp"
#include "gradwatt/ingest/nccl_tests.hpp"
#include "gradwatt/ingest/text_scan.hpp"

namespace gradwatt::ingest {
namespace {

constexpr std::size_t kMost = 1'000'000;

/// Bytes a second of "85.9599  Gbps" (bits) or "98.34GBps" (bytes).
std::optional<double> rate_of(TextScan scan) {
  const auto number = scan.number();
  struct Unit {
    std::string_view text;
    double bytes_per_s;
  };
  constexpr auto kUnits = std::to_array<Unit>({{"Gbps", 1e9 / 8}, {"Mbps", 1e6 / 8}, {"GBps", 1e9}, {"MBps", 1e6}});
  const auto unit = scan.word("|");
  const auto* known = std::ranges::find(kUnits, unit, &Unit::text);
  if (!number || *number < 0 || *number > 1e6 || known == kUnits.end()) return std::nullopt;
  return *number * known->bytes_per_s;
}

class AllReduceBench final : public LineWitness {
 public:
  [[nodiscard]] std::string_view name() const override { return "all_reduce benchmark"; }

  bool take(const Line& line) override {
    const auto text = core::trim(line.text);
    TextScan scan(text);
    if (text.starts_with("local_rank: ")) return true;
    if (const auto rank = scan.integer(); rank && scan.eat("data size: ")) {  // "0 data size: 4.0 GB"
      size_ = printable(core::trim(scan.rest()), 20);
      if (ranks_.size() < kMost) ranks_.insert(*rank);
      return true;
    }
    if (text.starts_with("The average bandwidth of all_reduce over ")) {
      if (const auto ranks = number_after(text, "over "); ranks && *ranks >= 1 && *ranks <= 1e7)
        table_ranks_ = static_cast<std::int64_t>(*ranks);
      return in_table_ = true;
    }
    if (in_table_ && text.starts_with('|')) return take_row(text, line.number);
    if (size_.empty()) return false;
    return take_trial(text, line.number);
  }

  void finish(Testimony& to) override {
    if (!trials_.empty())
      to.facts.add("comm.bus_bandwidth_bytes_per_s", fmt::format("all_reduce {}, {} ranks", size_, ranks_.size()),
                   median(trials_), trials_line_);
    for (const auto& row : rows_)
      to.facts.add(
          "comm.bus_bandwidth_bytes_per_s",
          table_ranks_ ? fmt::format("all_reduce {}, {} ranks", row.size, *table_ranks_) : "all_reduce " + row.size,
          row.bytes_per_s, row.line);
    if (trials_.empty() && rows_.empty()) return;
    to.facts.add("job.kind", "job", "collective-test", trials_line_);
    const auto ranks = table_ranks_.value_or(static_cast<std::int64_t>(ranks_.size()));
    if (ranks > 0) to.facts.add("job.world_size", "job", static_cast<double>(ranks), trials_line_);
  }

 private:
  // " busbw: 85.9599  Gbps" below " duration: …" and " algo throughput: …"
  bool take_trial(std::string_view text, std::size_t line) {
    if (text.starts_with("duration: ") || text.starts_with("algo throughput: ")) return true;
    TextScan scan(text);
    if (!scan.eat("busbw: ")) return text.starts_with("ignore me ");
    if (const auto rate = rate_of(scan); rate && trials_.size() < kMost) trials_.push_back(*rate), trials_line_ = line;
    return true;
  }

  // "|    32KB |   0.22GBps |   0.22GBps |"
  bool take_row(std::string_view text, std::size_t line) {
    const auto cells = core::split(text.substr(1), '|');
    if (cells.size() < 3) return false;
    const auto size = core::trim(cells[0]);
    if (const auto rate = rate_of(TextScan(cells[1])); rate && rows_.size() < 4096 && !size.empty()) {
      // Its KB and GB are powers of 1024.
      TextScan scan(size);
      const auto number = scan.integer();
      const auto unit = scan.word();
      const int shift = unit == "KB" ? 10 : unit == "MB" ? 20 : unit == "GB" ? 30 : -1;
      const bool known = number && *number > 0 && *number < 1'000'000 && shift > 0;
      rows_.push_back({known ? size_text(*number << shift) : printable(size, 20), *rate, line});
    }
    return true;
  }

  struct Row {
    std::string size;
    double bytes_per_s = 0;
    std::size_t line = 0;
  };
  std::string size_;
  std::set<std::int64_t> ranks_;
  std::vector<double> trials_;
  std::vector<Row> rows_;
  std::optional<std::int64_t> table_ranks_;
  std::size_t trials_line_ = 0;
  bool in_table_ = false;
};

}  // namespace

std::unique_ptr<LineWitness> make_all_reduce_bench() { return std::make_unique<AllReduceBench>(); }

}  // namespace gradwatt::ingest

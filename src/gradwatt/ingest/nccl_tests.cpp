#include "gradwatt/ingest/nccl_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/text_scan.hpp"

namespace gradwatt::ingest {
namespace {

constexpr std::size_t kMostRows = 4096;
constexpr std::size_t kMostRanks = 1U << 20U;

struct Row {
  std::int64_t bytes = 0;
  double busbw_gb_per_s = 0;  ///< out of place; in place where that is missing
  double algbw_gb_per_s = 0;
  std::size_t line = 0;
};

/// One run of one program: a head with the ranks, a table, an end.
struct Test {
  std::string collective;  ///< "all_reduce"; empty: not said
  std::string redop;
  std::optional<std::int64_t> root;
  std::size_t line = 0;
  std::set<std::int64_t> ranks;
  std::set<std::string, std::less<>> hosts;
  std::string gpu;
  std::vector<Row> rows;
  std::optional<double> average_gb_per_s;
  std::size_t average_line = 0;
  std::optional<std::int64_t> wrong_values;
  std::size_t wrong_line = 0;
  std::map<std::string, std::size_t> failures;  // text -> first line
};

/// "all_reduce" of ".../build/all_reduce_perf" or "all_reduce_perf_mpi".
std::string collective_in(std::string_view text) {
  const auto end = text.find("_perf");
  if (end == std::string_view::npos || end == 0) return {};
  auto begin = end;
  while (begin > 0 && ((text[begin - 1] >= 'a' && text[begin - 1] <= 'z') || text[begin - 1] == '_')) --begin;
  const auto name = text.substr(begin, end - begin);
  constexpr auto kKnown =
      std::to_array<std::string_view>({"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "alltoall",
                                       "sendrecv", "gather", "scatter", "hypercube"});
  return std::ranges::find(kKnown, name) != kKnown.end() ? std::string(name) : std::string();
}

/// By operation, root and the factor between bus and algorithm bandwidth, where the file does not name it. Nothing for
/// two ranks, where the factors meet.
std::string collective_by_factor(const Test& test) {
  const auto ranks = static_cast<double>(test.ranks.size());
  if (test.rows.empty() || ranks < 3) return {};
  const auto& largest = *std::ranges::max_element(test.rows, {}, &Row::bytes);
  if (largest.algbw_gb_per_s < 1) return {};  // two decimals say too little
  const auto factor = largest.busbw_gb_per_s / largest.algbw_gb_per_s;
  const auto is = [&](double wanted) { return factor > wanted * 0.98 && factor < wanted * 1.02; };
  const bool reduces = !test.redop.empty() && test.redop != "none";
  if (reduces && is(2 * (ranks - 1) / ranks)) return "all_reduce";
  if (reduces && test.root.value_or(-1) < 0 && is((ranks - 1) / ranks)) return "reduce_scatter";
  if (is(1) && test.root.value_or(-1) >= 0) return reduces ? "reduce" : "broadcast";
  return {};
}

class NcclTests final : public LineWitness {
 public:
  [[nodiscard]] std::string_view name() const override { return "nccl-tests"; }

  bool take(const Line& line) override {
    line_ = line.number;
    const auto text = core::trim(without_launcher_prefix(line.text).text);
    return take_head(text) || take_rank(text) || take_end(text) || take_failure(text) || take_row(text);
  }

  void finish(Testimony& to) override;

 private:
  Test& current() {
    if (tests_.empty()) begin();
    return tests_.back();
  }
  void begin() {
    if (tests_.size() >= kMostRows) return;
    tests_.emplace_back();
    tests_.back().line = line_;
    tests_.back().collective = std::exchange(next_, {});
  }

  bool take_head(std::string_view text) {
    if (text.find("_perf") != std::string_view::npos && text.find("concluded") == std::string_view::npos)
      if (auto named = collective_in(text); !named.empty()) next_ = std::move(named);
    if (text.starts_with("# Collective test starting:") || text.starts_with("# Collective test concluded:"))
      return true;
    if (text.starts_with("# nccl-tests version ")) {
      if (const auto code = number_after(text, "nccl-library="); code && *code > 1000 && *code < 1e8)
        library_ = {static_cast<std::int64_t>(*code), line_};
      return true;
    }
    if (text.find("nThread ") == std::string_view::npos || text.find(" minBytes ") == std::string_view::npos)
      return false;
    begin();
    return true;
  }

  // "#  Rank  0 Group  0 Pid 2440630 on    292KF14 device  0 [0x1a] NVIDIA H100 80GB HBM3"
  bool take_rank(std::string_view text) {
    if (tests_.empty()) return false;
    TextScan scan(text);
    scan.eat("#");
    if (!scan.eat("Rank ")) return false;
    const auto rank = scan.integer();
    if (!rank || !scan.skip_past(" Pid ") || !scan.integer() || !scan.eat("on ")) return false;
    const auto host = scan.word();
    if (!scan.eat("device ") || !scan.integer()) return false;
    auto& test = current();
    if (test.ranks.size() < kMostRanks) test.ranks.insert(*rank);
    if (test.hosts.size() < kMostRows) test.hosts.emplace(host.substr(0, 253));
    if (scan.eat("[") && scan.skip_past("]") && test.gpu.empty()) test.gpu = core::trim(scan.rest());
    return true;
  }

  bool take_end(std::string_view text) {
    if (tests_.empty() || !text.starts_with('#')) return false;
    if (const auto wrong = number_after(text, "Out of bounds values :")) {
      current().wrong_values = static_cast<std::int64_t>(std::clamp(*wrong, 0.0, 1e15));
      current().wrong_line = line_;
      return true;
    }
    if (const auto average = number_after(text, "Avg bus bandwidth    :")) {
      current().average_gb_per_s = *average;
      current().average_line = line_;
      return true;
    }
    // Head of the table and the lines between.
    return text == "#" || text == "# Using devices" || text.find("out-of-place") != std::string_view::npos ||
           text.find("busbw") != std::string_view::npos || text.find("(elements)") != std::string_view::npos;
  }

  // "cnode2-002: Test NCCL failure common.cu:1279 'remote process exited …'"
  bool take_failure(std::string_view text) {
    const auto at = text.find("Test NCCL failure") != std::string_view::npos   ? text.find("Test NCCL failure")
                    : text.find("Test CUDA failure") != std::string_view::npos ? text.find("Test CUDA failure")
                                                                               : text.find(": Test failure ");
    if (at == std::string_view::npos) return false;
    if (text.find(": Test failure ") != std::string_view::npos) return true;  // repeats the line above
    auto& failures = current().failures;
    if (failures.size() < 32) failures.try_emplace(std::string(text.substr(at)), line_);
    return true;
  }

  // size count type [redop [root]] and twice: time algbw busbw wrong
  bool take_row(std::string_view text) {
    if (tests_.empty() || text.empty() || text.front() < '0' || text.front() > '9' || text.size() > 400) return false;
    const auto words = core::split_words(text);
    constexpr std::size_t kTimes = 8;
    if (words.size() < kTimes + 3 || words.size() > kTimes + 5) return false;
    const auto bytes = core::parse_int(words[0]);
    if (!bytes || *bytes < 0 || !core::parse_int(words[1]) || core::parse_number(words[2])) return false;
    const auto cell = [&](std::size_t i) { return core::parse_number(words[words.size() - kTimes + i]); };
    const auto out_of_place = cell(2), in_place = cell(6);
    const auto busbw = out_of_place ? out_of_place : in_place;
    const auto algbw = out_of_place ? cell(1) : cell(5);
    if (!busbw || !algbw || *busbw < 0 || *busbw > 1e6) return false;
    auto& test = current();
    if (words.size() >= kTimes + 4) test.redop = words[3];
    if (words.size() == kTimes + 5) test.root = core::parse_int(words[4]);
    if (test.rows.size() < kMostRows) test.rows.push_back({*bytes, *busbw, *algbw, line_});
    return true;
  }

  static void finish_rows(const Test& test, Testimony& to);

  std::size_t line_ = 0;
  std::string next_;  // collective of the test that comes
  std::vector<Test> tests_;
  std::pair<std::int64_t, std::size_t> library_{0, 0};  // version code, line
};

/// 22807 -> 2.28.7; before 2.9 one digit less: 2708 -> 2.7.8.
std::string version_of(std::int64_t code) {
  if (code < 10000) return fmt::format("{}.{}.{}", code / 1000, code / 100 % 10, code % 100);
  return fmt::format("{}.{}.{}", code / 10000, code / 100 % 100, code % 100);
}

void NcclTests::finish_rows(const Test& test, Testimony& to) {
  auto collective = test.collective.empty() ? collective_by_factor(test) : test.collective;
  if (collective.empty()) collective = "collective";
  const auto ranks = test.ranks.empty() ? "" : fmt::format(", {} ranks", test.ranks.size());
  std::set<std::int64_t> seen;
  for (const auto& row : test.rows) {
    if (row.bytes == 0 || !seen.insert(row.bytes).second) continue;
    to.facts.add("comm.bus_bandwidth_bytes_per_s", fmt::format("{} {}{}", collective, size_text(row.bytes), ranks),
                 row.busbw_gb_per_s * 1e9, row.line);
  }
  if (test.average_gb_per_s)
    to.facts.add("comm.bus_bandwidth_bytes_per_s", fmt::format("{} average{}", collective, ranks),
                 *test.average_gb_per_s * 1e9, test.average_line);
  if (test.wrong_values.value_or(0) > 0)
    to.facts.add("comm.warning", "job", fmt::format("{}: {} values out of bounds", collective, *test.wrong_values),
                 test.wrong_line);
  for (const auto& [text, line] : test.failures)
    to.facts.add("comm.warning", "job", fmt::format("{}: {}", collective, text), line);
  if (!test.average_gb_per_s && test.failures.empty()) {
    to.notes.add(
        {}, test.line,
        fmt::format("the {} test that begins here has no end: {} sizes were measured", collective, seen.size()));
    to.run.set(record::meta::kComplete, std::string("0"));
  }
}

void NcclTests::finish(Testimony& to) {
  const Test* widest = nullptr;
  for (const auto& test : tests_) {
    finish_rows(test, to);
    if (widest == nullptr || test.ranks.size() > widest->ranks.size()) widest = &test;
  }
  if (widest == nullptr) return;
  to.facts.add("job.kind", "job", "collective-test", widest->line);
  if (!widest->ranks.empty()) {
    to.facts.add("job.world_size", "job", static_cast<double>(widest->ranks.size()), widest->line);
    to.facts.add("job.nodes", "job", static_cast<double>(widest->hosts.size()), widest->line);
  }
  if (!widest->gpu.empty()) to.facts.add("gpu.name", "job", widest->gpu, widest->line);
  if (library_.first > 0) to.facts.add("comm.nccl_version", "job", version_of(library_.first), library_.second);
}

}  // namespace

std::string size_text(std::int64_t bytes) {
  struct Unit {
    int shift;
    std::string_view name;
  };
  constexpr auto kUnits = std::to_array<Unit>({{40, "TiB"}, {30, "GiB"}, {20, "MiB"}, {10, "KiB"}});
  for (const auto& [shift, name] : kUnits)
    if (bytes >> shift > 0 && bytes % (std::int64_t{1} << shift) == 0)
      return fmt::format("{} {}", bytes >> shift, name);
  return fmt::format("{} bytes", bytes);
}

std::unique_ptr<LineWitness> make_nccl_tests() { return std::make_unique<NcclTests>(); }

}  // namespace gradwatt::ingest

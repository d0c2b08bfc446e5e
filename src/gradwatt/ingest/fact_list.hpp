// Facts of one foreign file as a reader finds them: the table gives the unit, the file name and line the origin.
//
//   FactList facts("nccl.log");
//   facts.add("comm.interface", "job", "eth0", line.number);
//   run.facts = facts.take();
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gradwatt/record/fact.hpp"

namespace gradwatt::ingest {

class FactList {
 public:
  explicit FactList(std::string file) : file_(std::move(file)) {}

  /// `name` must be in the fact table, and the value of its kind. `line` 0: the file as a whole. Returned for what few
  /// facts need besides: time, coverage, how. Valid until the next call.
  record::Fact& add(std::string_view name, std::string subject, double value, std::size_t line);
  /// Foreign text is made safe to print and cut to kMaxText.
  record::Fact& add(std::string_view name, std::string subject, std::string_view value, std::size_t line);

  [[nodiscard]] bool empty() const { return facts_.empty(); }
  [[nodiscard]] std::size_t size() const { return facts_.size(); }
  [[nodiscard]] std::vector<record::Fact> take() { return std::move(facts_); }

  static constexpr std::size_t kMaxText = 400;

 private:
  record::Fact& put(std::string_view name, std::string subject, std::size_t line);

  std::string file_;
  std::vector<record::Fact> facts_;
};

/// Foreign text without control characters, at most `most` bytes, cut between UTF-8 characters.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = FactList::kMaxText);

}  // namespace gradwatt::ingest

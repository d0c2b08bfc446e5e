// The rows behind lint(). Private to this folder.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gradwatt/diagnosis/lint/lint.hpp"

namespace gradwatt::diagnosis {

/// What is wrong with a value; the row adds the setting.
struct Verdict {
  LintSeverity severity;
  std::string reason, fix;
};

/// A row about one environment variable that is set and not empty.
struct VariableRule {
  std::string_view variable, what;
  std::optional<Verdict> (*check)(std::string_view value, const FactSheet& facts);
};
[[nodiscard]] std::span<const VariableRule> nccl_rules();
[[nodiscard]] std::span<const VariableRule> framework_rules();

/// A row about the node or the job; it says itself which setting.
struct NodeRule {
  std::string_view setting, what;
  void (*check)(const FactSheet& facts, std::vector<LintFinding>& out);
};
[[nodiscard]] std::span<const NodeRule> node_rules();

/// As NCCL reads it: strtoll with base 0 and no look at what follows the digits. Nothing when that is not all of the
/// text.
[[nodiscard]] std::optional<long long> whole_number(std::string_view text);

}  // namespace gradwatt::diagnosis

#include "gradwatt/diagnosis/lint/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/diagnosis/lint/lint_rules.hpp"

namespace gradwatt::diagnosis {

std::string_view name_of(LintSeverity severity) {
  constexpr std::array<std::string_view, 3> kNames{"note", "warning", "wrong"};
  return kNames[static_cast<std::size_t>(severity)];
}

std::vector<LintFinding> lint(const FactSheet& facts) {
  std::vector<LintFinding> out;
  for (const auto rules : {nccl_rules(), framework_rules()})
    for (const auto& rule : rules) {
      const auto value = facts.variable(rule.variable);
      if (!value || value->empty() || *value == "unset") continue;
      if (auto verdict = rule.check(*value, facts))
        out.push_back({verdict->severity, fmt::format("{}={}", rule.variable, *value), std::move(verdict->reason),
                       std::move(verdict->fix), "user"});
    }
  for (const auto& rule : node_rules()) rule.check(facts, out);
  std::ranges::stable_sort(out, std::greater<>(), &LintFinding::severity);
  return out;
}

std::vector<LintRow> lint_rows() {
  std::vector<LintRow> out;
  for (const auto rules : {nccl_rules(), framework_rules()})
    for (const auto& rule : rules) out.push_back({rule.variable, rule.what});
  for (const auto& rule : node_rules()) out.push_back({rule.setting, rule.what});
  return out;
}

}  // namespace gradwatt::diagnosis

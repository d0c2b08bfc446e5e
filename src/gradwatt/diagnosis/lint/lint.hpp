// Settings of job and node that are wrong whatever the job does: cheap to check and right at once. Works on facts, so a
// record, a facts file and this very node are judged by the same rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/diagnosis/fact_sheet.hpp"

namespace gradwatt::diagnosis {

/// note: has no effect or belongs to a debugging run; warning: costs time or hides an error; wrong: cannot do what it
/// is meant to do, or breaks the job.
enum class LintSeverity : std::uint8_t { note, warning, wrong };
[[nodiscard]] std::string_view name_of(LintSeverity severity);

struct LintFinding {
  LintSeverity severity = LintSeverity::note;
  std::string setting;  ///< "NCCL_ALGO=Tree", "power limit of GPU 3"
  std::string reason;   ///< why it matters, one clause
  std::string fix;      ///< what to do
  std::string owner;    ///< "user", "root" or "operator"
};

/// Worst first. What is not known is not judged.
[[nodiscard]] std::vector<LintFinding> lint(const FactSheet& facts);

/// One row of the tables, for help and docs: what is looked at and why.
struct LintRow {
  std::string_view setting, what;
};
[[nodiscard]] std::vector<LintRow> lint_rows();

}  // namespace gradwatt::diagnosis

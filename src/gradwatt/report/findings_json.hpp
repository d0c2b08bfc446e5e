// A diagnosis for programs: {"schema": "gradwatt.diagnosis/1", "findings": […], "candidates": […], "missing": […], …}.
#pragma once

#include <string>

#include "gradwatt/diagnosis/diagnose.hpp"
#include "gradwatt/diagnosis/lint/lint.hpp"

namespace gradwatt::report {

/// `rests_on` as in FindingsText; the facts stand beside the verdict, so that it can be checked.
[[nodiscard]] std::string findings_to_json(const diagnosis::Diagnosis& diagnosis, const diagnosis::FactSheet& facts,
                                           const std::vector<diagnosis::LintFinding>& lint, const std::string& run_id,
                                           const std::string& rests_on);

/// {"schema": "gradwatt.lint/1", "lint": […]}.
[[nodiscard]] std::string lint_to_json(const std::vector<diagnosis::LintFinding>& findings);

/// A facts file of the sheet: what `diagnose --facts` reads.
[[nodiscard]] std::string facts_to_json(const diagnosis::FactSheet& facts);

}  // namespace gradwatt::report

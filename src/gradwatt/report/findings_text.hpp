// A diagnosis on one screen: what is wrong and why one thinks so, what to do, what it can gain at most, how to prove
// it, how to take it back; or which measurement would decide.
#pragma once

#include <string>

#include "gradwatt/diagnosis/diagnose.hpp"
#include "gradwatt/diagnosis/lint/lint.hpp"
#include "gradwatt/report/screen.hpp"

namespace gradwatt::report {

struct FindingsText {
  Screen::Options screen;
  std::string rests_on;  ///< "steps 12 to 480 of 500"; empty: not said
  std::size_t most = 3;  ///< findings shown in full; further ones get a line
  bool brief = false;    ///< below a report: the first finding and its change, nothing else
};

/// Settings that are wrong whatever the job does; empty when there are none.
[[nodiscard]] std::string lint_to_text(const std::vector<diagnosis::LintFinding>& findings,
                                       const Screen::Options& screen);

[[nodiscard]] std::string findings_to_text(const diagnosis::Diagnosis& diagnosis, const FindingsText& options);

}  // namespace gradwatt::report

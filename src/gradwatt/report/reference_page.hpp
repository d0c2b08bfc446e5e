// docs/metrics.md: the names that records, JSON, CSV and facts files use, printed from the tables themselves. A test
// compares the page in the tree with this text, so the docs cannot say what the program does not.
#pragma once

#include <string>

namespace gradwatt::report {

/// Markdown: all metrics by device kind, then all facts.
[[nodiscard]] std::string metrics_page();

}  // namespace gradwatt::report

// docs/hardware-table.md: the GPU table as a page, every cell with its source. A test compares the page in the tree
// with this text, so the docs cannot say what the table does not.
#pragma once

#include <string>

namespace gradwatt::catalog {

/// Markdown.
[[nodiscard]] std::string gpu_page();

}  // namespace gradwatt::catalog

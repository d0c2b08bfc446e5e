// One line of a separated-values file as cells.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gradwatt::ingest {

/// Splits at `separator` outside double quotes, trims white space and takes the quotes off. The views point into `line`
/// or, where a doubled quote had to be undone, into `scratch`; both must outlive them.
void split_cells(std::string_view line, char separator, std::vector<std::string_view>& cells,
                 std::vector<std::string>& scratch);

/// The same with its own storage, for code where speed is no matter.
[[nodiscard]] std::vector<std::string> split_cells(std::string_view line, char separator);

}  // namespace gradwatt::ingest

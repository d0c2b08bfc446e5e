// Units that people write beside a fact, converted to the one that the fact table keeps.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gradwatt::ingest {

/// Factor from `written` to the table's unit `kept`: "kW" to "W" is 1000. Nothing where `written` measures something
/// else or is not known. An empty `kept` is a pure number, which "%" turns into a part of one. Case matters: mW, MW.
[[nodiscard]] std::optional<double> fact_unit_factor(std::string_view written, std::string_view kept);

/// Units that can be written for `kept`, for messages: "W, mW, kW".
[[nodiscard]] std::string units_for(std::string_view kept);

}  // namespace gradwatt::ingest

// Figures and texts that may be missing, as JSON has them: null.
#pragma once

#include <cmath>
#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace gradwatt::report {

using Json = nlohmann::ordered_json;

[[nodiscard]] inline Json value(double number) { return std::isfinite(number) ? Json(number) : Json(nullptr); }
[[nodiscard]] inline Json value(const std::optional<double>& number) { return number ? value(*number) : Json(nullptr); }
[[nodiscard]] inline Json value(const std::optional<std::int64_t>& number) {
  return number ? Json(*number) : Json(nullptr);
}
[[nodiscard]] inline Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

}  // namespace gradwatt::report

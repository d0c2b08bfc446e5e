// A fact in one line, for tests of what is concluded from it.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "gradwatt/record/fact.hpp"

namespace gradwatt::doubles {

[[nodiscard]] inline record::Fact fact(std::string name, std::variant<double, std::string> value,
                                       std::string subject = "job") {
  return {.name = std::move(name), .subject = std::move(subject), .value = std::move(value)};
}

}  // namespace gradwatt::doubles

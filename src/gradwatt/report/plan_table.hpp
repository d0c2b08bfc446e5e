// The front of a plan as a table. Private to this folder.
#pragma once

#include <string>

#include "gradwatt/planning/plan/plan.hpp"
#include "gradwatt/report/screen.hpp"

namespace gradwatt::report {

/// At most twelve rows, evenly over the front, with the chosen setting and the knee among them; columns that say the
/// same everywhere, or find no room, are left out.
void put_front(Screen& screen, const planning::Question& question, const planning::Plan& plan);

/// Three digits, never as a power of ten.
[[nodiscard]] std::string digits(double value);

}  // namespace gradwatt::report

// What the sections beside the events say: ranks, devices, the zero of the clock.
#pragma once

#include <string_view>

#include "gradwatt/ingest/kineto/trace.hpp"

namespace gradwatt::ingest::kineto {

[[nodiscard]] bool is_head_section(std::string_view key);
/// Takes over what `json` says; a section that is not as it should be says nothing.
void read_head_section(std::string_view key, std::string_view json, Trace& trace);

}  // namespace gradwatt::ingest::kineto

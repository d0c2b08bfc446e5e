// Xid numbers of the NVIDIA driver: what each means and what has to be done. A new number is one row in xid.cpp.
//
// Sources: NVIDIA "XID Errors" (docs.nvidia.com/deploy/xid-errors), names and actions, through the catalogue that gpud
// keeps of it; DCGM 4.6, which of them fail or warn in its health watch.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace gradwatt::catalog {

enum class XidAction : std::uint8_t {
  none,         ///< information, or a consequence of another error
  restart_job,  ///< the program is at fault or lost its context
  reset_gpu,
  restart_host,
  investigate,  ///< NVIDIA's workflow for this number decides
};
enum class XidHealth : std::uint8_t {
  unrated,  ///< not watched by DCGM
  warning,
  failure,
};

struct XidRow {
  int number;
  std::string_view meaning;  ///< ends the sentence "the driver reported …"
  XidAction action;
  XidHealth health;
  /// The program alone may cause it: no sign of broken hardware by itself.
  bool program_may_cause_it = false;
};
[[nodiscard]] std::span<const XidRow> xid_table();
/// Null for numbers that are not in the table.
[[nodiscard]] const XidRow* find_xid(int number);

/// "restart the job", "reset the GPU", …
[[nodiscard]] std::string_view words_of(XidAction action);

}  // namespace gradwatt::catalog

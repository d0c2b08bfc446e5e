// The look through an nvidia-smi query file before it is read: has it a header, and if not, what are its columns?
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/ingest/import_options.hpp"
#include "gradwatt/ingest/line_reader.hpp"
#include "gradwatt/ingest/smi_layout.hpp"

namespace gradwatt::ingest {

struct FirstLook {
  bool has_header = false;                  ///< some line is a header; it is read again when its turn comes
  std::optional<Layout> layout;             ///< found out from the rows of a file without header
  std::size_t line = 0;                     ///< the first with text; 0: none
  std::string text;                         ///< begin of that line
  std::optional<std::string> unread_table;  ///< why the rows give no layout: "line 1: …"
};

/// Reads up to the first header, or the whole file where it has none. `lines` stands anywhere afterwards.
[[nodiscard]] FirstLook look_through(LineReader& lines, const std::string& name, const ImportOptions& options,
                                     Diagnostics& notes);

}  // namespace gradwatt::ingest

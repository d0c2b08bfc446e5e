// `nvidia-smi -q -x`: the long listing as XML, all versions of its document type (nvsmi_device_v10 to v13), one
// document or one every few seconds behind each other.
#pragma once

#include <string>

#include "gradwatt/core/result.hpp"
#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/ingest/import_options.hpp"
#include "gradwatt/ingest/imported_file.hpp"
#include "gradwatt/ingest/line_reader.hpp"

namespace gradwatt::ingest {

/// A listing of 16 GPUs has about 1 MiB; a tree takes some twenty times its text.
inline constexpr std::size_t kMaxSmiDocumentBytes = std::size_t{4} << 20U;

/// rows: GPUs times documents. Entities other than XML's own five are not expanded, documents of a foreign root not
/// read. unusable_input ("line N: …") where no document gives a GPU.
[[nodiscard]] core::Result<ImportedFile> read_smi_xml(LineReader& lines, const std::string& name,
                                                      const ImportOptions& options, Diagnostics& diagnostics);
/// By the first bytes: XML of this kind.
[[nodiscard]] bool may_be_smi_xml(const LineReader& lines);

}  // namespace gradwatt::ingest

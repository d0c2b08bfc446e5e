// What nvidia-smi prints for people: its table, the long listing (-q), dmon, the list of GPUs (-L) and of NVLinks
// (nvlink --status). All of them may stand in one file, again and again.
#pragma once

#include <memory>
#include <string>

#include "gradwatt/ingest/import_options.hpp"
#include "gradwatt/ingest/line_witness.hpp"

namespace gradwatt::ingest {

/// `file` names the file in messages. All three outlive the witness. Series where the output has a time, gpu.* facts.
[[nodiscard]] std::unique_ptr<LineWitness> make_smi_text(const std::string& file, const ImportOptions& options,
                                                         Diagnostics& notes);

}  // namespace gradwatt::ingest

// The end of an nvidia-smi query file: the run that comes of its readings, or why there is none.
#pragma once

#include <optional>
#include <string>

#include "gradwatt/core/result.hpp"
#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/ingest/file_clock.hpp"
#include "gradwatt/ingest/import_options.hpp"
#include "gradwatt/ingest/imported_file.hpp"
#include "gradwatt/ingest/smi_first_look.hpp"
#include "gradwatt/ingest/smi_layout.hpp"
#include "gradwatt/ingest/smi_readings.hpp"
#include "gradwatt/ingest/smi_tally.hpp"

namespace gradwatt::ingest {

/// What is known of the whole file besides its readings.
struct SmiFile {
  const std::string& name;
  const ImportOptions& options;
  const FileClock& clock;
  const SmiTally& tally;
};

/// Judges the readings of a file that gave rows and makes the run of them; what the user should know of the whole goes
/// to `notes`. unusable_input when no reading is left.
[[nodiscard]] core::Result<ImportedFile> make_run(SmiReadings& readings, const SmiFile& file, Diagnostics& notes);

/// Why a file without a single used row cannot be imported. `layout` is the last table's.
[[nodiscard]] core::Error refusal_of(const FirstLook& first, const std::optional<Layout>& layout, const SmiTally& tally,
                                     const Diagnostics& notes);

}  // namespace gradwatt::ingest

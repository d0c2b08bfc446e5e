// ERA5 in FourCastNet's layout: one HDF5 file a year with `fields` (time × channel × latitude × longitude, six hours
// apart), means and deviations of each channel in .npy files beside them. Read in pieces: a year is larger than memory.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "gradwatt/training/data/fields.hpp"

namespace gradwatt::training {

struct Era5Settings {
  std::filesystem::path folder;           ///< the .h5 files of this part: <root>/train, <root>/test, …
  std::filesystem::path means_file;       ///< <root>/stats/global_means.npy
  std::filesystem::path deviations_file;  ///< <root>/stats/global_stds.npy
  /// <root>/stats/time_means.npy: the mean field of each channel in units. Empty: each channel's mean everywhere.
  std::filesystem::path climatology_file = {};
  std::vector<std::size_t> channels = {};  ///< of the files, in this order; empty: all
  int steps = 1;                           ///< fields in a target: 2 for the two-step fine-tuning
  /// 721 rows become 720, which patches divide: the last one (the south pole) is left out.
  bool even_rows = true;
};

/// Rows run from the north to the south pole. Examples are every time step of every year whose targets lie in the same
/// year. Errors: not_found, unusable_input (no .h5 file, no `fields`, years of different size, statistics of another
/// number of channels), wrong_use (a channel that is not there, no step).
[[nodiscard]] core::Result<std::shared_ptr<FieldDataset>> open_era5(const Era5Settings& settings);

}  // namespace gradwatt::training

// Monthly winds of the U.S. Navy's analyses, 1982 to 1992, as Debian's ferret-datasets ships them: real weather for
// forecast models, month to month.
#pragma once

#include <filesystem>
#include <memory>

#include "gradwatt/training/data/fields.hpp"

namespace gradwatt::training {

inline constexpr const char* kNavyWinds = "/usr/share/ferret-vis/data/monthly_navy_winds.cdf";

struct WindsSettings {
  std::filesystem::path file = kNavyWinds;
  int held_out_years = 2;  ///< the last ones, for evaluation
  bool held_out = false;   ///< the evaluation part
  int steps = 1;           ///< months in a target
  /// Patches of a model must divide the rows: the last row (a pole) is left out when their number is odd.
  bool even_rows = true;
  /// Inputs and targets are departures from the year's course: less the mean and the two slowest waves of the monthly
  /// climatology. Of some ten years, single months' means are mostly noise.
  bool departures = false;
};

/// Channels u and v (m/s). Missing values become the mean of their channel (0 when normalised). Mean, deviation and the
/// climatology (a field for each month of the year) are the training years' only. No pair crosses into the other part.
/// Errors: not_found, unusable_input (no netCDF file, no variable UWND or VWND, other dimensions, too few years).
[[nodiscard]] core::Result<std::shared_ptr<FieldDataset>> open_winds(const WindsSettings& settings);

}  // namespace gradwatt::training

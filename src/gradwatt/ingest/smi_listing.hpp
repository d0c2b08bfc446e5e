// The long listing of nvidia-smi, as text (-q) and as XML (-q -x): what its entries are in the names of --query-gpu.
//
// Both have the same tree under other spellings ("GPU Power Readings / Average Power Draw",
// gpu_power_readings/average_power_draw), so one table serves them: its paths are lower case with '_' for all else.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gradwatt/ingest/smi_looks.hpp"

namespace gradwatt::ingest {

/// "GPU Power Readings" -> "gpu_power_readings".
[[nodiscard]] std::string listing_key(std::string_view name);

/// Builds the look at one GPU out of its entries.
class SmiListing {
 public:
  explicit SmiListing(std::size_t line) { look_.line = line; }

  /// `path` is below the GPU, of listing_key()s: "pci/gpu_link_info/pcie_generation/max".
  void add(std::string_view path, std::string_view value);
  void add_bus_id(std::string_view value);
  void add_process() { ++processes_; }
  void add_slice() { ++slices_; }
  [[nodiscard]] bool empty() const { return look_.fields.empty(); }
  /// Ends the look. `driver` is the listing's, empty where it does not say.
  [[nodiscard]] SmiLook take(std::string_view driver);

 private:
  void put(std::string_view name, std::string_view text, bool attribute = false);

  SmiLook look_;
  std::size_t processes_ = 0, slices_ = 0;
  bool lists_processes_ = false;
  std::optional<double> uncorrected_;
};

}  // namespace gradwatt::ingest

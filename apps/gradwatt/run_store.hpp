// The folder that holds the runs, one folder a run. Its names, listing and removal; nothing outside it is ever touched.
//
// A run's name is kept in a small file `name` in its folder: the record of a finished run is never rewritten, and the
// name goes where the folder goes. It stands above a name given to `gradwatt run --name`, which is in the record.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/core/result.hpp"

namespace gradwatt::app {

/// The name file's content, if it is there and is a name.
[[nodiscard]] std::optional<std::string> name_in(const std::filesystem::path& run_folder);

class RunStore {
 public:
  explicit RunStore(std::filesystem::path root) : root_(std::move(root)) {}

  struct Entry {
    std::filesystem::path folder;
    std::string id;                           ///< the folder's name
    std::optional<std::string> name;          ///< from the name file only
    std::filesystem::file_time_type written;  ///< when its record was last written to
  };

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  /// All folders that hold a record, latest first. Reads no record. Empty when there is no store.
  [[nodiscard]] std::vector<Entry> entries() const;
  /// By id, name, unique beginning of either, or "last". Errors: not_found with what there is instead, unusable_input
  /// when several match.
  [[nodiscard]] core::Result<Entry> find(std::string_view text) const;
  /// Errors: wrong_use for a text that is no name or is taken; not_permitted.
  [[nodiscard]] core::Result<void> set_name(const Entry& entry, std::string_view name) const;
  /// The folder with all in it. Errors: not_permitted; wrong_use while the run is still being recorded.
  [[nodiscard]] core::Result<void> remove(const Entry& entry) const;

 private:
  std::filesystem::path root_;
};

/// Letters, digits, '.', '_' and '-', at most 64, beginning with a letter or digit; not "last".
[[nodiscard]] core::Result<void> check_name(std::string_view name);

}  // namespace gradwatt::app

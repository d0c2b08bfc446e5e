// Files below a root: the readers of /proc and /sys take one, so that tests hand them a made tree.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/core/result.hpp"

namespace gradwatt::core {

class FileTree {
 public:
  explicit FileTree(std::filesystem::path root = "/") : root_(std::move(root)) {}

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  /// `relative` has no leading slash: "proc/stat".
  [[nodiscard]] std::filesystem::path path(std::string_view relative) const { return root_ / relative; }
  [[nodiscard]] bool exists(std::string_view relative) const;
  /// Whole content, trailing white space removed. Errors: not_found, not_permitted, io; the message names the path.
  [[nodiscard]] Result<std::string> read(std::string_view relative) const;
  /// One integer. unusable_input when the content is something else.
  [[nodiscard]] Result<std::int64_t> read_int(std::string_view relative) const;
  /// Names in a folder, sorted; empty when it is not there.
  [[nodiscard]] std::vector<std::string> list(std::string_view relative) const;

 private:
  std::filesystem::path root_;
};

/// What an errno of `action` ("open", "read") on `path` means.
[[nodiscard]] Error file_error(std::string_view action, const std::filesystem::path& path, int error);

/// All of `text` as an integer, else nothing. Surrounding white space is allowed.
[[nodiscard]] std::optional<std::int64_t> parse_int(std::string_view text);
/// All of `text` as a finite number, else nothing. Surrounding white space is allowed.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

}  // namespace gradwatt::core

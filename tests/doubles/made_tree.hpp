// A made /proc and /sys: tests write the files of a machine that nobody has at hand, and hand readers its root.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "gradwatt/core/file_tree.hpp"

namespace gradwatt::doubles {

/// The folder goes with the object.
class MadeTree {
 public:
  MadeTree() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gradwatt-tree-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~MadeTree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  MadeTree(const MadeTree&) = delete;
  MadeTree& operator=(const MadeTree&) = delete;

  /// Writes one file and the folders above it; returns itself, so that a machine reads as one list.
  MadeTree& file(std::string_view relative, std::string_view content) {
    const auto path = root_ / relative;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::trunc) << content << '\n';
    return *this;
  }
  /// The same for foreign formats: exactly these bytes.
  MadeTree& bytes(std::string_view relative, std::string_view content) {
    std::filesystem::create_directories((root_ / relative).parent_path());
    std::ofstream(root_ / relative, std::ios::trunc | std::ios::binary) << content;
    return *this;
  }
  MadeTree& folder(std::string_view relative) {
    std::filesystem::create_directories(root_ / relative);
    return *this;
  }
  /// A link to nowhere: opening it is "not found" though the name is listed.
  MadeTree& broken_link(std::string_view relative) {
    std::filesystem::create_directories((root_ / relative).parent_path());
    std::filesystem::create_symlink("nowhere", root_ / relative);
    return *this;
  }
  MadeTree& remove(std::string_view relative) {
    std::filesystem::remove_all(root_ / relative);
    return *this;
  }
  [[nodiscard]] core::FileTree tree() const { return core::FileTree(root_); }
  [[nodiscard]] std::filesystem::path path(std::string_view relative) const { return root_ / relative; }

 private:
  std::filesystem::path root_;
};

}  // namespace gradwatt::doubles

// A small kernel file that is read again and again: opened once, read from its start each time. Looking up a path in
// /proc or /sys costs several times what reading the file does.
#pragma once

#include <string>
#include <string_view>

#include "gradwatt/core/file_tree.hpp"

namespace gradwatt::core {

/// One thread at a time.
class KeptFile {
 public:
  KeptFile() = default;
  /// Opened by the first read.
  KeptFile(const FileTree& tree, std::string_view relative) : path_(tree.path(relative)) {}
  ~KeptFile() { close(); }
  KeptFile(KeptFile&& other) noexcept;
  KeptFile& operator=(KeptFile&& other) noexcept;
  KeptFile(const KeptFile&) = delete;
  KeptFile& operator=(const KeptFile&) = delete;

  /// Whole content as of now, in `buffer`, trailing white space left out. A file that cannot be read any more is opened
  /// again, once. Errors as FileTree::read.
  [[nodiscard]] Result<std::string_view> read(std::string& buffer);

 private:
  /// errno, or 0 when all was read into `buffer`.
  [[nodiscard]] int try_read(std::string& buffer);
  void close();

  std::filesystem::path path_;
  int file_ = -1;
};

}  // namespace gradwatt::core

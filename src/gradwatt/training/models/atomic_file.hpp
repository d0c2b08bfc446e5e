// Writes a file that is there completely or not at all: under another name in the same folder first, made durable, then
// renamed. What stood under the name before stays until that moment, also when the disk is full or the process dies.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "gradwatt/core/result.hpp"

namespace gradwatt::training {

class AtomicFile {
 public:
  /// Opens the temporary file. Errors: not_found, not_permitted, io; the message names the path.
  [[nodiscard]] static core::Result<AtomicFile> create(std::filesystem::path path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) = delete;
  /// Without commit() the temporary file is removed.
  ~AtomicFile();

  /// Errors: io (disk full).
  [[nodiscard]] core::Result<void> write(const void* data, std::size_t bytes);
  /// Makes file and name durable. Errors: io; the file under the name is then the old one.
  [[nodiscard]] core::Result<void> commit();

 private:
  AtomicFile(int descriptor, std::filesystem::path path, std::filesystem::path temporary)
      : descriptor_(descriptor), path_(std::move(path)), temporary_(std::move(temporary)) {}

  int descriptor_;
  std::filesystem::path path_, temporary_;  ///< `temporary_` is empty once there is none to remove
};

}  // namespace gradwatt::training

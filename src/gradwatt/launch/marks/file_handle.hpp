// An open file that positioned reads and writes go to. The reader of a ring uses these and no mapping: a ring that
// somebody truncates then gives short reads, not SIGBUS, and its pages do not count as gradwatt's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "gradwatt/core/result.hpp"

namespace gradwatt::launch::marks {

class FileHandle {
 public:
  /// Read and write where allowed, else read only. Errors: not_found, not_permitted, io.
  static core::Result<FileHandle> open(const std::filesystem::path& path);
  FileHandle(FileHandle&& other) noexcept : fd_(std::exchange(other.fd_, -1)), writable_(other.writable_) {}
  FileHandle& operator=(FileHandle&& other) noexcept;
  ~FileHandle();

  [[nodiscard]] bool writable() const { return writable_; }
  [[nodiscard]] std::uint64_t size() const;
  /// True when all `bytes` were read.
  bool read(void* into, std::size_t bytes, std::uint64_t offset) const;
  /// True when all `bytes` were written.
  bool write(const void* from, std::size_t bytes, std::uint64_t offset) const;

 private:
  FileHandle(int fd, bool writable) : fd_(fd), writable_(writable) {}
  int fd_;
  bool writable_;
};

}  // namespace gradwatt::launch::marks

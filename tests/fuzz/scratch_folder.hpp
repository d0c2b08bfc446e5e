// For readers that open files themselves: a folder in memory where there is one, gone with the process.
#pragma once

#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include <cstdint>
#include <cstdlib>

#include "tests/fuzz/promise.hpp"

namespace gradwatt::fuzz {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code ignored;
    const std::filesystem::path memory = "/dev/shm";
    const auto root = std::filesystem::is_directory(memory, ignored) ? memory : std::filesystem::temp_directory_path();
    auto name = (root / "gradwatt-fuzz-XXXXXX").string();
    require(::mkdtemp(name.data()) != nullptr, "a scratch folder can be made");
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Replaces the file; its path.
  [[nodiscard]] std::filesystem::path write(const std::string& name, std::span<const std::uint8_t> bytes) const {
    auto file = path_ / name;
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    require(static_cast<bool>(out.flush()), "a scratch file can be written");
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace gradwatt::fuzz

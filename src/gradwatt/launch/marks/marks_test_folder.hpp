// For this folder's tests: a private folder of rings, and GRADWATT_MARKS pointing at it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace gradwatt::launch::marks {

class MarksFolder {
 public:
  MarksFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gw-marks-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
    ::setenv("GRADWATT_MARKS", path_.c_str(), 1);
  }
  ~MarksFolder() {
    ::unsetenv("GRADWATT_MARKS");
    std::filesystem::remove_all(path_);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) found.push_back(entry.path());
    return found;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace gradwatt::launch::marks

// Compares a text with a file of tests/golden. GRADWATT_REGENERATE=1 writes the file instead; read the difference
// before committing it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace gradwatt::report::testing {

inline void expect_same_as_file(const std::string& text, const char* path_in_tree) {
  const auto path = std::filesystem::path(GRADWATT_SOURCE_DIR) / path_in_tree;
  if (std::getenv("GRADWATT_REGENERATE") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, expected) << "differs from " << path_in_tree
                            << "; if the new text is right: run this test program with GRADWATT_REGENERATE=1";
}

}  // namespace gradwatt::report::testing

// Starts the built program for tests in a world of its own: working folder, home and run store.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "gradwatt/record/store.hpp"

namespace gradwatt {

struct Outcome {
  int status = -1;  ///< exit status
  std::string out, err;
};

[[nodiscard]] inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() : folder_(std::filesystem::temp_directory_path() / ("gradwatt-test-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_ / "work");
  }
  ~ProgramTest() override { std::filesystem::remove_all(folder_); }

  /// `arguments` and `environment` ("NAME=value …") as typed at a shell.
  [[nodiscard]] Outcome gradwatt(const std::string& arguments, const std::string& environment = "") const {
    const auto command = "cd '" + (folder_ / "work").string() + "' && env -i PATH=\"$PATH\" HOME='" + folder_.string() +
                         "' GRADWATT_RUNS='" + store().string() + "' " + environment +
                         " '" GRADWATT_BINARY_DIR "/bin/gradwatt' " + arguments + " >../out 2>../err </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(folder_ / "out"), content_of(folder_ / "err")};
  }
  [[nodiscard]] std::filesystem::path store() const { return folder_ / "runs"; }
  void keep(const std::string& id, const record::Run& run) const {
    std::filesystem::create_directories(store() / id);
    const auto saved = record::save(run, store() / id / "node1.db");
    ASSERT_TRUE(saved) << saved.error().message;
  }
  /// A file of the working folder.
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / "work" / name, std::ios::binary) << content;
  }
  std::filesystem::path folder_;
};

}  // namespace gradwatt

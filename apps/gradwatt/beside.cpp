#include "beside.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace gradwatt::app {

core::Result<std::string> find_beside(const std::string& program, const std::string& built_where) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  const auto path = self.parent_path() / program;
  if (!failed && ::access(path.c_str(), X_OK) == 0) return path.string();
  return core::fail(
      core::Errc::not_supported,
      fmt::format("{} is not there; it is built where {} installed (docs/building.md)", path.string(), built_where));
}

core::Result<int> become(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));  // NOLINT: execvp does not write
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  return core::fail(core::Errc::not_supported, fmt::format("cannot start {}: {}", words[0], std::strerror(errno)));
}

}  // namespace gradwatt::app

#include "measure/python_agent.hpp"

namespace gradwatt::app {

namespace fs = std::filesystem;

std::optional<fs::path> python_folder(const fs::path& program) {
  const auto folder = program.parent_path();
  for (const auto& candidate : {folder / "../share/gradwatt/python", folder / "../../../python"}) {
    std::error_code ignored;
    if (fs::exists(candidate / "gradwatt/agent/site/sitecustomize.py", ignored))
      return fs::weakly_canonical(candidate, ignored);
  }
  return std::nullopt;
}

std::vector<launch::EnvironmentChange> agent_environment(const std::optional<fs::path>& python,
                                                         const fs::path& marks_folder, bool agent) {
  using How = launch::EnvironmentChange::How;
  std::vector<launch::EnvironmentChange> changes;
  if (!marks_folder.empty()) changes.push_back({"GRADWATT_MARKS", marks_folder.string(), How::set});
  if (!python || !agent || marks_folder.empty()) return changes;
  changes.push_back({"PYTHONPATH", (*python / "gradwatt/agent/site").string(), How::prepend_path});
  return changes;
}

}  // namespace gradwatt::app

#include "replace_file.hpp"

#include <fmt/format.h>

#include <fstream>

namespace gradwatt::app {

core::Result<void> replace_file(const std::filesystem::path& file, std::string_view text) {
  const auto draft = file.parent_path() / ("." + file.filename().string() + ".new");
  {
    std::ofstream out(draft);
    out << text;
    if (!out.flush()) return core::fail(core::Errc::not_permitted, fmt::format("cannot write {}", draft.string()));
  }
  std::error_code error;
  std::filesystem::rename(draft, file, error);
  if (error) return core::fail(core::Errc::io, fmt::format("cannot write {}: {}", file.string(), error.message()));
  return {};
}

}  // namespace gradwatt::app

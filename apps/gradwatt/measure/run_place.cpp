#include "measure/run_place.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>

namespace gradwatt::app {
namespace {

namespace fs = std::filesystem;

/// The reason why no file can be made in `folder`, after trying to make the folder.
std::optional<std::string> make_writable(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder)) return error ? error.message() : "it is no folder";
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return std::error_code(errno, std::generic_category()).message();
  return std::nullopt;
}

fs::path record_file(const fs::path& folder, const std::string& host, int number) {
  return folder / (number == 1 ? host + ".db" : fmt::format("{}.{}.db", host, number));
}

/// The host's first record in the folder that does not exist yet.
fs::path free_record_file(const fs::path& folder, const std::string& host) {
  std::error_code ignored;
  int number = 1;
  while (fs::exists(record_file(folder, host, number), ignored)) ++number;
  return record_file(folder, host, number);
}

}  // namespace

core::Result<RunPlace> place_asked_for(const fs::path& folder, const std::string& host, bool again) {
  if (const auto reason = make_writable(folder))
    return core::fail(core::Errc::wrong_use,
                      fmt::format("run: cannot write the run record into {}: {}; name another folder with --out, or "
                                  "leave it out",
                                  folder.string(), *reason));
  auto file = again ? free_record_file(folder, host) : record_file(folder, host, 1);
  std::error_code ignored;
  if (fs::exists(file, ignored))
    return core::fail(core::Errc::wrong_use, fmt::format("run: {} holds a run record already; name another folder with "
                                                         "--out",
                                                         folder.string()));
  return RunPlace{folder, std::move(file), {}};
}

RunPlace place_by_default(const fs::path& store, const fs::path& temporary, const std::string& run_id,
                          const std::string& host) {
  const auto take = [&](const fs::path& root) -> std::optional<RunPlace> {
    const auto folder = root / run_id;
    if (root.empty() || make_writable(folder)) return std::nullopt;
    return RunPlace{folder, free_record_file(folder, host), {}};
  };
  if (auto place = take(store)) return *place;
  const auto why =
      store.empty() ? std::string("no home folder is known") : fmt::format("{} cannot be written", store.string());
  if (auto place = take(temporary / "gradwatt-runs")) {
    place->note = fmt::format("{}; the run is kept in {}", why, place->folder.string());
    return *place;
  }
  return {{}, {}, why + " and neither can the temporary folder; the run is measured but not kept"};
}

}  // namespace gradwatt::app

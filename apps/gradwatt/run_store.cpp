#include "run_store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <fstream>

#include "gradwatt/core/text.hpp"
#include "replace_file.hpp"

namespace gradwatt::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNameFile = "name";
constexpr std::size_t kLongestName = 64;
constexpr std::size_t kShownCandidates = 5;
/// A recorder commits at least every two seconds; a record that was written to within this is taken to be in use.
constexpr auto kInUse = std::chrono::seconds(5);

/// When a record in the folder was last written to; nothing when it holds none.
std::optional<fs::file_time_type> last_written(const fs::path& folder) {
  std::optional<fs::file_time_type> latest;
  std::error_code error;
  bool has_record = false;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const auto name = entry.path().filename().string();
    has_record = has_record || name.ends_with(".db");
    if (!name.ends_with(".db") && !name.ends_with(".db-wal")) continue;
    const auto written = entry.last_write_time(error);
    if (!error && (!latest || written > *latest)) latest = written;
  }
  return has_record ? latest : std::nullopt;
}

bool has_log(const fs::path& folder) {
  std::error_code error;
  return std::ranges::any_of(fs::directory_iterator(folder, error),
                             [](const auto& entry) { return entry.path().string().ends_with(".db-wal"); });
}

core::Result<RunStore::Entry> pick(const std::vector<RunStore::Entry>& matches, std::string_view text) {
  if (matches.size() == 1) return matches.front();
  std::vector<std::string> ids;
  for (const auto& entry : matches) ids.push_back(entry.id);
  const bool more = ids.size() > kShownCandidates;
  ids.resize(std::min(ids.size(), kShownCandidates));
  return core::fail(core::Errc::unusable_input, fmt::format("'{}' fits {} runs: {}{}; type more of it", text,
                                                            matches.size(), fmt::join(ids, ", "), more ? ", …" : ""));
}

core::Error no_such_run(const std::vector<RunStore::Entry>& all, std::string_view text, const fs::path& root) {
  if (all.empty())
    return {core::Errc::not_found,
            fmt::format("{}{} holds no runs yet; `gradwatt run -- CMD` makes one",
                        text == "last" ? "" : fmt::format("there is no run or file '{}', and ", text), root.string())};
  std::vector<std::string_view> words;
  for (const auto& entry : all) {
    words.push_back(entry.id);
    if (entry.name) words.push_back(*entry.name);
  }
  const auto near = core::nearest(text, words);
  return {core::Errc::not_found,
          fmt::format("there is no run or file '{}'{}; `gradwatt runs list` shows all {} (the latest is {})", text,
                      near ? fmt::format(", did you mean '{}'?", *near) : "", all.size(), all.front().id)};
}

}  // namespace

std::optional<std::string> name_in(const fs::path& run_folder) {
  std::ifstream file(run_folder / kNameFile);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const std::string name(core::trim(line));
  return check_name(name) ? std::optional(name) : std::nullopt;
}

core::Result<void> check_name(std::string_view name) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const bool fits =
      !name.empty() && name.size() <= kLongestName && is_letter(name.front()) && std::ranges::all_of(name, [&](char c) {
        return static_cast<unsigned char>(c) < 0x80 && (is_letter(c) || c == '.' || c == '_' || c == '-');
      });
  if (fits && name != "last") return {};
  return core::fail(core::Errc::wrong_use,
                    fmt::format("'{}' cannot be a run's name: use up to {} letters, digits, '.', '_' and '-', "
                                "beginning with a letter or digit, and not 'last'",
                                name, kLongestName));
}

std::vector<RunStore::Entry> RunStore::entries() const {
  std::vector<Entry> found;
  std::error_code error;
  for (const auto& folder : fs::directory_iterator(root_, error)) {
    // A link could lead out of the store, and removal must not follow it.
    if (folder.is_symlink(error) || !folder.is_directory(error)) continue;
    if (const auto written = last_written(folder.path()))
      found.push_back({folder.path(), folder.path().filename().string(), name_in(folder.path()), *written});
  }
  std::ranges::sort(found, [](const Entry& a, const Entry& b) {
    return a.written != b.written ? a.written > b.written : a.id > b.id;
  });
  return found;
}

core::Result<RunStore::Entry> RunStore::find(std::string_view text) const {
  const auto all = entries();
  if (text == "last") {
    if (!all.empty()) return all.front();
    return core::fail(no_such_run(all, text, root_));
  }
  const auto with = [&](auto fits) {
    std::vector<Entry> matches;
    std::ranges::copy_if(all, std::back_inserter(matches),
                         [&](const Entry& e) { return fits(std::string_view(e.id)) || (e.name && fits(*e.name)); });
    return matches;
  };
  if (const auto exact = with([&](std::string_view word) { return word == text; }); !exact.empty())
    return pick(exact, text);
  if (!text.empty())
    if (const auto begun = with([&](std::string_view word) { return word.starts_with(text); }); !begun.empty())
      return pick(begun, text);
  return core::fail(no_such_run(all, text, root_));
}

core::Result<void> RunStore::set_name(const Entry& entry, std::string_view name) const {
  if (auto valid = check_name(name); !valid) return valid;
  for (const auto& other : entries())
    if (other.folder != entry.folder && (other.id == name || other.name == name))
      return core::fail(core::Errc::wrong_use, fmt::format("'{}' already names the run {}", name, other.id));
  return replace_file(entry.folder / kNameFile, std::string(name) + '\n');
}

core::Result<void> RunStore::remove(const Entry& entry) const {
  const auto written = last_written(entry.folder);
  if (written && has_log(entry.folder) && fs::file_time_type::clock::now() - *written < kInUse)
    return core::fail(core::Errc::wrong_use,
                      fmt::format("the run {} is still being recorded; try again when it has ended", entry.id));
  std::error_code error;
  fs::remove_all(entry.folder, error);
  if (error)
    return core::fail(core::Errc::not_permitted,
                      fmt::format("cannot remove {}: {}", entry.folder.string(), error.message()));
  return {};
}

}  // namespace gradwatt::app

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "gradwatt/record/reader.hpp"
#include "gradwatt/record/store.hpp"

namespace gradwatt::record {
namespace {

namespace fs = std::filesystem;

/// A private folder that goes away with the object.
class TemporaryFolder {
 public:
  static core::Result<TemporaryFolder> make() {
    std::error_code error;
    auto pattern = (fs::temp_directory_path(error) / "gradwatt-read-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      return core::fail(core::Errc::io, "cannot make a temporary folder " + pattern + "; set TMPDIR to a writable place");
    return TemporaryFolder(pattern);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

/// The two salts in the header of a write-ahead log: they change when the log begins anew after a checkpoint.
std::array<char, 8> salts(const fs::path& wal) {
  std::array<char, 8> bytes{};
  std::ifstream file(wal, std::ios::binary);
  file.seekg(16);
  file.read(bytes.data(), bytes.size());
  return bytes;
}

core::Result<void> copy_one(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (!error) return {};
  const auto kind = error == std::errc::permission_denied ? core::Errc::not_permitted : core::Errc::io;
  return core::fail(kind, fmt::format("cannot copy {} for reading: {}", from.string(), error.message()));
}

/// A consistent copy of a file that a writer may hold or that was left behind with its log.
core::Result<void> copy_with_log(const fs::path& file, const fs::path& to) {
  const fs::path wal = file.string() + "-wal";
  for (int attempt = 0; attempt < 20; ++attempt) {
    const auto before = salts(wal);
    if (const auto done = copy_one(file, to); !done) return done;
    std::error_code ignored;
    if (!fs::exists(wal, ignored)) return {};  // closed meanwhile: the file alone is whole
    if (auto done = copy_one(wal, to.string() + "-wal"); !done) continue;
    if (salts(wal) == before) return {};
  }
  return core::fail(core::Errc::io, fmt::format("{} changes too fast to be copied; try again", file.string()));
}

core::Result<Run> read_named(const std::string& name, int flags, const fs::path& shown, const LoadOptions& options) {
  const auto open = [&] {
    auto database = sqlite::Database::open(name, flags);
    if (database) database->execute("PRAGMA mmap_size=1073741824;");
    return database;
  };
  auto database = open();
  if (!database) return core::fail(database.error());
  // A copy with a log beside it is recovered by its first connection; others would wait for that one's locks.
  const bool immutable = (flags & SQLITE_OPEN_READONLY) != 0;
  auto run = read_database(*database, options, immutable ? Reopen(open) : Reopen());
  if (!run) return core::fail(run.error().code, fmt::format("{}: {}", shown.string(), run.error().message));
  return run;
}

/// '?' and '#' end the path part of a URI.
std::string uri_of(const fs::path& file) {
  std::string uri = "file:";
  for (const char c : fs::absolute(file).string())
    uri += c == '?' ? "%3f" : c == '#' ? "%23" : c == '%' ? "%25" : std::string(1, c);
  return uri + "?immutable=1";
}

core::Result<void> check_file(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return core::fail(core::Errc::not_found, fmt::format("{} does not exist", file.string()));
  std::ifstream in(file, std::ios::binary);
  if (!in) return core::fail(core::Errc::not_permitted, fmt::format("{} cannot be read", file.string()));
  std::array<char, 15> magic{};
  in.read(magic.data(), magic.size());
  if (std::string_view(magic.data(), magic.size()) != "SQLite format 3")
    return core::fail(core::Errc::unusable_input, fmt::format("{} is not a run record", file.string()));
  return {};
}

std::vector<fs::path> record_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".db") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// How far the other host's monotonic clock must be moved to be this run's, by the wall clocks of both anchors.
std::int64_t clock_shift(const Run& base, const Run& other) {
  const auto offset = [](const Run& run) {
    return run.number_of(meta::kAnchorWall).value_or(0) - run.number_of(meta::kAnchorMonotonic).value_or(0);
  };
  return offset(other) - offset(base);
}

void merge_meta(const Run& other, std::int64_t shift, Run& run) {
  const auto merge_time = [&](std::string_view key, auto pick) {
    const auto theirs = other.number_of(key);
    if (!theirs) return;
    const auto ours = run.number_of(key);
    run.set(key, ours ? pick(*ours, *theirs + shift) : *theirs + shift);
  };
  merge_time(meta::kJobBegin, [](auto a, auto b) { return std::min(a, b); });
  merge_time(meta::kJobEnd, [](auto a, auto b) { return std::max(a, b); });
  const auto status = other.number_of(meta::kExitStatus);
  if (status && run.number_of(meta::kExitStatus).value_or(0) == 0) run.set(meta::kExitStatus, *status);
  if (!other.complete()) run.set(meta::kComplete, std::string("0"));
  if (!other.number_of(meta::kJobEnd)) run.meta.erase(std::string(meta::kJobEnd));
  if (const auto host = other.text(meta::kHost); host && host != run.text(meta::kHost))
    run.set(meta::kHost, fmt::format("{},{}", run.text(meta::kHost).value_or(""), *host));
}

void merge(Run other, Run& run) {
  const auto shift = clock_shift(run, other);
  const auto first = static_cast<std::uint32_t>(run.devices.size());
  const auto renumber = [&](DeviceIndex i) { return static_cast<DeviceIndex>(number(i) + first); };
  merge_meta(other, shift, run);
  std::ranges::move(other.devices, std::back_inserter(run.devices));
  for (auto& s : other.series) {
    s.device = renumber(s.device);
    for (auto& t : s.time_ns) t += shift;
    run.series.push_back(std::move(s));
  }
  for (auto& q : other.quality) {
    q.device = renumber(q.device);
    q.phase_ns += shift;
    run.quality.push_back(std::move(q));
  }
  for (auto& m : other.marks) {
    m.begin_ns += shift, m.end_ns += shift;
    run.marks.push_back(std::move(m));
  }
  for (auto& e : other.events) {
    e.time_ns += shift;
    if (e.device) *e.device += first;
    run.events.push_back(std::move(e));
  }
  for (auto& f : other.facts) {
    if (f.time_ns) *f.time_ns += shift;
    run.facts.push_back(std::move(f));
  }
  for (auto& s : other.spans) {
    s.begin_ns += shift, s.end_ns += shift;
    run.spans.push_back(std::move(s));
  }
}

}  // namespace

core::Result<Run> load_file(const fs::path& file, const LoadOptions& options) {
  if (auto usable = check_file(file); !usable) return core::fail(usable.error());
  std::error_code ignored;
  if (!fs::exists(file.string() + "-wal", ignored))
    return read_named(uri_of(file), SQLITE_OPEN_READONLY, file, options);
  auto folder = TemporaryFolder::make();
  if (!folder) return core::fail(folder.error());
  const auto copied = folder->path() / "record.db";
  if (auto done = copy_with_log(file, copied); !done) return core::fail(done.error());
  return read_named(copied.string(), SQLITE_OPEN_READWRITE, file, options);
}

core::Result<Run> load_folder(const fs::path& folder, const LoadOptions& options) {
  std::error_code ignored;
  if (!fs::exists(folder, ignored))
    return core::fail(core::Errc::not_found, fmt::format("there is no run folder {}", folder.string()));
  const auto files = record_files(folder);
  if (files.empty())
    return core::fail(core::Errc::unusable_input, fmt::format("{} holds no run record (*.db)", folder.string()));
  auto run = load_file(files.front(), options);
  if (!run) return run;
  for (std::size_t i = 1; i < files.size(); ++i) {
    auto other = load_file(files[i], options);
    if (!other) return other;
    merge(std::move(*other), *run);
  }
  return run;
}

core::Result<Run> load_head(const fs::path& folder_or_file) {
  const LoadOptions head{std::vector<MetricId>{}, false, false, false};
  std::error_code ignored;
  return fs::is_directory(folder_or_file, ignored) ? load_folder(folder_or_file, head) : load_file(folder_or_file, head);
}

}  // namespace gradwatt::record

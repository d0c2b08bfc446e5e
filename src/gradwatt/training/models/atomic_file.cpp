#include "gradwatt/training/models/atomic_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "gradwatt/core/file_tree.hpp"

namespace gradwatt::training {
namespace {

using core::fail;
using core::file_error;
using core::Result;

/// One write(2) takes at most about 2 GiB.
constexpr std::size_t kLargestWrite = std::size_t{1} << 30;

/// The rename itself must survive a power cut; file systems that cannot do it for folders say EINVAL.
Result<void> sync_folder_of(const std::filesystem::path& path) {
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return fail(file_error("open", folder, errno));
  const int error = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
  ::close(descriptor);
  if (error != 0) return fail(file_error("make durable", folder, error));
  return {};
}

}  // namespace

Result<AtomicFile> AtomicFile::create(std::filesystem::path path) {
  // Ranks of one job may share the folder; a left-over of a dead process must not stand in the way.
  for (int attempt = 0;; ++attempt) {
    auto temporary = path;
    temporary += ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return AtomicFile(descriptor, std::move(path), std::move(temporary));
    if (errno != EEXIST || attempt == 100) return fail(file_error("create", temporary, errno));
  }
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})) {}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<void> AtomicFile::write(const void* data, std::size_t bytes) {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const auto written = ::write(descriptor_, from, std::min(bytes, kLargestWrite));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(file_error("write", temporary_, errno));
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return {};
}

Result<void> AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) return fail(file_error("write", temporary_, errno));
  if (::close(std::exchange(descriptor_, -1)) != 0) return fail(file_error("write", temporary_, errno));
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return fail(file_error("replace", path_, errno));
  temporary_.clear();
  return sync_folder_of(path_);
}

}  // namespace gradwatt::training

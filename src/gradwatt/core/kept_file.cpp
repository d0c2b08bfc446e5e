#include "gradwatt/core/kept_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace gradwatt::core {

KeptFile::KeptFile(KeptFile&& other) noexcept : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}

KeptFile& KeptFile::operator=(KeptFile&& other) noexcept {
  if (this == &other) return *this;
  close();
  path_ = std::move(other.path_);
  file_ = std::exchange(other.file_, -1);
  return *this;
}

void KeptFile::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

int KeptFile::try_read(std::string& buffer) {
  constexpr std::size_t kFirstSize = 4096;
  struct stat about {};
  // The kernel's own files fail when their object is gone; a removed plain file would be read as if it were there.
  if (::fstat(file_, &about) == 0 && about.st_nlink == 0) return ENOENT;
  if (buffer.size() < kFirstSize) buffer.resize(kFirstSize);
  std::size_t filled = 0;
  while (true) {
    if (filled == buffer.size()) buffer.resize(2 * buffer.size());
    const auto got = ::pread(file_, buffer.data() + filled, buffer.size() - filled, static_cast<off_t>(filled));
    if (got < 0) return errno;
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  buffer.resize(filled);
  return 0;
}

Result<std::string_view> KeptFile::read(std::string& buffer) {
  int error = EBADF;
  if (file_ >= 0) error = try_read(buffer);
  if (error != 0) {
    close();
    file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file_ < 0) return fail(file_error("open", path_, errno));
    error = try_read(buffer);
  }
  if (error != 0) return fail(file_error("read", path_, error));
  const std::string_view text = buffer;
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

}  // namespace gradwatt::core

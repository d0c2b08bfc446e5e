#include "gradwatt/launch/marks/file_handle.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gradwatt::launch::marks {
namespace {

core::Errc kind_of(int error) {
  if (error == ENOENT) return core::Errc::not_found;
  return error == EACCES || error == EPERM ? core::Errc::not_permitted : core::Errc::io;
}

}  // namespace

core::Result<FileHandle> FileHandle::open(const std::filesystem::path& path) {
  int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  const bool writable = fd >= 0;
  if (!writable) fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) {
    const int error = errno;
    return core::fail(kind_of(error), fmt::format("cannot open {}: {}", path.string(), std::strerror(error)));
  }
  return FileHandle(fd, writable);
}

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(writable_, other.writable_);
  return *this;
}

FileHandle::~FileHandle() {
  if (fd_ >= 0) ::close(fd_);
}

std::uint64_t FileHandle::size() const {
  struct stat status {};
  return ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
}

bool FileHandle::read(void* into, std::size_t bytes, std::uint64_t offset) const {
  ssize_t got = 0;
  do {
    got = ::pread(fd_, into, bytes, static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(bytes);
}

bool FileHandle::write(const void* from, std::size_t bytes, std::uint64_t offset) const {
  ssize_t done = 0;
  do {
    done = ::pwrite(fd_, from, bytes, static_cast<off_t>(offset));
  } while (done < 0 && errno == EINTR);
  return done == static_cast<ssize_t>(bytes);
}

}  // namespace gradwatt::launch::marks

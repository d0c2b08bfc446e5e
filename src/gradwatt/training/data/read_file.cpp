#include "gradwatt/training/data/read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "gradwatt/core/file_tree.hpp"

namespace gradwatt::training {
namespace {

class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

core::Result<void> read_file(const std::filesystem::path& path, std::vector<std::uint8_t>& content) {
  const Descriptor file(path);
  if (file.number() < 0) return core::fail(core::file_error("open", path, errno));
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) return core::fail(core::file_error("read", path, errno));
  content.resize(static_cast<std::size_t>(status.st_size));
  std::size_t have = 0;
  while (have < content.size()) {
    const auto got = ::read(file.number(), content.data() + have, content.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return core::fail(core::file_error("read", path, errno));
    if (got == 0) break;  // it has become shorter
    have += static_cast<std::size_t>(got);
  }
  content.resize(have);
  return {};
}

}  // namespace gradwatt::training

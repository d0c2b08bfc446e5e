#include "gradwatt/training/models/safetensors.hpp"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <optional>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/training/models/atomic_file.hpp"
#include "gradwatt/training/models/safetensors_header.hpp"

namespace gradwatt::training {
namespace {

using core::Errc;
using core::fail;
using core::Result;

static_assert(std::endian::native == std::endian::little, "data are stored as they lie in memory: little endian");

constexpr std::array<std::pair<StoredType, at::ScalarType>, 8> kTorchTypes{{
    {StoredType::f64, at::kDouble},
    {StoredType::f32, at::kFloat},
    {StoredType::f16, at::kHalf},
    {StoredType::bf16, at::kBFloat16},
    {StoredType::i64, at::kLong},
    {StoredType::i32, at::kInt},
    {StoredType::u8, at::kByte},
    {StoredType::boolean, at::kBool},
}};

at::ScalarType torch_type(StoredType type) {
  return std::ranges::find(kTorchTypes, type, [](const auto& row) { return row.first; })->second;
}

std::optional<StoredType> stored_type(at::ScalarType type) {
  const auto row = std::ranges::find(kTorchTypes, type, [](const auto& entry) { return entry.second; });
  if (row == kTorchTypes.end()) return std::nullopt;
  return row->first;
}

/// Wide types first: every tensor then begins at a multiple of its element's size, as readers that map files expect.
std::vector<StoredTensor> lay_out(const NamedTensors& tensors, std::vector<const torch::Tensor*>& order) {
  std::vector<StoredTensor> stored;
  std::uint64_t filled = 0;
  for (const std::uint64_t width : {8, 4, 2, 1})
    for (const auto& [name, tensor] : tensors) {
      const auto type = stored_type(tensor.scalar_type());
      if (!type || bytes_of(*type) != width) continue;
      const auto end = filled + width * static_cast<std::uint64_t>(tensor.numel());
      stored.push_back({name, *type, tensor.sizes().vec(), filled, end});
      order.push_back(&tensor);
      filled = end;
    }
  return stored;
}

/// Holds a descriptor that is only read.
class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int descriptor() const { return descriptor_; }

  /// False with errno when the bytes are not all there (errno 0: the file ended).
  [[nodiscard]] bool read(void* into, std::uint64_t bytes) const {
    constexpr std::uint64_t kLargestRead = 1U << 30;
    auto* to = static_cast<char*>(into);
    while (bytes > 0) {
      errno = 0;
      const auto got = ::read(descriptor_, to, std::min(bytes, kLargestRead));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      to += got;
      bytes -= static_cast<std::uint64_t>(got);
    }
    return true;
  }

 private:
  int descriptor_;
};

core::Error unusable(const std::filesystem::path& path, std::string_view why) {
  return {Errc::unusable_input,
          fmt::format("{} is not a usable safetensors file: {}; get or save it again.", path.string(), why)};
}

core::Error read_error(const std::filesystem::path& path) {
  const int error = errno;
  return error == 0 ? unusable(path, "it became shorter while it was read") : core::file_error("read", path, error);
}

Result<std::uint64_t> size_of(const OpenFile& file, const std::filesystem::path& path) {
  struct stat status {};
  if (file.descriptor() < 0 || ::fstat(file.descriptor(), &status) != 0)
    return fail(core::file_error("open", path, errno));
  if (!S_ISREG(status.st_mode)) return fail(unusable(path, "it is no ordinary file"));
  return static_cast<std::uint64_t>(status.st_size);
}

Result<SafetensorsHeader> read_header(const OpenFile& file, const std::filesystem::path& path) {
  const auto size = size_of(file, path);
  if (!size) return fail(size.error());
  std::uint64_t length = 0;
  if (*size < sizeof length) return fail(unusable(path, fmt::format("it has only {} bytes", *size)));
  if (!file.read(&length, sizeof length)) return fail(read_error(path));
  const auto rest = *size - sizeof length;
  if (length > rest || length > kLargestSafetensorsHeader)
    return fail(unusable(path, fmt::format("its header should have {} bytes, {} bytes follow", length, rest)));
  std::string text(length, '\0');
  if (!file.read(text.data(), length)) return fail(read_error(path));
  auto header = parse_safetensors_header(text, rest - length);
  if (!header) return fail(unusable(path, header.error().message));
  return header;
}

}  // namespace

Result<void> save_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                              const Metadata& metadata) {
  const auto refuse = [&](std::string_view why) {
    return fail(Errc::wrong_use, fmt::format("Cannot save {}: {}.", path.string(), why));
  };
  for (const auto& [name, tensor] : tensors)
    if (!tensor.defined() || !stored_type(tensor.scalar_type()))
      return refuse(fmt::format("tensor \"{}\" is {}", name,
                                tensor.defined() ? "of a type that the format does not know" : "undefined"));
  std::vector<const torch::Tensor*> order;
  const auto header = write_safetensors_header({lay_out(tensors, order), metadata});
  if (!header) return refuse(header.error().message);
  auto file = AtomicFile::create(path);
  if (!file) return fail(file.error());
  const std::uint64_t length = header->size();
  auto done = file->write(&length, sizeof length);
  if (done) done = file->write(header->data(), header->size());
  for (const auto* tensor : order) {
    if (!done) break;
    const auto plain = tensor->detach().to(at::kCPU).contiguous();
    done = file->write(plain.data_ptr(), plain.nbytes());
  }
  return done ? file->commit() : done;
}

Result<LoadedTensors> load_safetensors(const std::filesystem::path& path) {
  const OpenFile file(path);
  auto header = read_header(file, path);
  if (!header) return fail(header.error());
  LoadedTensors loaded{{}, std::move(header->metadata)};
  for (const auto& stored : header->tensors) {
    try {
      auto tensor = at::empty(stored.shape, torch_type(stored.type));
      if (!file.read(tensor.data_ptr(), stored.bytes())) return fail(read_error(path));
      loaded.tensors.emplace_back(stored.name, std::move(tensor));
    } catch (const std::exception&) {  // c10::Error: more than the memory holds, or sizes beside a 0 that overflow
      return fail(unusable(path, fmt::format("tensor \"{}\" does not fit into memory", stored.name)));
    }
  }
  return loaded;
}

}  // namespace gradwatt::training

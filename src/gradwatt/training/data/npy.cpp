#include "gradwatt/training/data/npy.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"
#include "gradwatt/training/data/read_file.hpp"

namespace gradwatt::training {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// What stands behind 'key': in the header's dictionary, up to `stop`.
std::string_view value_of(std::string_view header, std::string_view key, char stop) {
  const auto at = header.find(key);
  if (at == std::string_view::npos) return {};
  const auto rest = core::trim(header.substr(at + key.size()));
  return rest.substr(0, rest.find(stop) + 1);
}

bool parse_shape(std::string_view text, std::vector<std::size_t>& shape) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return false;
  for (const auto piece : core::split(text.substr(1, text.size() - 2), ',')) {
    if (core::trim(piece).empty()) continue;
    const auto length = core::parse_int(piece);
    if (!length || *length < 0 || *length > (std::int64_t{1} << 40)) return false;
    shape.push_back(static_cast<std::size_t>(*length));
  }
  return shape.size() <= 8;
}

template <class T>
void copy_values(const std::uint8_t* bytes, std::vector<double>& values) {
  for (auto& value : values) {
    T number;
    std::memcpy(&number, bytes, sizeof number);
    value = static_cast<double>(number);
    bytes += sizeof number;
  }
}

}  // namespace

core::Result<NpyArray> read_npy(const std::filesystem::path& path) {
  std::vector<std::uint8_t> file;
  if (auto read = read_file(path, file); !read) return core::fail(std::move(read.error()));
  const auto unusable = [&](std::string_view why) {
    return core::fail(core::Errc::unusable_input, fmt::format("{} {}", path.string(), why));
  };
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.size() < 12 || !text.starts_with(kMagic)) return unusable("is no .npy file");
  // Version 1 has two bytes of header length, later ones four.
  const std::size_t length_bytes = file[6] == 1 ? 2 : 4;
  std::size_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length * 256 + file[8 + i];
  const auto begin = 8 + length_bytes + length;
  if (begin > text.size()) return unusable("ends within its header");
  const auto header = text.substr(8 + length_bytes, length);
  NpyArray array;
  if (!parse_shape(value_of(header, "'shape':", ')'), array.shape)) return unusable("has a shape that cannot be read");
  if (value_of(header, "'fortran_order':", ',') != "False,")
    return unusable("is stored column by column: save it in C order");
  const auto type = value_of(header, "'descr':", ',');
  const std::size_t item = type == "'<f4'," ? 4 : type == "'<f8'," ? 8 : 0;
  if (item == 0) return unusable(fmt::format("holds {} and not float32 or float64", type));
  std::size_t count = 1;
  for (const auto n : array.shape) {
    if (n != 0 && count > file.size() / n) return unusable("ends too early");
    count *= n;
  }
  if (file.size() - begin < count * item) return unusable("ends too early");
  array.values.resize(count);
  item == 4 ? copy_values<float>(file.data() + begin, array.values)
            : copy_values<double>(file.data() + begin, array.values);
  return array;
}

}  // namespace gradwatt::training

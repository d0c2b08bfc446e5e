#include "gradwatt/core/file_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

#include "gradwatt/core/text.hpp"

namespace gradwatt::core {
namespace {

template <class T>
std::optional<T> parse_whole(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

}  // namespace

Error file_error(std::string_view action, const std::filesystem::path& path, int error) {
  auto code = Errc::io;
  if (error == ENOENT || error == ENOTDIR || error == ENODEV) code = Errc::not_found;
  if (error == EACCES || error == EPERM) code = Errc::not_permitted;
  return {code, fmt::format("cannot {} {}: {}", action, path.string(), std::strerror(error))};
}

bool FileTree::exists(std::string_view relative) const {
  std::error_code ignored;
  return std::filesystem::exists(path(relative), ignored);
}

Result<std::string> FileTree::read(std::string_view relative) const {
  const auto full = path(relative);
  const int file = ::open(full.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (file < 0) return fail(file_error("open", full, errno));
  std::string content;
  std::array<char, 4096> block{};
  ssize_t got = 0;
  while ((got = ::read(file, block.data(), block.size())) > 0) content.append(block.data(), static_cast<size_t>(got));
  const int error = errno;
  ::close(file);
  if (got < 0) return fail(file_error("read", full, error));
  while (!content.empty() && std::strchr(" \t\r\n", content.back()) != nullptr) content.pop_back();
  return content;
}

Result<std::int64_t> FileTree::read_int(std::string_view relative) const {
  const auto text = read(relative);
  if (!text) return fail(text.error());
  if (const auto value = parse_int(*text)) return *value;
  return fail(Errc::unusable_input,
              fmt::format("{} holds '{}', not a whole number", path(relative).string(), text->substr(0, 40)));
}

std::vector<std::string> FileTree::list(std::string_view relative) const {
  std::vector<std::string> names;
  DIR* folder = ::opendir(path(relative).c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(folder);
  std::ranges::sort(names);
  return names;
}

std::optional<std::int64_t> parse_int(std::string_view text) { return parse_whole<std::int64_t>(text); }

std::optional<double> parse_number(std::string_view text) {
  const auto value = parse_whole<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace gradwatt::core

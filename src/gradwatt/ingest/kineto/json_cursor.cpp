#include "gradwatt/ingest/kineto/json_cursor.hpp"

namespace gradwatt::ingest::kineto {

std::string_view JsonCursor::string() {
  if (!take('"')) return fail();
  const char* const begin = at_;
  for (const char* search = begin;;) {
    const auto* quote = static_cast<const char*>(std::memchr(search, '"', static_cast<std::size_t>(end_ - search)));
    if (quote == nullptr) return fail();
    const char* escape = quote;
    while (escape != begin && escape[-1] == '\\') --escape;
    search = at_ = quote + 1;
    if ((quote - escape) % 2 == 0) return {begin, static_cast<std::size_t>(quote - begin)};
  }
}

std::string_view JsonCursor::nested() {
  const char* const begin = at_;
  std::size_t depth = 0;
  while (at_ != end_) {
    const char c = *at_;
    if (c == '"') {
      string();
      continue;
    }
    ++at_;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return {begin, static_cast<std::size_t>(at_ - begin)};
  }
  return fail();
}

std::string_view JsonCursor::word() {
  const char* const begin = at_;
  const auto goes_on = [](char c) {
    return c != ',' && c != '}' && c != ']' && c != ' ' && c != '\n' && c != '\t' && c != '\r' && c != '"' && c != ':';
  };
  while (at_ != end_ && goes_on(*at_)) ++at_;
  if (at_ == begin) return fail();
  return {begin, static_cast<std::size_t>(at_ - begin)};
}

}  // namespace gradwatt::ingest::kineto

#include "gradwatt/record/sqlite.hpp"

#include <fmt/format.h>

namespace gradwatt::record::sqlite {

core::Result<Database> Database::open(const std::string& name, int flags, const char* vfs) {
  sqlite3* handle = nullptr;
  // Each connection stays on one thread at a time, so SQLite's own mutexes are left out.
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, vfs);
  Database database(handle);
  if (code != SQLITE_OK) {
    const auto kind = code == SQLITE_CANTOPEN ? core::Errc::not_found : core::Errc::io;
    return core::fail(kind, fmt::format("cannot open {}: {}", name,
                                        handle != nullptr ? database.message() : sqlite3_errstr(code)));
  }
  return database;
}

core::Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* handle = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &handle, nullptr) != SQLITE_OK)
    return core::fail(core::Errc::unusable_input, message());
  return Statement(handle);
}

}  // namespace gradwatt::record::sqlite

// Thin owners of SQLite's handles; private to this folder.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gradwatt/core/result.hpp"

namespace gradwatt::record::sqlite {

class Database;

/// A prepared statement. Columns and parameters are numbered from 0.
class Statement {
 public:
  void bind(int parameter, std::int64_t value) { sqlite3_bind_int64(handle_.get(), parameter + 1, value); }
  void bind(int parameter, double value) { sqlite3_bind_double(handle_.get(), parameter + 1, value); }
  void bind(int parameter, std::string_view text) {
    sqlite3_bind_text(handle_.get(), parameter + 1, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  void bind_null(int parameter) { sqlite3_bind_null(handle_.get(), parameter + 1); }
  template <class T>
  void bind(int parameter, const std::optional<T>& value) {
    value ? bind(parameter, *value) : bind_null(parameter);
  }
  void bind(int parameter, std::uint64_t value) { bind(parameter, static_cast<std::int64_t>(value)); }
  /// Runs a statement without result and makes it ready for the next; the SQLite code.
  int run() {
    const int code = sqlite3_step(handle_.get());
    sqlite3_reset(handle_.get());
    return code == SQLITE_DONE || code == SQLITE_ROW ? SQLITE_OK : code;
  }
  /// True for each row. False at the end and on an error, which `error()` then tells.
  bool next() {
    code_ = sqlite3_step(handle_.get());
    return code_ == SQLITE_ROW;
  }
  [[nodiscard]] bool failed() const { return code_ != SQLITE_ROW && code_ != SQLITE_DONE; }
  [[nodiscard]] bool is_null(int column) const { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }
  [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  [[nodiscard]] std::int64_t integer_or(int column, std::int64_t missing) const {
    auto* value = sqlite3_column_value(handle_.get(), column);
    return sqlite3_value_type(value) == SQLITE_NULL ? missing : sqlite3_value_int64(value);
  }
  [[nodiscard]] double real(int column) const { return sqlite3_column_double(handle_.get(), column); }
  [[nodiscard]] bool is_real(int column) const { return sqlite3_column_type(handle_.get(), column) != SQLITE_TEXT; }
  [[nodiscard]] std::string text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
    return bytes == nullptr ? std::string{} : std::string(bytes, sqlite3_column_bytes(handle_.get(), column));
  }
  [[nodiscard]] std::optional<std::int64_t> maybe_integer(int column) const {
    return is_null(column) ? std::nullopt : std::optional(integer(column));
  }
  [[nodiscard]] std::optional<double> maybe_real(int column) const {
    return is_null(column) ? std::nullopt : std::optional(real(column));
  }

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
  };
  explicit Statement(sqlite3_stmt* handle) : handle_(handle) {}
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  int code_ = SQLITE_DONE;
};

class Database {
 public:
  /// `vfs` null: the default one. The message of an error names `name`.
  static core::Result<Database> open(const std::string& name, int flags, const char* vfs = nullptr);
  /// SQLite's code; the text of the last error is message().
  int execute(const std::string& sql) { return sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr); }
  core::Result<Statement> prepare(std::string_view sql);
  [[nodiscard]] std::string message() const { return sqlite3_errmsg(handle_.get()); }
  [[nodiscard]] int extended_code() const { return sqlite3_extended_errcode(handle_.get()); }
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  explicit Database(sqlite3* handle) : handle_(handle) {}
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace gradwatt::record::sqlite

// Turns items into rows of an open database: prepared statements, and the sample tables that grow by a column when a
// new series is announced. Private to this folder; used by one thread.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "gradwatt/record/item.hpp"
#include "gradwatt/record/sqlite.hpp"

namespace gradwatt::record {

class Inserter {
 public:
  /// Creates the tables of an empty database.
  static core::Result<Inserter> create(sqlite::Database& database);
  /// SQLite's code: SQLITE_OK or the reason.
  int insert(const Item& item);
  /// Forget statements and known columns: after a rollback the tables may lack columns that were added in it.
  int reload();

 private:
  explicit Inserter(sqlite::Database& database) : database_(&database) {}
  struct SampleTable {
    bool exists = false;
    std::vector<bool> has_column;  // by slot
    std::optional<sqlite::Statement> statement;
    std::vector<std::pair<std::size_t, bool>> bound;  // slot and whether raw, in parameter order after t_ns, device
  };
  int prepare_samples(DeviceKind kind);
  int add_columns(DeviceKind kind, const std::vector<bool>& wanted);
  int insert_row(const Row& row);
  int insert_quality(const SeriesQuality& quality);
  int insert_mark(const Mark& mark);
  int insert_event(const Event& event);
  int insert_fact(const Fact& fact);
  int insert_span(const Span& span);
  int insert_meta(const MetaItem& meta);
  int insert_device(const DeviceItem& item);
  sqlite::Statement* statement(const char* sql);

  sqlite::Database* database_;
  std::array<SampleTable, kDeviceKinds.size()> tables_;
  std::map<const char*, sqlite::Statement> statements_;
  std::map<DeviceIndex, DeviceKind> kinds_;
};

}  // namespace gradwatt::record

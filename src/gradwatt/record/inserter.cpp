#include "gradwatt/record/inserter.hpp"

#include "gradwatt/record/schema.hpp"
#include "gradwatt/record/store.hpp"

namespace gradwatt::record {
namespace {

constexpr const char* kMeta = "INSERT OR REPLACE INTO meta VALUES(?,?)";
constexpr const char* kDevice = "INSERT OR REPLACE INTO device VALUES(?,?,?,?,?,?)";
constexpr const char* kAttribute = "INSERT OR REPLACE INTO device_attribute VALUES(?,?,?)";
constexpr const char* kQuality =
    "INSERT OR REPLACE INTO series_quality VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
constexpr const char* kMark = "INSERT INTO mark VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
constexpr const char* kEvent = "INSERT INTO event VALUES(?,?,?,?)";
constexpr const char* kSpan = "INSERT INTO span VALUES(?,?,?,?,?,?)";
constexpr const char* kFact = "INSERT INTO fact VALUES(?,?,?,?,?,?,?,?,?)";

std::size_t place(DeviceKind kind) { return static_cast<std::size_t>(kind); }

std::string insert_samples_sql(DeviceKind kind, const std::vector<std::string>& columns) {
  std::string names = "t_ns,device";
  std::string marks = "?,?";
  for (const auto& column : columns) names += ',' + column, marks += ",?";
  return "INSERT INTO " + schema::sample_table(kind) + '(' + names + ") VALUES(" + marks + ')';
}

}  // namespace

core::Result<Inserter> Inserter::create(sqlite::Database& database) {
  const std::string setup = "PRAGMA application_id=" + std::to_string(schema::kApplicationId) +
                            ";PRAGMA user_version=" + std::to_string(kSchemaVersion) + ";BEGIN;" + schema::kTables +
                            "COMMIT;";
  if (database.execute(setup) != SQLITE_OK)
    return core::fail(core::Errc::io, "cannot set up the run record: " + database.message());
  Inserter inserter(database);
  for (auto& table : inserter.tables_) table.has_column.clear();
  return inserter;
}

sqlite::Statement* Inserter::statement(const char* sql) {
  auto it = statements_.find(sql);
  if (it == statements_.end()) {
    auto prepared = database_->prepare(sql);
    if (!prepared) return nullptr;
    it = statements_.emplace(sql, std::move(*prepared)).first;
  }
  return &it->second;
}

int Inserter::reload() {
  for (const auto kind : kDeviceKinds) {
    auto& table = tables_[place(kind)];
    if (!table.exists) continue;
    table.statement.reset();
    auto columns = database_->prepare("SELECT name FROM pragma_table_info('" + schema::sample_table(kind) + "')");
    if (!columns) return SQLITE_ERROR;
    table.exists = false;
    table.has_column.assign(metric_count(kind), false);
    while (columns->next()) {
      table.exists = true;
      if (const auto metric = find_metric(kind, columns->text(0))) table.has_column[slot(*metric)] = true;
    }
  }
  return SQLITE_OK;
}

int Inserter::add_columns(DeviceKind kind, const std::vector<bool>& wanted) {
  auto& table = tables_[place(kind)];
  table.has_column.resize(metric_count(kind), false);
  std::string sql;
  if (!table.exists)
    sql = "CREATE TABLE IF NOT EXISTS " + schema::sample_table(kind) + "(t_ns INTEGER NOT NULL, device INTEGER NOT NULL);";
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i] || table.has_column[i]) continue;
    const auto& row = metrics_of(kind)[i];
    sql += "ALTER TABLE " + schema::sample_table(kind) + " ADD COLUMN " + row.column() + " INTEGER;";
    if (row.type == MetricType::counter)
      sql += "ALTER TABLE " + schema::sample_table(kind) + " ADD COLUMN " + row.raw_column() + " INTEGER;";
  }
  if (sql.empty()) return SQLITE_OK;
  table.statement.reset();
  const int code = database_->execute(sql);
  if (code != SQLITE_OK) return code;
  table.exists = true;
  for (std::size_t i = 0; i < wanted.size(); ++i) table.has_column[i] = table.has_column[i] || wanted[i];
  return SQLITE_OK;
}

int Inserter::prepare_samples(DeviceKind kind) {
  auto& table = tables_[place(kind)];
  if (table.statement) return SQLITE_OK;
  table.bound.clear();
  std::vector<std::string> columns;
  for (std::size_t i = 0; i < table.has_column.size(); ++i) {
    if (!table.has_column[i]) continue;
    const auto& row = metrics_of(kind)[i];
    columns.push_back(row.column());
    table.bound.emplace_back(i, false);
    if (row.type != MetricType::counter) continue;
    columns.push_back(row.raw_column());
    table.bound.emplace_back(i, true);
  }
  auto prepared = database_->prepare(insert_samples_sql(kind, columns));
  if (!prepared) return database_->extended_code();
  table.statement = std::move(*prepared);
  return SQLITE_OK;
}

int Inserter::insert_row(const Row& row) {
  auto& table = tables_[place(row.kind)];
  std::vector<bool> wanted;
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    const bool known = i < table.has_column.size() && table.has_column[i];
    if (known || (row.values[i] == kMissing && row.raw[i] == kMissing)) continue;
    wanted.resize(row.values.size(), false);
    wanted[i] = true;
  }
  if (!wanted.empty() || !table.exists)
    if (const int code = add_columns(row.kind, wanted); code != SQLITE_OK) return code;
  if (const int code = prepare_samples(row.kind); code != SQLITE_OK) return code;
  table.statement->bind(0, row.time_ns);
  table.statement->bind(1, static_cast<std::int64_t>(number(row.device)));
  int parameter = 2;
  for (const auto& [index, raw] : table.bound) {
    const auto value = raw ? row.raw[index] : row.values[index];
    value == kMissing ? table.statement->bind_null(parameter) : table.statement->bind(parameter, value);
    ++parameter;
  }
  return table.statement->run();
}

int Inserter::insert_quality(const SeriesQuality& q) {
  const DeviceKind kind = info(q.metric).kind;
  std::vector<bool> wanted(metric_count(kind), false);
  wanted[slot(q.metric)] = true;
  if (const int code = add_columns(kind, wanted); code != SQLITE_OK) return code;
  auto* s = statement(kQuality);
  if (s == nullptr) return database_->extended_code();
  int i = 0;
  s->bind(i++, static_cast<std::int64_t>(number(q.device)));
  s->bind(i++, std::string_view(info(q.metric).key()));
  for (const auto text : {name_of(q.how), name_of(q.where), std::string_view(q.scope), std::string_view(q.source)})
    s->bind(i++, text);
  s->bind(i++, q.cadence_ns);
  s->bind(i++, name_of(q.sampling));
  s->bind(i++, q.phase_ns);
  for (const auto& real : {q.duty, q.uncertainty, q.range_low, q.range_high, q.coverage}) s->bind(i++, real);
  s->bind(i++, q.update_ns);
  for (const auto count : {q.readings, q.failed, q.wraps, q.resets, q.backward, q.stuck, q.glitches})
    s->bind(i++, count);
  s->bind(i++, std::string_view(q.note));
  s->bind(i++, q.standard_error);
  return s->run();
}

int Inserter::insert_mark(const Mark& m) {
  auto* s = statement(kMark);
  if (s == nullptr) return database_->extended_code();
  int i = 0;
  s->bind(i++, static_cast<std::int64_t>(m.rank));
  s->bind(i++, name_of(m.kind));
  s->bind(i++, std::string_view(m.name));
  s->bind(i++, m.number);
  s->bind(i++, m.begin_ns);
  s->bind(i++, m.end_ns);
  s->bind(i++, m.samples);
  for (const auto& phase : m.phase_ns) s->bind(i++, phase);
  s->bind(i++, std::string_view(m.clock == PhaseClock::host ? "host" : "device_events"));
  return s->run();
}

int Inserter::insert_device(const DeviceItem& item) {
  auto* s = statement(kDevice);
  if (s == nullptr) return database_->extended_code();
  const auto id = static_cast<std::int64_t>(number(item.index));
  s->bind(0, id);
  s->bind(1, name_of(item.device.kind));
  s->bind(2, std::string_view(item.device.uuid));
  s->bind(3, std::string_view(item.device.name));
  s->bind(4, static_cast<std::int64_t>(item.device.index));
  s->bind(5, std::string_view(item.device.host));
  if (const int code = s->run(); code != SQLITE_OK) return code;
  auto* a = statement(kAttribute);
  if (a == nullptr) return database_->extended_code();
  for (const auto& [key, value] : item.device.attributes) {
    a->bind(0, id);
    a->bind(1, std::string_view(key));
    a->bind(2, std::string_view(value));
    if (const int code = a->run(); code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

int Inserter::insert_meta(const MetaItem& meta) {
  auto* s = statement(kMeta);
  if (s == nullptr) return database_->extended_code();
  s->bind(0, std::string_view(meta.key));
  s->bind(1, std::string_view(meta.value));
  return s->run();
}

int Inserter::insert_event(const Event& event) {
  auto* s = statement(kEvent);
  if (s == nullptr) return database_->extended_code();
  s->bind(0, event.time_ns);
  event.device ? s->bind(1, static_cast<std::int64_t>(*event.device)) : s->bind_null(1);
  s->bind(2, std::string_view(event.kind));
  s->bind(3, std::string_view(event.text));
  return s->run();
}

int Inserter::insert_span(const Span& span) {
  auto* s = statement(kSpan);
  if (s == nullptr) return database_->extended_code();
  s->bind(0, static_cast<std::int64_t>(span.rank));
  s->bind(1, std::string_view(span.track));
  s->bind(2, std::string_view(span.kind));
  s->bind(3, span.begin_ns);
  s->bind(4, span.end_ns);
  s->bind(5, span.bytes);
  return s->run();
}

int Inserter::insert_fact(const Fact& fact) {
  auto* s = statement(kFact);
  if (s == nullptr) return database_->extended_code();
  s->bind(0, std::string_view(fact.name));
  s->bind(1, std::string_view(fact.subject));
  if (const auto number = as_number(fact)) {
    s->bind(2, *number);
  } else {
    s->bind(2, std::string_view(std::get<std::string>(fact.value)));
  }
  s->bind(3, std::string_view(fact.unit));
  s->bind(4, fact.time_ns);
  s->bind(5, name_of(fact.how));
  s->bind(6, name_of(fact.where));
  s->bind(7, fact.coverage);
  s->bind(8, std::string_view(fact.source));
  return s->run();
}

int Inserter::insert(const Item& item) {
  struct Visitor {
    Inserter& to;
    int operator()(const Row& row) const { return to.insert_row(row); }
    int operator()(const Mark& mark) const { return to.insert_mark(mark); }
    int operator()(const Event& event) const { return to.insert_event(event); }
    int operator()(const Fact& fact) const { return to.insert_fact(fact); }
    int operator()(const Span& span) const { return to.insert_span(span); }
    int operator()(const SeriesQuality& quality) const { return to.insert_quality(quality); }
    int operator()(const DeviceItem& device) const { return to.insert_device(device); }
    int operator()(const MetaItem& meta) const { return to.insert_meta(meta); }
  };
  return std::visit(Visitor{*this}, item);
}

}  // namespace gradwatt::record

#include "gradwatt/ingest/imported_file.hpp"

namespace gradwatt::ingest {

void describe(ImportedFile& file, const std::string& name, std::string_view format) {
  auto& run = file.run;
  run.set(record::meta::kWhere, std::string(name_of(record::Where::imported)));
  run.set(record::meta::kClock, std::string("wall"));
  run.set(record::meta::kSource, name);
  run.set(record::meta::kComplete, std::string("1"));
  run.set("import_format", std::string(format));
  run.set("import_rows", static_cast<std::int64_t>(file.rows));
}

}  // namespace gradwatt::ingest

#include "gradwatt/ingest/smi_row.hpp"

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/smi_cell.hpp"
#include "gradwatt/ingest/smi_value.hpp"

namespace gradwatt::ingest {

Identity identity_of(const SmiRow& row, int wide_gpu) {
  Identity identity;
  identity.index = wide_gpu;
  for (const auto i : row.layout.identity) {
    const auto cell = read_cell(row.cells[i]);
    const auto role = row.layout.columns[i].meaning.role;
    if (cell.kind == CellKind::missing || cell.kind == CellKind::fault) continue;
    if (role == Role::uuid) identity.uuid = row.cells[i];
    if (role == Role::bus_id) identity.bus_id = row.cells[i];
    if (role == Role::name) identity.name = row.cells[i];
    if (role == Role::host) identity.host = row.cells[i];
    if (role != Role::index) continue;
    auto text = row.cells[i];
    if (core::to_lower(text.substr(0, 3)) == "gpu") text.remove_prefix(3);
    const auto number = read_cell(core::trim(text));
    const bool fits = number.kind == CellKind::number && number.value >= 0 && number.value < 4096;
    if (fits && wide_gpu == kNotWide) identity.index = static_cast<int>(number.value);
    if (!fits && identity.uuid.empty()) identity.uuid = row.cells[i];  // some scripts put the UUID there
  }
  return identity;
}

bool has_any_value(const SmiRow& row) {
  constexpr auto kAnyPower = record::metric(record::DeviceKind::gpu, "power_avg");
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const auto& column = row.layout.columns[i];
    if (column.meaning.role != Role::metric && column.meaning.role != Role::plain_power) continue;
    const auto metric = column.meaning.metric.value_or(kAnyPower);
    if (value_of(column, metric, row.cells[i], row.layout.decimal_comma()).value) return true;
  }
  return false;
}

}  // namespace gradwatt::ingest

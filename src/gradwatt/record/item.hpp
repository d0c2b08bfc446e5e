// What travels from producers to the writer thread, and how each piece joins a Run in memory; private to this folder.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "gradwatt/record/run.hpp"

namespace gradwatt::record {

struct DeviceItem {
  DeviceIndex index{};
  Device device;
};
struct MetaItem {
  std::string key, value;
};
using Item = std::variant<Row, Mark, Event, Fact, Span, SeriesQuality, DeviceItem, MetaItem>;

/// Adds the piece to the run. Counters' raw values are kept only where the column already keeps them.
void apply(const Item& item, Run& run);

}  // namespace gradwatt::record

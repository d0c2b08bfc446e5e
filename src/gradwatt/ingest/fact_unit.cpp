#include "gradwatt/ingest/fact_unit.hpp"

#include <array>

namespace gradwatt::ingest {
namespace {

struct Conversion {
  std::string_view kept, written;
  double factor;
};

// Decimal prefixes are powers of 1000, binary ones (KiB) of 1024.
constexpr auto kConversions = std::to_array<Conversion>({
    {"W", "W", 1},
    {"W", "mW", 1e-3},
    {"W", "kW", 1e3},
    {"%", "%", 1},
    {"%", "percent", 1},
    {"s", "s", 1},
    {"s", "ms", 1e-3},
    {"s", "us", 1e-6},
    {"s", "µs", 1e-6},
    {"s", "ns", 1e-9},
    {"s", "min", 60},
    {"s", "h", 3600},
    {"MHz", "MHz", 1},
    {"MHz", "GHz", 1e3},
    {"MHz", "kHz", 1e-3},
    {"MHz", "Hz", 1e-6},
    {"°C", "°C", 1},
    {"°C", "C", 1},
    {"bytes", "bytes", 1},
    {"bytes", "B", 1},
    {"bytes", "kB", 1e3},
    {"bytes", "MB", 1e6},
    {"bytes", "GB", 1e9},
    {"bytes", "TB", 1e12},
    {"bytes", "KiB", 0x1p10},
    {"bytes", "MiB", 0x1p20},
    {"bytes", "GiB", 0x1p30},
    {"bytes", "TiB", 0x1p40},
    {"bytes/s", "bytes/s", 1},
    {"bytes/s", "B/s", 1},
    {"bytes/s", "kB/s", 1e3},
    {"bytes/s", "MB/s", 1e6},
    {"bytes/s", "GB/s", 1e9},
    {"bytes/s", "KiB/s", 0x1p10},
    {"bytes/s", "MiB/s", 0x1p20},
    {"bytes/s", "GiB/s", 0x1p30},
    {"bytes/s", "bit/s", 1.0 / 8},
    {"bytes/s", "Mbit/s", 1e6 / 8},
    {"bytes/s", "Gbit/s", 1e9 / 8},
    {"bit/s", "bit/s", 1},
    {"bit/s", "Mbit/s", 1e6},
    {"bit/s", "Mb/s", 1e6},
    {"bit/s", "Gbit/s", 1e9},
    {"bit/s", "Gb/s", 1e9},
    {"1/s", "1/s", 1},
    {"1/s", "/s", 1},
    {"1/s", "Hz", 1},
    {"1/s", "samples/s", 1},
    {"1/s", "images/s", 1},
    {"1/s", "tokens/s", 1},
    {"1/min", "1/min", 1},
    {"1/min", "1/s", 60},
    {"1/min", "1/h", 1.0 / 60},
    {"", "1", 1},
    {"", "%", 0.01},
    {"", "percent", 0.01},
});

}  // namespace

std::optional<double> fact_unit_factor(std::string_view written, std::string_view kept) {
  if (written == kept) return 1;
  for (const auto& conversion : kConversions)
    if (conversion.kept == kept && conversion.written == written) return conversion.factor;
  return std::nullopt;
}

std::string units_for(std::string_view kept) {
  std::string all;
  for (const auto& conversion : kConversions)
    if (conversion.kept == kept) all += (all.empty() ? "" : ", ") + std::string(conversion.written);
  return all;
}

}  // namespace gradwatt::ingest

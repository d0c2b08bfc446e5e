// Runs every row of the fault table against the sensor, with the fake clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "gradwatt/backends/nvml/metrics.hpp"
#include "gradwatt/backends/nvml/nvml_backend.hpp"
#include "tests/doubles/fake_nvml/fake_driver.hpp"
#include "tests/doubles/fake_nvml/fault_cases.hpp"

namespace gradwatt::nvml {
namespace {

using namespace std::chrono_literals;
using doubles::FaultCase;
using What = FaultCase::What;

constexpr auto kInterval = 100ms;
constexpr int kTicks = 30;
constexpr int kFaultTick = 8;  ///< 0.8 s: within the fault of every row that has a window before 0.9 s

struct Tick {
  std::map<std::pair<std::size_t, record::MetricId>, std::int64_t> values;
  std::vector<telemetry::Reading::Failure> failures;
};

struct Played {
  bool opened = false;
  bool error = false;
  std::vector<telemetry::SensorDevice> devices;
  std::vector<record::Fact> facts;
  std::vector<Tick> ticks;
};

std::string library_of(const FaultCase& row) {
  switch (row.driver) {
    case FaultCase::Driver::old:
      return doubles::kFakeNvmlOld;
    case FaultCase::Driver::missing:
      return "/nonexistent/libnvidia-ml.so.1";
    case FaultCase::Driver::no_driver_library:
      return "libm.so.6";
    case FaultCase::Driver::fake:
      break;
  }
  return doubles::kFakeNvml;
}

Tick note(const telemetry::Reading& reading) {
  Tick tick;
  for (const auto& cell : reading.cells()) tick.values[{cell.device, cell.metric}] = cell.stored;
  tick.failures = reading.failures();
  return tick;
}

Played play(const FaultCase& row) {
  Played played;
  doubles::FakeDriver driver(std::string(row.script),
                             row.driver == FaultCase::Driver::old ? doubles::kFakeNvmlOld : doubles::kFakeNvml);
  NvmlBackend backend({.library_path = library_of(row)});
  telemetry::JobScope::Snapshot job;
  job.all_gpus = row.visible.empty();
  job.visible_gpus.assign(row.visible.begin(), row.visible.end());
  auto sensors = backend.open({driver.clock, job, kInterval, {}});
  played.error = !sensors.has_value();
  if (played.error) {
    EXPECT_FALSE(sensors.error().message.empty());
  }
  if (!sensors || sensors->empty()) return played;
  played.opened = true;
  auto& sensor = *sensors->front();
  played.devices = sensor.devices();
  for (int i = 0; i < kTicks; ++i) {
    telemetry::Reading reading(driver.clock.now());
    sensor.read(reading);
    played.ticks.push_back(note(reading));
    driver.clock.advance(kInterval);
  }
  played.facts = sensor.facts();
  return played;
}

std::optional<telemetry::SeriesSpec> announced(const Played& played, std::size_t device, record::MetricId metric) {
  if (device >= played.devices.size()) return std::nullopt;
  for (const auto& spec : played.devices[device].series)
    if (spec.metric == metric) return spec;
  return std::nullopt;
}

std::optional<std::int64_t> value(const Tick& tick, std::size_t device, record::MetricId metric) {
  const auto it = tick.values.find({device, metric});
  if (it == tick.values.end() || it->second == record::kMissing) return std::nullopt;
  return it->second;
}
bool failed(const Tick& tick, std::size_t device, record::MetricId metric, bool lost) {
  return std::ranges::any_of(tick.failures, [&](const auto& f) {
    return f.device == device && f.metric == metric && f.lost == lost && !f.reason.empty();
  });
}

void expect_possible(const record::Metric& row, std::int64_t stored) {
  constexpr std::int64_t kTwoKilowatts = 2'000'000;  // above twice the limit of every device played
  const std::int64_t low = row.unit == "w" || row.unit == "j" ? 1 : 0;
  std::int64_t high = 0x7ffffffffffffff0 / 2;
  if (row.unit == "w") high = kTwoKilowatts;
  if (row.unit == "pct") high = 1000;
  if (row.unit == "c") high = 200;
  EXPECT_GE(stored, low) << row.key();
  EXPECT_LE(stored, high) << row.key();
}

/// Holds for every row: what is stored is possible, what is missing is explained.
void expect_honest(const Played& played) {
  for (const auto& tick : played.ticks) {
    for (const auto& [key, stored] : tick.values) {
      const auto& [device, metric] = key;
      const auto& row = record::info(metric);
      ASSERT_TRUE(announced(played, device, metric)) << row.key();
      if (stored == record::kMissing) {
        EXPECT_TRUE(failed(tick, device, metric, false)) << row.key() << " is missing without a reason";
        continue;
      }
      expect_possible(row, stored);
    }
  }
}

void expect_series(const Played& played, const FaultCase::Expectation& expected) {
  const auto metric = record::find_metric(record::DeviceKind::gpu, expected.metric);
  ASSERT_TRUE(metric) << expected.metric;
  const auto d = expected.device;
  const auto spec = announced(played, d, *metric);
  if (expected.what == What::absent) {
    EXPECT_FALSE(spec) << expected.metric;
    return;
  }
  ASSERT_TRUE(spec) << expected.metric << " is not announced";
  // At the first tick even the rare readings come; GPM needs a second sample.
  const bool slow = spec->cadence >= 1s;
  const auto& first = played.ticks[spec->source.starts_with("nvml gpm") ? 1 : 0];
  const auto& during = played.ticks[kFaultTick];
  const auto& last = played.ticks[kTicks - 1];
  switch (expected.what) {
    case What::delivers:
      EXPECT_TRUE(value(first, d, *metric)) << expected.metric;
      if (slow) break;
      EXPECT_TRUE(value(during, d, *metric)) << expected.metric;
      EXPECT_TRUE(value(last, d, *metric)) << expected.metric;
      break;
    case What::gaps:
      EXPECT_TRUE(value(first, d, *metric)) << expected.metric;
      EXPECT_TRUE(failed(during, d, *metric, false)) << expected.metric;
      EXPECT_FALSE(value(during, d, *metric)) << expected.metric;
      EXPECT_TRUE(value(last, d, *metric)) << expected.metric << " does not come back";
      break;
    case What::never:
      for (const auto& tick : played.ticks) {
        EXPECT_FALSE(value(tick, d, *metric));
        EXPECT_TRUE(failed(tick, d, *metric, false));
      }
      break;
    case What::series_lost:
    case What::device_lost: {
      EXPECT_TRUE(value(first, d, *metric)) << expected.metric;
      const auto lost_as = expected.what == What::device_lost ? std::nullopt : std::optional(*metric);
      const auto times = std::ranges::count_if(played.ticks, [&](const Tick& tick) {
        return std::ranges::any_of(tick.failures,
                                   [&](const auto& f) { return f.device == d && f.metric == lost_as && f.lost; });
      });
      EXPECT_EQ(times, 1) << expected.metric << ": the loss must be told once";
      EXPECT_FALSE(last.values.contains({d, *metric})) << expected.metric;
      break;
    }
    case What::absent:
      break;
  }
}

class FaultTable : public testing::TestWithParam<FaultCase> {};

TEST_P(FaultTable, GivesNoWrongNumberAndTheExpectedGap) {
  const FaultCase& row = GetParam();
  const Played played = play(row);
  EXPECT_EQ(played.error, row.opens == FaultCase::Opens::error);
  EXPECT_EQ(played.opened, row.opens == FaultCase::Opens::sensor);
  EXPECT_EQ(played.devices.size(), row.devices);
  expect_honest(played);
  for (const auto& expected : row.expect) expect_series(played, expected);
}

INSTANTIATE_TEST_SUITE_P(Nvml, FaultTable, testing::ValuesIn(doubles::fault_cases()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(FaultTableItself, IsLargeAndEachRowNamesItsSourceOnce) {
  const auto rows = doubles::fault_cases();
  EXPECT_GE(rows.size(), 30U);
  std::map<std::string_view, int> names;
  for (const auto& row : rows) {
    EXPECT_FALSE(row.source.empty()) << row.name;
    EXPECT_EQ(++names[row.name], 1) << row.name;
  }
}

}  // namespace
}  // namespace gradwatt::nvml

// The cells of an nvidia-smi query file's rows, turned into samples, device attributes, facts and events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/ingest/power_meaning.hpp"
#include "gradwatt/ingest/sample_table.hpp"
#include "gradwatt/ingest/smi_row.hpp"
#include "gradwatt/record/run.hpp"

namespace gradwatt::ingest {

class SmiReadings {
 public:
  /// `name` is the file's, for messages; both outlive this.
  SmiReadings(const std::string& name, Diagnostics& notes) : name_(name), notes_(notes) {}

  /// Before the first row of each table.
  void begin_table(const Layout& layout) { units_seen_.assign(layout.columns.size(), 0); }
  /// The device that the identity means; nothing past kMaxDevices.
  [[nodiscard]] std::optional<std::size_t> device(const Identity& identity) { return table_.device(identity); }
  /// Rows of this device so far.
  [[nodiscard]] std::int64_t rows(std::size_t device) { return state(device).rows; }
  /// Enters what the row says of one device: all of it, or the columns of one GPU of a wide table.
  void take(const SmiRow& row, std::size_t device, int wide_gpu, std::int64_t time_ns);
  /// A message in the middle of the readings, at the time of the last row.
  void take_message(std::string_view text);

  /// A cell was left out because its end is missing.
  [[nodiscard]] bool cut_off() const { return cut_off_; }
  /// Column that a metric of a device of the finished run came from; the first device's where rows were dealt out.
  [[nodiscard]] std::string column_of(std::size_t device, record::MetricId metric) const;
  [[nodiscard]] SampleTable& table() { return table_; }
  /// Moves series, facts and events into the run; column_of() still answers.
  TableFindings finish(record::Run& run, bool whole_seconds);

 private:
  struct DeviceState {
    PowerMeaning power;
    std::int64_t rows = 0;
    std::vector<std::string> columns =
        std::vector<std::string>(record::metric_count(record::DeviceKind::gpu));  // that each metric is from
    std::set<std::string> faults;
  };
  DeviceState& state(std::size_t device);
  void take_metric(const SmiRow& row, std::size_t device, std::size_t position, record::MetricId metric);
  void take_plain_power(const SmiRow& row, std::size_t device, int wide_gpu);
  void take_reasons(const SmiRow& row, std::size_t device, int wide_gpu);
  void take_fixed(const SmiRow& row, std::size_t device, std::size_t position);
  void report_fault(const SmiRow& row, std::size_t device, std::string_view text);

  const std::string& name_;
  Diagnostics& notes_;
  SampleTable table_;
  std::vector<DeviceState> states_;
  std::vector<std::size_t> units_seen_;  // of each column: cells with a unit
  std::vector<record::Event> events_;
  std::vector<record::Fact> facts_;
  std::int64_t last_time_ = 0;
  bool cut_off_ = false;
};

}  // namespace gradwatt::ingest

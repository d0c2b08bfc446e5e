// Samples of a foreign recording as they are read, line by line, and the record's series that come of them.
//
// Takes rows in file order with whatever times the file has; the series it makes are strictly increasing in time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gradwatt/record/run.hpp"

namespace gradwatt::ingest {

/// What a line says about whose reading it is; empty or −1 where it does not.
struct Identity {
  std::string_view uuid, bus_id, name, host;
  int index = -1;
};

struct TableFindings {
  std::uint64_t out_of_order = 0;  ///< rows whose time lay before the row above, put in order
  std::uint64_t same_time = 0;     ///< rows that repeat the time of the row above
  bool spread = false;             ///< those rows were spread over the second that they share
  std::size_t split_into = 0;      ///< GPUs that unnamed rows were dealt out to; 0: none
};

inline constexpr std::size_t kMaxDevices = 1024;

class SampleTable {
 public:
  /// The device that the identity means, made where it is new. Rows that share a UUID, bus id or index (in this order
  /// of trust) and contradict in nothing are one device. Nothing past kMaxDevices: that is no list of GPUs.
  [[nodiscard]] std::optional<std::size_t> device(const Identity& identity);
  void begin_row(std::size_t device, std::int64_t time_ns);
  /// Of the row begun last; kMissing leaves the cell empty and counts as a failed reading.
  void set(record::MetricId metric, std::int64_t stored);
  [[nodiscard]] bool has(record::MetricId metric) const;

  [[nodiscard]] record::Device& about(std::size_t device) { return devices_[device].device; }
  [[nodiscard]] std::size_t device_count() const { return devices_.size(); }
  [[nodiscard]] std::size_t rows(std::size_t device) const { return devices_[device].time.size(); }
  /// Values present of one metric, over all devices.
  [[nodiscard]] std::vector<std::int64_t> values(record::MetricId metric) const;
  /// Takes a metric out of all devices, or only its values above a limit. Returns how many values went.
  std::uint64_t drop(record::MetricId metric);
  std::uint64_t drop_above(record::MetricId metric, std::int64_t stored);

  /// Devices, series and their quality (cadence, coverage, counts; `how` and origin by metric type, the caller adds
  /// source and notes). `whole_seconds`: the times have no fractions. Empties the table.
  TableFindings finish(record::Run& run, bool whole_seconds);

 private:
  using Values = std::vector<std::int64_t>;
  struct Rows {
    record::Device device;
    Values time;
    std::array<Values, record::metric_count(record::DeviceKind::gpu)> columns;
    std::array<std::uint64_t, record::metric_count(record::DeviceKind::gpu)> failed{};
  };

  [[nodiscard]] std::optional<std::size_t> find(const Identity& identity) const;
  void deal_out_unnamed_rows(TableFindings& findings);
  static void put_in_order(Rows& rows, bool whole_seconds, TableFindings& findings);
  static void add_series(Rows& rows, record::Run& run);

  std::vector<Rows> devices_;
  std::unordered_map<std::string, std::size_t> known_;  // identity as one text -> device
  std::string key_;                                     // kept for its memory
  std::size_t current_ = 0;
};

/// Median step between neighbours, 0 for fewer than two.
[[nodiscard]] std::int64_t median_step(const std::vector<std::int64_t>& increasing);

}  // namespace gradwatt::ingest

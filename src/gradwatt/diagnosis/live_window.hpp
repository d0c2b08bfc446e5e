// The last minutes of a running job, as small as triggers need them: what the live view asks at each refresh.
#pragma once

#include <cstdint>
#include <vector>

#include "gradwatt/diagnosis/triggers.hpp"

namespace gradwatt::diagnosis {

/// Fed with what the sampler hands to its sink. Not thread-safe: the caller guards it.
class LiveWindow {
 public:
  /// Ten minutes: an idle GPU stays visible for nine after it stopped.
  static constexpr std::int64_t kHorizon_ns = 600'000'000'000;

  explicit LiveWindow(std::int64_t horizon_ns = kHorizon_ns) : horizon_ns_(horizon_ns) {}

  /// Indices may come in any order; rows of an index that was not added are ignored.
  void add_device(record::DeviceIndex index, const record::Device& device);
  /// Only the columns that triggers read are kept. Rows of a device come in order of time.
  void add_row(const record::Row& row);
  void add_mark(const record::Mark& mark);

  /// Over what is held now.
  [[nodiscard]] std::vector<Trigger> evaluate() const;
  /// Readings held, for tests of its bounds.
  [[nodiscard]] std::size_t rows() const;

 private:
  void forget_old();

  std::int64_t horizon_ns_;
  std::int64_t now_ns_ = 0;        ///< the newest time seen
  std::int64_t forgotten_ns_ = 0;  ///< when old rows were last dropped
  std::vector<bool> known_;
  std::vector<record::MetricId> columns_ = columns_for_triggers();
  record::Run run_;
};

}  // namespace gradwatt::diagnosis

// Where a producer puts what it finds while it runs. The sampler, launch and the importers know only this.
#pragma once

#include <string>
#include <string_view>

#include "gradwatt/record/run.hpp"

namespace gradwatt::record {

/// Calls never block and never fail for the caller: what cannot be kept is counted by the implementation.
/// May be called from several threads.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Must precede the first row that names its index.
  virtual void add_device(DeviceIndex index, const Device& device) = 0;
  virtual void add_row(Row row) = 0;
  virtual void add_mark(Mark mark) = 0;
  virtual void add_event(Event event) = 0;
  virtual void add_fact(Fact fact) = 0;
  /// Replaces the earlier one of the same device and metric.
  virtual void set_quality(const SeriesQuality& quality) = 0;
  virtual void set_meta(std::string_view key, std::string value) = 0;
};

}  // namespace gradwatt::record

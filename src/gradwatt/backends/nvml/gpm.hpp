// Activity of the SMs, tensor cores and memory by GPM (Hopper and newer): the difference of two samples. The sample of
// the previous tick is the older one of the next, buffers are made once.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "gradwatt/backends/nvml/library.hpp"
#include "gradwatt/core/clock.hpp"
#include "gradwatt/record/metric.hpp"

namespace gradwatt::nvml {

struct GpmRow {
  unsigned id;
  record::MetricId metric;
  std::string_view source;
};
[[nodiscard]] std::span<const GpmRow> gpm_table();

/// NVML wants two samples at least 100 ms apart.
inline constexpr core::Duration kGpmGap = std::chrono::milliseconds(100);

class GpmReader {
 public:
  struct Value {
    record::MetricId metric;
    Return code;
    double percent;  ///< as the driver gave it: may be nonsense, the caller's bounds decide
  };
  /// `gpu_instance` names the MIG slice's instance on `gpu`. The error code when the device has no GPM or refuses it.
  [[nodiscard]] static tl::expected<GpmReader, Return> open(std::shared_ptr<const Library> library, DeviceHandle gpu,
                                                            std::optional<unsigned> gpu_instance, core::Instant now);

  /// All metrics over the time since the last sample; empty when that is less than kGpmGap old. An error is one of the
  /// whole reading. The span is valid until the next call.
  [[nodiscard]] tl::expected<std::span<const Value>, Return> read(core::Instant now);

 private:
  struct FreeSample {
    std::shared_ptr<const Library> library;
    void operator()(GpmSampleHandle sample) const;
  };
  using Sample = std::unique_ptr<OpaqueSample, FreeSample>;

  GpmReader(std::shared_ptr<const Library> library, DeviceHandle gpu, std::optional<unsigned> gpu_instance);
  [[nodiscard]] tl::expected<Sample, Return> allocate() const;
  [[nodiscard]] Return take(GpmSampleHandle sample) const;

  std::shared_ptr<const Library> library_;
  DeviceHandle gpu_;
  std::optional<unsigned> gpu_instance_;
  Sample older_, newer_;
  core::Instant older_at_{};
  std::unique_ptr<GpmRequest> request_;
  std::array<Value, 16> values_{};
};

}  // namespace gradwatt::nvml

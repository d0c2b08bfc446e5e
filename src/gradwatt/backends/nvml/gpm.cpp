#include "gradwatt/backends/nvml/gpm.hpp"

#include "gradwatt/backends/nvml/metrics.hpp"

namespace gradwatt::nvml {
namespace {

constexpr auto kGpm = std::to_array<GpmRow>({
    {1, metric::kGraphicsActive, "nvml gpm 1"},
    {2, metric::kSmActive, "nvml gpm 2"},
    {3, metric::kSmOccupancy, "nvml gpm 3"},
    {4, metric::kIntegerActive, "nvml gpm 4"},
    {5, metric::kTensorActive, "nvml gpm 5"},
    {10, metric::kDramActive, "nvml gpm 10"},
    {11, metric::kFp64Active, "nvml gpm 11"},
    {12, metric::kFp32Active, "nvml gpm 12"},
    {13, metric::kFp16Active, "nvml gpm 13"},
});

}  // namespace

std::span<const GpmRow> gpm_table() { return kGpm; }

void GpmReader::FreeSample::operator()(GpmSampleHandle sample) const {
  static_cast<void>(call(library->functions().gpm_sample_free, sample));
}

GpmReader::GpmReader(std::shared_ptr<const Library> library, DeviceHandle gpu, std::optional<unsigned> gpu_instance)
    : library_(std::move(library)), gpu_(gpu), gpu_instance_(gpu_instance), request_(std::make_unique<GpmRequest>()) {
  static_assert(std::tuple_size_v<decltype(values_)> >= kGpm.size());
  request_->version = kGpmVersion;
  request_->count = static_cast<unsigned>(kGpm.size());
  for (std::size_t i = 0; i < kGpm.size(); ++i) request_->metrics[i].id = kGpm[i].id;
}

tl::expected<GpmReader::Sample, Return> GpmReader::allocate() const {
  GpmSampleHandle sample = nullptr;
  const Return code = call(library_->functions().gpm_sample_alloc, &sample);
  if (code != Return::success) return tl::unexpected(code);
  return Sample(sample, FreeSample{library_});
}

Return GpmReader::take(GpmSampleHandle sample) const {
  const Functions& nvml = library_->functions();
  return gpu_instance_ ? call(nvml.gpm_sample_mig, gpu_, *gpu_instance_, sample) : call(nvml.gpm_sample, gpu_, sample);
}

tl::expected<GpmReader, Return> GpmReader::open(std::shared_ptr<const Library> library, DeviceHandle gpu,
                                                std::optional<unsigned> gpu_instance, core::Instant now) {
  GpmSupport support{kGpmVersion, 0};
  const Return asked = call(library->functions().gpm_support, gpu, &support);
  if (asked != Return::success) return tl::unexpected(asked);
  if (support.supported == 0) return tl::unexpected(Return::not_supported);
  GpmReader reader(std::move(library), gpu, gpu_instance);
  for (Sample* sample : {&reader.older_, &reader.newer_}) {
    auto allocated = reader.allocate();
    if (!allocated) return tl::unexpected(allocated.error());
    *sample = std::move(*allocated);
  }
  const Return first = reader.take(reader.older_.get());
  if (first != Return::success) return tl::unexpected(first);
  reader.older_at_ = now;
  return reader;
}

tl::expected<std::span<const GpmReader::Value>, Return> GpmReader::read(core::Instant now) {
  if (now - older_at_ < kGpmGap) return std::span<const Value>{};
  const Return taken = take(newer_.get());
  if (taken != Return::success) return tl::unexpected(taken);
  request_->older = older_.get();
  request_->newer = newer_.get();
  std::swap(older_, newer_);
  older_at_ = now;
  const Return computed = call(library_->functions().gpm_metrics, request_.get());
  if (computed != Return::success) return tl::unexpected(computed);
  for (std::size_t i = 0; i < kGpm.size(); ++i)
    values_[i] = {kGpm[i].metric, request_->metrics[i].code, request_->metrics[i].value};
  return std::span<const Value>(values_.data(), kGpm.size());
}

}  // namespace gradwatt::nvml

#include "gradwatt/ingest/kineto/trace_facts.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "gradwatt/ingest/fact_list.hpp"
#include "gradwatt/ingest/kineto/breakdown.hpp"
#include "gradwatt/ingest/kineto/collectives.hpp"
#include "gradwatt/ingest/kineto/copies.hpp"
#include "gradwatt/ingest/kineto/host_time.hpp"
#include "gradwatt/ingest/kineto/idle_split.hpp"
#include "gradwatt/ingest/kineto/launches.hpp"

namespace gradwatt::ingest::kineto {
namespace {

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }
double ratio(std::int64_t part, std::int64_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

class TraceFacts {
 public:
  TraceFacts(const Trace& trace, const StepWindow& window, std::int64_t rank, const std::string& source)
      : trace_(trace), window_(window), traits_(traits_of(trace.kernels)), rank_(rank_subject(rank)), facts_(source) {
    const auto whole = trace.last_ns.value_or(0) - trace.first_ns.value_or(0);
    if (whole > 0) coverage_ = std::min(1.0, ratio(window.host.length(), whole));
  }

  std::vector<record::Fact> collect() {
    job();
    steps();
    if (window_.has_device()) {
      device_time();
      kernels();
      copies();
    }
    host_time();
    communication();
    return facts_.take();
  }

 private:
  template <class Value>
  void add(std::string_view name, std::string subject, Value value) {
    facts_.add(name, std::move(subject), value, 0).coverage = coverage_;
  }
  void add(std::string_view name, double value) { add(name, rank_, value); }

  /// Of something counted over all steps; nothing where the trace has none.
  [[nodiscard]] std::optional<double> per_step(double value) const {
    if (window_.steps.empty()) return std::nullopt;
    return value / static_cast<double>(window_.steps.size());
  }
  void add_per_step(std::string_view name, double value) {
    if (const auto mean = per_step(value)) add(name, *mean);
  }

  void job() {
    if (trace_.world_size) add("job.world_size", "job", static_cast<double>(*trace_.world_size));
    if (!trace_.backend.empty()) add("job.backend", "job", std::string_view(trace_.backend));
    if (!trace_.nccl_version.empty()) add("comm.nccl_version", "job", std::string_view(trace_.nccl_version));
    if (const auto model = model_in_use()) add("gpu.name", "job", std::string_view(*model));
  }

  /// The device that worked, the first of several; where none did, what all are.
  [[nodiscard]] std::optional<std::string> model_in_use() const {
    for (NameId track = 0; track < trace_.tracks.size(); ++track) {
      const auto& text = trace_.tracks.text(track);  // "GPU 0 stream 7"
      std::size_t device = 0, at = 4;
      for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && device < trace_.device_models.size(); ++at)
        device = device * 10 + static_cast<std::size_t>(text[at] - '0');
      if (at > 4 && device < trace_.device_models.size() && !trace_.device_models[device].empty())
        return trace_.device_models[device];
    }
    const auto& models = trace_.device_models;
    const bool alike = std::ranges::adjacent_find(models, std::ranges::not_equal_to()) == models.end();
    return !models.empty() && alike && !models.front().empty() ? std::optional(models.front()) : std::nullopt;
  }

  void steps() {
    if (window_.steps.empty()) return;
    add("trace.steps", static_cast<double>(window_.steps.size()));
    add("trace.window_s", seconds(window_.host.length()));
  }

  void device_time() {
    parts_ = break_down(activity_of(window_.work, traits_), window_.device);
    if (parts_.window_ns <= 0) return;
    add("trace.compute_share", parts_.share(parts_.compute_ns));
    add("trace.non_compute_share", parts_.share(parts_.non_compute_ns));
    add("trace.idle_share", parts_.share(parts_.idle_ns));
    add("trace.copy_exposed_share", parts_.share(parts_.copies_exposed_ns));
    const auto idle = split_idle(window_.work, window_.device);
    if (idle.total() <= 0) return;
    add("trace.idle_host_wait_share", ratio(idle.host_wait_ns, idle.total()));
    add("trace.idle_kernel_wait_share", ratio(idle.kernel_wait_ns, idle.total()));
    add("trace.idle_other_share", ratio(idle.other_ns, idle.total()));
  }

  void kernels() {
    std::array<double, kKernelClasses> by_class{};
    double sum = 0, matrix = 0, tensor = 0;
    std::vector<std::int64_t> lengths;
    for (const auto& event : window_.work) {
      if (event.work != Work::kernel) continue;
      const auto& traits = traits_[event.name];
      const auto length = event.end_ns - event.begin_ns;
      lengths.push_back(length);
      const auto time = static_cast<double>(length);
      by_class.at(static_cast<std::size_t>(traits.kernel_class)) += time;
      sum += time;
      if (traits.multiplies_matrices()) matrix += time;
      if (traits.tensor_cores) tensor += time;
    }
    add_per_step("trace.kernels_per_step", static_cast<double>(lengths.size()));
    if (const auto middle = median(lengths)) add("trace.kernel_median_s", seconds(*middle));
    if (sum <= 0) return;
    for (std::size_t i = 0; i < kKernelClasses; ++i)
      if (by_class.at(i) > 0)
        add("trace.kernel_class_share", std::string(name_of(static_cast<KernelClass>(i))), by_class.at(i) / sum);
    add("trace.layout_change_share", by_class.at(static_cast<std::size_t>(KernelClass::layout)) / sum);
    if (matrix > 0) add("trace.tensor_core_share", tensor / matrix);
    if (const auto launches = launches_of(window_.work)) {
      add("trace.launch_queue_median", launches->queue_median);
      add("trace.launch_delay_median_s", seconds(launches->delay_median_ns));
    }
  }

  void copies() {
    const auto copies = host_copies(window_.work, trace_.kernels);
    if (const auto share = copies.pageable_share()) add("trace.copy_pageable_share", *share);
    if (const auto rate = copies.rate()) add("trace.copy_h2d_bytes_per_s", *rate);
  }

  void host_time() {
    const auto length = window_.host.length();
    if (length <= 0) return;
    if (const auto waits = loader_waits(window_)) add("trace.loader_share", ratio(total_ns(*waits), length));
    if (loads_without_workers(window_, trace_.calls)) add("loader.workers", 0);
    if (window_.has_device()) {
      const auto waits = device_waits(window_);
      add_per_step("trace.sync_calls_per_step", static_cast<double>(waits.calls));
      add("trace.sync_share", ratio(total_ns(waits.time), length));
      add_per_step("trace.allocations_per_step", static_cast<double>(allocations(window_)));
    }
    if (const auto vary = shapes_vary(window_)) add("trace.shapes_vary", *vary ? 1.0 : 0.0);
  }

  void communication() {
    if (lacks_collectives(trace_, window_)) return;
    const auto all = collectives_of(window_, traits_);
    add_per_step("comm.collectives_per_step", static_cast<double>(all.count));
    if (all.bytes && all.count > 0) add_per_step("comm.bytes_per_step", static_cast<double>(*all.bytes));
    if (all.count > 0) add("trace.comm_s", per_step(all.time_ns).value_or(all.time_ns) * 1e-9);
    if (!window_.has_device() || all.on_host || parts_.window_ns <= 0) return;
    add("trace.comm_share", parts_.share(parts_.communication_ns));
    add("trace.comm_exposed_share", parts_.share(parts_.communication_exposed_ns));
    if (parts_.communication_ns > 0)
      add("trace.comm_overlap_share", 1 - ratio(parts_.communication_exposed_ns, parts_.communication_ns));
  }

  const Trace& trace_;
  const StepWindow& window_;
  std::vector<KernelTraits> traits_;
  std::string rank_;
  std::optional<double> coverage_;
  Breakdown parts_;
  FactList facts_;
};

}  // namespace

std::string rank_subject(std::int64_t rank) { return "rank " + std::to_string(rank); }

bool lacks_collectives(const Trace& trace, const StepWindow& window) {
  return trace.world_size.value_or(1) > 1 && collectives_of(window, traits_of(trace.kernels)).count == 0;
}

std::vector<record::Fact> facts_of(const Trace& trace, const StepWindow& window, std::int64_t rank,
                                   const std::string& source) {
  return TraceFacts(trace, window, rank, source).collect();
}

}  // namespace gradwatt::ingest::kineto

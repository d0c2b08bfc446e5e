#include "wish_to_request.hpp"

#include <fmt/format.h>

#include "gradwatt/simulation/calibration.hpp"

namespace gradwatt::app {
namespace {

/// Of a pass forward and backward where nothing tells them apart: the backward pass has twice the products.
constexpr double kForwardShare = 1.0 / 3;

void set_compute(const SimulateWish& wish, simulation::Job& job) {
  if (!wish.compute_s) return;
  const double told = job.forward_s + job.backward_s + job.optimizer_s;
  if (told > 0) {
    const double factor = *wish.compute_s / told;
    job.forward_s *= factor, job.backward_s *= factor, job.optimizer_s *= factor;
    return;
  }
  job.forward_s = kForwardShare * *wish.compute_s;
  job.backward_s = *wish.compute_s - job.forward_s;
}

core::Result<void> set_strategy(const SimulateWish& wish, simulation::Job& job) {
  const auto strategy = simulation::strategy_by_name(wish.strategy.empty() ? "two-level" : wish.strategy);
  if (!strategy) return core::fail(core::Errc::wrong_use, "simulate: --strategy: " + strategy.error().message);
  using enum simulation::StrategyKind;
  job.strategy = *strategy;
  const bool periodic = strategy->kind == daso || strategy->kind == local_sgd;
  const bool waits = strategy->kind == daso || strategy->kind == stale;
  if (wish.period && !periodic)
    return core::fail(core::Errc::wrong_use, "simulate: --period belongs to --strategy daso or local-sgd");
  if (wish.wait && !waits)
    return core::fail(core::Errc::wrong_use, "simulate: --wait belongs to --strategy daso or async");
  if (wish.compress_gbyte_per_s && strategy->kind != one_bit)
    return core::fail(core::Errc::wrong_use, "simulate: --compress-gbyte-per-s belongs to --strategy one-bit");
  job.strategy.period = wish.period.value_or(job.strategy.period);
  job.strategy.wait = wish.wait.value_or(job.strategy.wait);
  job.compress_bytes_per_s = wish.compress_gbyte_per_s.value_or(0) * 1e9;
  return {};
}

void set_gradients(const SimulateWish& wish, Prepared& prepared) {
  auto& job = prepared.request.job;
  if (wish.gradient_bytes) {
    job.gradient_bytes = *wish.gradient_bytes;
    job.pieces = simulation::usual_pieces(job.gradient_bytes);
    if (!wish.overlap && wish.from.empty()) {
      job.overlap = simulation::usual_overlap(job.gradient_bytes);
      prepared.notes.push_back(
          fmt::format("{:.0f} % of the gradients may travel during the backward pass: all of "
                      "PyTorch's buckets but the last (--overlap)",
                      100 * job.overlap));
    }
  }
  if (wish.overlap) job.overlap = *wish.overlap;
}

void note_watts_of_tables(const planning::Node& usual, std::vector<std::string>& notes) {
  if (usual.gpu_idle_w_from_catalog)
    notes.push_back(fmt::format("an idle GPU draws {:.0f} W (table of GPUs; gpu_idle_w)", usual.gpu_w.idle_w));
  if (usual.cpu_w_from_catalog)
    notes.push_back(fmt::format("a CPU draws {:.0f} W (from its TDP at a quarter of its load; cpu_w)", *usual.cpu_w));
}

}  // namespace

core::Result<Prepared> prepare(const SimulateWish& wish, planning::Cluster cluster, const record::Run* from) {
  Prepared prepared;
  if (from != nullptr) {
    auto calibrated = simulation::calibrate(*from);
    if (!calibrated)
      return core::fail(calibrated.error().code,
                        fmt::format("simulate: {}: {}", wish.from, calibrated.error().message));
    if (!calibrated->gradients_known && !wish.gradient_bytes)
      return core::fail(core::Errc::unusable_input,
                        fmt::format("simulate: {} does not tell how many bytes of gradients a rank exchanges; give "
                                    "--gradient-bytes (4 a parameter)",
                                    wish.from));
    prepared = {.request = {.job = calibrated->job},
                .model = calibrated->model,
                .local_batch = calibrated->local_batch,
                .exposed_share_of_run = calibrated->exposed_share,
                .notes = calibrated->notes};
  }
  auto& job = prepared.request.job;
  set_compute(wish, job);
  if (wish.data_wait_s) job.data_wait_s = *wish.data_wait_s;
  set_gradients(wish, prepared);
  if (auto good = set_strategy(wish, job); !good) return core::fail(good.error());
  if (wish.local_batch) prepared.local_batch = *wish.local_batch;
  note_watts_of_tables(cluster.kinds.front(), prepared.notes);
  prepared.request.cluster = std::move(cluster);
  prepared.request.steps = wish.steps;
  prepared.request.every_step = wish.every_step;
  return prepared;
}

}  // namespace gradwatt::app

#include "gradwatt/training/strategies/daso_schedule.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace gradwatt::training {
namespace {

constexpr std::int64_t kFirstSkips = 4;
// The loss stalls when more than this many epochs in a row have not improved the best by this share.
constexpr std::int64_t kPatience = 2;
constexpr double kThreshold = 0.05;

}  // namespace

DasoSchedule::DasoSchedule(Options options) : options_(options), skips_(std::min(kFirstSkips, options.most_skips)) {}

bool DasoSchedule::skips(std::int64_t epoch, std::int64_t epochs) const {
  return epoch >= options_.warmup_epochs && epoch < epochs - options_.cooldown_epochs;
}

planning::Daso DasoSchedule::plan() const {
  return {.global_skips = static_cast<int>(skips_),
          .batches_to_wait = static_cast<int>(wait_),
          .local_skips = static_cast<int>(local_)};
}

planning::Daso DasoSchedule::plan(std::int64_t epoch, std::int64_t epochs) const {
  return skips(epoch, epochs) ? plan() : planning::Daso{.global_skips = 1, .batches_to_wait = 0, .local_skips = 1};
}

DasoSchedule::Decision DasoSchedule::decide(std::int64_t epoch, std::int64_t epochs, std::int64_t batch,
                                            std::int64_t batches, std::int64_t since_begin) const {
  const auto now = plan(epoch, epochs);
  Decision decision;
  decision.average_in_host = batch % now.local_skips == 0;
  if (batch + 1 >= batches || now.batches_to_wait == 0)
    decision.exchange = Exchange::wait;
  else if (batch % now.global_skips == 0)
    decision.exchange = Exchange::begin;
  decision.merge = since_begin >= 0 && (since_begin >= now.batches_to_wait || decision.exchange != Exchange::none);
  return decision;
}

void DasoSchedule::epoch_ended(std::int64_t epoch, std::int64_t epochs, double mean_loss) {
  if (!skips(epoch, epochs)) return;
  if (!any_ || mean_loss < best_ * (1 - kThreshold)) {
    any_ = true, best_ = mean_loss, bad_epochs_ = 0;
    return;
  }
  if (++bad_epochs_ <= kPatience) return;
  bad_epochs_ = 0;
  if (skips_ > 1) {
    skips_ /= 2, local_ = std::max<std::int64_t>(1, local_ / 2), wait_ = std::max<std::int64_t>(1, wait_ - 1);
  } else {
    skips_ = options_.most_skips;
    local_ = wait_ = std::max<std::int64_t>(1, skips_ / 4);
  }
}

torch::Tensor DasoSchedule::state() const {
  const auto number = [](auto value) { return static_cast<double>(value); };
  return at::tensor({number(skips_), number(wait_), number(local_), best_, number(bad_epochs_), number(any_)},
                    at::kDouble);
}

void DasoSchedule::set_state(const torch::Tensor& state) {
  const auto number = [&](std::int64_t i) { return state[i].item<double>(); };
  const auto count = [&](std::int64_t i) { return static_cast<std::int64_t>(number(i)); };
  skips_ = count(0), wait_ = count(1), local_ = count(2), best_ = number(3), bad_epochs_ = count(4);
  any_ = count(5) != 0;
}

void merge_stale(const torch::Tensor& own, const torch::Tensor& sum, std::int64_t batches_waited, std::int64_t hosts) {
  const double weight = 2.0 * static_cast<double>(batches_waited), all = weight + static_cast<double>(hosts);
  own.mul_(weight / all).add_(sum, 1 / all);
}

}  // namespace gradwatt::training

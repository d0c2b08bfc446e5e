#include "gradwatt/diagnosis/live_window.hpp"

#include <algorithm>
#include <limits>

namespace gradwatt::diagnosis {
namespace {

/// Dropping rows moves the rest: not at every row.
constexpr std::int64_t kForgetEvery_ns = 10'000'000'000;

template <class T>
void drop_front(std::vector<T>& values, std::size_t n) {
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n));
}

void drop_before(record::DeviceSeries& series, std::int64_t time_ns) {
  const auto n = static_cast<std::size_t>(std::ranges::lower_bound(series.time_ns, time_ns) - series.time_ns.begin());
  if (n == 0) return;
  drop_front(series.time_ns, n);
  for (auto& column : series.columns) drop_front(column.values, n);
}

}  // namespace

void LiveWindow::add_device(record::DeviceIndex index, const record::Device& device) {
  const auto i = number(index);
  if (run_.devices.size() <= i) {
    run_.devices.resize(i + 1, record::Device{.kind = record::DeviceKind::job});
    known_.resize(i + 1, false);
  }
  run_.devices[i] = device;
  if (known_[i]) return;
  known_[i] = true;
  record::DeviceSeries series{.device = index};
  for (const auto id : columns_)
    if (record::info(id).kind == device.kind) series.column(id);
  run_.series.push_back(std::move(series));
}

void LiveWindow::add_row(const record::Row& row) {
  const auto i = number(row.device);
  if (i >= known_.size() || !known_[i] || run_.devices[i].kind != row.kind) return;
  auto& series = *std::ranges::find(run_.series, row.device, &record::DeviceSeries::device);
  series.time_ns.push_back(row.time_ns);
  for (auto& column : series.columns) column.values.push_back(row.values[record::slot(column.metric)]);
  now_ns_ = std::max(now_ns_, row.time_ns);
  forget_old();
}

void LiveWindow::add_mark(const record::Mark& mark) {
  if (mark.kind == record::MarkKind::step) run_.marks.push_back(mark);
  now_ns_ = std::max(now_ns_, mark.end_ns);
  forget_old();
}

void LiveWindow::forget_old() {
  if (now_ns_ - forgotten_ns_ < kForgetEvery_ns) return;
  forgotten_ns_ = now_ns_;
  const auto oldest = now_ns_ - horizon_ns_;
  for (auto& series : run_.series) drop_before(series, oldest);
  std::erase_if(run_.marks, [&](const record::Mark& mark) { return mark.end_ns < oldest; });
}

std::vector<Trigger> LiveWindow::evaluate() const {
  auto begin = std::numeric_limits<std::int64_t>::max();
  for (const auto& series : run_.series)
    if (!series.time_ns.empty()) begin = std::min(begin, series.time_ns.front());
  for (const auto& mark : run_.marks) begin = std::min(begin, mark.begin_ns);
  if (begin >= now_ns_) return {};
  return diagnosis::evaluate(run_, {begin, now_ns_});
}

std::size_t LiveWindow::rows() const {
  std::size_t sum = 0;
  for (const auto& series : run_.series) sum += series.size();
  return sum;
}

}  // namespace gradwatt::diagnosis

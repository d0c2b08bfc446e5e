// A sink that remembers everything it was given, as a Run.
#pragma once

#include <mutex>

#include "gradwatt/record/sink.hpp"

namespace gradwatt::doubles {

class RecordingSink final : public record::Sink {
 public:
  void add_device(record::DeviceIndex index, const record::Device& device) override {
    const std::lock_guard lock(mutex_);
    if (run_.devices.size() <= record::number(index)) run_.devices.resize(record::number(index) + 1);
    run_.devices[record::number(index)] = device;
  }
  void add_row(record::Row row) override {
    const std::lock_guard lock(mutex_);
    auto* series = series_of(row.device);
    series->time_ns.push_back(row.time_ns);
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      const auto metric = record::metric_at(row.kind, i);
      if (row.values[i] != record::kMissing) series->column(metric);
    }
    for (auto& column : series->columns) {
      column.values.resize(series->time_ns.size(), record::kMissing);
      column.values.back() = row.values[record::slot(column.metric)];
    }
  }
  void add_mark(record::Mark mark) override { locked([&](auto& run) { run.marks.push_back(std::move(mark)); }); }
  void add_event(record::Event event) override { locked([&](auto& run) { run.events.push_back(std::move(event)); }); }
  void add_fact(record::Fact fact) override { locked([&](auto& run) { run.facts.push_back(std::move(fact)); }); }
  void set_quality(const record::SeriesQuality& quality) override {
    locked([&](auto& run) {
      for (auto& q : run.quality)
        if (q.device == quality.device && q.metric == quality.metric) return void(q = quality);
      run.quality.push_back(quality);
    });
  }
  void set_meta(std::string_view key, std::string value) override {
    locked([&](auto& run) { run.set(key, std::move(value)); });
  }

  [[nodiscard]] record::Run run() const {
    const std::lock_guard lock(mutex_);
    return run_;
  }

 private:
  template <class Change>
  void locked(Change change) {
    const std::lock_guard lock(mutex_);
    change(run_);
  }
  record::DeviceSeries* series_of(record::DeviceIndex device) {
    for (auto& s : run_.series)
      if (s.device == device) return &s;
    run_.series.push_back({device, {}, {}});
    return &run_.series.back();
  }
  mutable std::mutex mutex_;  // guards run_
  record::Run run_;
};

}  // namespace gradwatt::doubles

// A tap between sampler and writer: what passes also feeds the triggers of the live view.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "gradwatt/diagnosis/live_window.hpp"
#include "gradwatt/record/sink.hpp"

namespace gradwatt::app {

class LiveFeed final : public record::Sink {
 public:
  explicit LiveFeed(record::Sink& next) : next_(next) {}

  void add_device(record::DeviceIndex index, const record::Device& device) override {
    look([&](auto& window) { window.add_device(index, device); });
    next_.add_device(index, device);
  }
  void add_row(record::Row row) override {
    look([&](auto& window) { window.add_row(row); });
    next_.add_row(std::move(row));
  }
  void add_mark(record::Mark mark) override {
    look([&](auto& window) { window.add_mark(mark); });
    next_.add_mark(std::move(mark));
  }
  void add_event(record::Event event) override { next_.add_event(std::move(event)); }
  void add_fact(record::Fact fact) override { next_.add_fact(std::move(fact)); }
  void set_quality(const record::SeriesQuality& quality) override { next_.set_quality(quality); }
  void set_meta(std::string_view key, std::string value) override { next_.set_meta(key, std::move(value)); }

  [[nodiscard]] std::vector<diagnosis::Trigger> alerts() const {
    const std::lock_guard lock(mutex_);
    return window_.evaluate();
  }

 private:
  template <class Change>
  void look(Change change) {
    const std::lock_guard lock(mutex_);
    change(window_);
  }
  record::Sink& next_;
  mutable std::mutex mutex_;  // guards window_
  diagnosis::LiveWindow window_;
};

}  // namespace gradwatt::app

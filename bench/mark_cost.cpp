// What a mark costs a C or C++ training program, and what reading it costs gradwatt.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "gradwatt/launch/marks/mark_reader.hpp"
#include "gradwatt/launch/marks/mark_ring.h"

namespace {

using gradwatt::launch::marks::RingReader;

/// A ring in a private folder of /dev/shm, as `gradwatt run` makes it.
class Ring {
 public:
  Ring() {
    std::string pattern = "/dev/shm/gw-bench-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    ::setenv("GRADWATT_MARKS", folder_.c_str(), 1);
    marks_ = gradwatt_marks_open();
  }
  ~Ring() {
    gradwatt_marks_close(marks_);
    std::filesystem::remove_all(folder_);
  }
  [[nodiscard]] gradwatt_marks* marks() const { return marks_; }
  [[nodiscard]] std::filesystem::path file() const { return *std::filesystem::directory_iterator(folder_); }

 private:
  std::filesystem::path folder_;
  gradwatt_marks* marks_ = nullptr;
};

void write_step(benchmark::State& state) {
  const Ring ring;
  const int64_t phases[GRADWATT_MARKS_PHASES] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (auto _ : state) gradwatt_step(ring.marks(), gradwatt_marks_now(), gradwatt_marks_now(), 64, phases);
}
BENCHMARK(write_step);

void write_region(benchmark::State& state) {
  const Ring ring;
  for (auto _ : state) gradwatt_region_end(ring.marks(), "validation", gradwatt_region_begin());
}
BENCHMARK(write_region);

void write_step_outside_gradwatt(benchmark::State& state) {
  for (auto _ : state) gradwatt_step(nullptr, gradwatt_marks_now(), gradwatt_marks_now(), 64, nullptr);
}
BENCHMARK(write_step_outside_gradwatt);

void poll_idle_ring(benchmark::State& state) {
  const Ring ring;
  auto reader = RingReader::open(ring.file()).value();
  for (auto _ : state) benchmark::DoNotOptimize(reader.poll());
}
BENCHMARK(poll_idle_ring);

void poll_thousand_marks(benchmark::State& state) {
  const Ring ring;
  auto reader = RingReader::open(ring.file()).value();
  for (auto _ : state) {
    state.PauseTiming();
    for (int i = 0; i < 1000; ++i) gradwatt_step(ring.marks(), i, i, 64, nullptr);
    state.ResumeTiming();
    benchmark::DoNotOptimize(reader.poll());
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(poll_thousand_marks);

}  // namespace

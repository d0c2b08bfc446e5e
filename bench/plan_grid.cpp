// What a plan over a large grid costs: 10 080 settings, with limits, front, choice and reasons. Aim: under 0.1 s.
#include <benchmark/benchmark.h>

#include "gradwatt/planning/plan/plan.hpp"
#include "gradwatt/planning/plan/preset_job.hpp"

namespace {

using namespace gradwatt::planning;

Question large() {
  const auto preset = preset_job(**find_preset("resnet50-a100"));
  Question out;
  auto& axes = out.axes;
  for (double n = 1; n <= 4096; n *= 2) axes.gpus.push_back(n);  // 13, and one more that divides nothing
  axes.gpus.push_back(48);
  for (double n = 8; n <= 512; n *= 2) axes.batches.push_back({BatchRule::local, n});
  for (double n = 256; n <= 65536; n *= 2) axes.batches.push_back({BatchRule::global, n});
  axes.accumulation = {1, 2, 4};
  axes.data = {{false, 1281167}, {false, 320292}, {true, 5004}, {true, 80072}, {false, 2e6}};
  axes.gpus_per_node = 4;
  for (const auto* name : {"a", "b", "c"}) axes.hardware.push_back({.name = name, .job = preset->job});
  out.limits.deadline_s = 8 * 3600;
  out.good_batches = preset->good_batches;
  out.limits.most_risk = 0;
  return out;
}

void plan_of_ten_thousand(benchmark::State& state) {
  const auto question = large();
  std::size_t settings = 0, front = 0;
  for (auto _ : state) {
    const auto plan = make_plan(question);
    settings = plan->grid.candidates.size();
    front = plan->front.size();
    benchmark::DoNotOptimize(settings);
  }
  state.counters["settings"] = static_cast<double>(settings);
  state.counters["front"] = static_cast<double>(front);
}
BENCHMARK(plan_of_ten_thousand)->Unit(benchmark::kMillisecond);

}  // namespace

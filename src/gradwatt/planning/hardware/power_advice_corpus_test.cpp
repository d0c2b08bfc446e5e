// The advice on the power traces of Zeus (NSDI 2023): loads that are left alone save less than loads that are told to
// try caps, when the advised caps are looked up in the traces.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "gradwatt/core/text.hpp"
#include "gradwatt/planning/hardware/power_advice.hpp"

namespace gradwatt::planning {
namespace {

struct Point {
  double time = 0, power_w = 0;
};
using Sweep = std::map<double, Point>;                         // by cap in W
using Traces = std::map<std::tuple<std::string, int>, Sweep>;  // by network and batch

/// The first row of each network, batch and cap: optimizers hardly differ.
Traces read_traces(const std::string& file) {
  Traces traces;
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);  // dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power
  while (std::getline(in, line)) {
    const auto cells = core::split(line, ',');
    if (cells.size() < 7) continue;
    const auto number = [&](std::size_t i) { return std::stod(std::string(cells[i])); };
    traces[{std::string(cells[1]), static_cast<int>(number(2))}].try_emplace(number(4), Point{number(5), number(6)});
  }
  return traces;
}

/// Most energy saved by any traced cap not below the floor that costs at most 5 % of time; 0: none does. The best of
/// several noisy points: a load that does not respond shows about 5 % too.
double saving(const Sweep& sweep, double floor_w) {
  const auto& full = sweep.rbegin()->second;
  double best = 0;
  for (const auto& [cap, point] : sweep)
    if (cap >= floor_w && point.time <= 1.05 * full.time)
      best = std::max(best, 1 - point.time * point.power_w / (full.time * full.power_w));
  return best;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

TEST(PowerAdviceOnZeusTraces, CapsSaveWhereTheyAreAdvisedAndHardlyWhereNot) {
  const char* corpus = std::getenv("GRADWATT_CORPUS");
  if (corpus == nullptr || *corpus == '\0') GTEST_SKIP() << "GRADWATT_CORPUS is not set";
  struct Card {
    const char *file, *gpu;
  };
  for (const auto& [file, name] : {Card{"v100", "V100 PCIe 16GB"}, Card{"a40", "A40"}}) {
    const auto& gpu = *catalog::find_gpu(name);
    std::vector<double> tried, left_alone;
    for (const auto& [job, sweep] :
         read_traces(std::string(corpus) + "/planner/zeus-nsdi23-trace/summary_power_" + file + ".csv")) {
      // Means only are published: the load is taken as steady.
      const double watts = sweep.rbegin()->second.power_w;
      const auto advice =
          advise_power({.profile = energy::PowerProfile{.mean_w = watts, .p5_w = watts, .p95_w = watts}}, gpu);
      const double saved = saving(sweep, advice.floor_w);
      if (advice.kind == PowerAdviceKind::try_caps) tried.push_back(saved);
      if (advice.kind == PowerAdviceKind::none) left_alone.push_back(saved);
    }
    const std::string found = std::string(name) + ": " + std::to_string(tried.size()) + " tried, median saving " +
                              std::to_string(median(tried)) + "; " + std::to_string(left_alone.size()) +
                              " left alone, " + std::to_string(median(left_alone));
    std::cout << found << '\n';
    ASSERT_GT(tried.size(), 10u);
    ASSERT_GT(left_alone.size(), 5u);
    EXPECT_GT(median(tried), median(left_alone)) << found;
  }
}

}  // namespace
}  // namespace gradwatt::planning

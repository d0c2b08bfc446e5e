#include "gradwatt/simulation/simulate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <string_view>

#include "gradwatt/simulation/own_process.hpp"
#include "gradwatt/simulation/platform.hpp"
#include "gradwatt/simulation/play.hpp"
#include "gradwatt/simulation/steady.hpp"
#include "gradwatt/simulation/training_job.hpp"

namespace gradwatt::simulation {
namespace {

static_assert(sizeof(NodeStep) % sizeof(double) == 0);
constexpr std::size_t kNumbersAStep = sizeof(NodeStep) / sizeof(double), kHead = 2;

std::vector<double> to_numbers(const Outcome& outcome) {
  std::vector<double> numbers(kHead + outcome.steps.size() * kNumbersAStep);
  numbers[0] = outcome.simulated_steps;
  numbers[1] = static_cast<double>(outcome.messages);
  std::memcpy(numbers.data() + kHead, outcome.steps.data(), outcome.steps.size() * sizeof(NodeStep));
  return numbers;
}

Outcome from_numbers(const std::vector<double>& numbers, int nodes) {
  Outcome outcome{.nodes = nodes,
                  .simulated_steps = static_cast<int>(numbers[0]),
                  .messages = static_cast<std::int64_t>(numbers[1])};
  outcome.steps.resize((numbers.size() - kHead) / kNumbersAStep);
  std::memcpy(static_cast<void*>(outcome.steps.data()), numbers.data() + kHead,
              outcome.steps.size() * sizeof(NodeStep));
  return outcome;
}

core::Result<void> check(const Request& request) {
  const auto wrong = [](std::string text) { return core::fail(core::Errc::wrong_use, std::move(text)); };
  const auto& job = request.job;
  struct Given {
    std::string_view name;
    double value;
  };
  for (const auto& [name, value] : {Given{"data wait", job.data_wait_s}, Given{"forward time", job.forward_s},
                                    Given{"backward time", job.backward_s}, Given{"optimizer time", job.optimizer_s},
                                    Given{"gradient bytes", job.gradient_bytes}})
    if (!(value >= 0) || !std::isfinite(value)) return wrong(fmt::format("{} = {} makes no sense", name, value));
  if (job.forward_s + job.backward_s + job.optimizer_s <= 0) return wrong("a step that computes nothing has no time");
  if (!(job.overlap >= 0 && job.overlap <= 1))
    return wrong(fmt::format("overlap = {} is no share from 0 to 1", job.overlap));
  if (request.steps < 1) return wrong(fmt::format("{} steps make no sense", request.steps));
  const auto& strategy = job.strategy;
  if (strategy.period < 1 || strategy.wait < 0)
    return wrong(fmt::format("a period of {} and a wait of {} make no sense", strategy.period, strategy.wait));
  if (strategy.kind == StrategyKind::daso && strategy.wait >= strategy.period)
    return wrong(fmt::format("daso waits fewer steps ({}) than pass between two exchanges ({})", strategy.wait,
                             strategy.period));
  return {};
}

}  // namespace

core::Result<Outcome> simulate(const Request& request) {
  if (auto good = check(request); !good) return core::fail(good.error());
  const auto numbers = in_own_process([&] {
    Platform platform(request.cluster);
    TrainingJob job(request, platform);
    platform.engine().run();
    return to_numbers(job.outcome());
  });
  if (!numbers) return core::fail(numbers.error());
  auto outcome = from_numbers(*numbers, request.cluster.node_count());
  repeat_last_cycle(outcome, request.steps, request.job.strategy.period);
  return outcome;
}

core::Result<double> play_alone(const planning::Cluster& cluster, const Schedule& schedule) {
  if (schedule.members() > cluster.node_count())
    return core::fail(core::Errc::wrong_use,
                      fmt::format("{} members do not fit on {} nodes", schedule.members(), cluster.node_count()));
  const auto numbers = in_own_process([&] {
    Platform platform(cluster);
    Postage postage;
    double last_end_s = 0;
    for (int i = 0; i < schedule.members(); ++i)
      simgrid::s4u::Actor::create("member", platform.host(i), [&, i] {
        postage.play(schedule, i, {});
        last_end_s = std::max(last_end_s, simgrid::s4u::Engine::get_clock());
      });
    platform.engine().run();
    return std::vector{last_end_s};
  });
  if (!numbers) return core::fail(numbers.error());
  return numbers->front();
}

}  // namespace gradwatt::simulation

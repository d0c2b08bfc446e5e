#include "gradwatt/simulation/training_job.hpp"

namespace gradwatt::simulation {
namespace {

namespace s4u = simgrid::s4u;

/// Share of the backward pass after which the first gradients can leave: the first bucket of 1 MiB of 25 MiB and more
/// is full soon.
constexpr double kFirstGradients = 0.05;

double now() { return s4u::Engine::get_clock(); }

}  // namespace

TrainingJob::TrainingJob(const Request& request, Platform& platform)
    : request_(request),
      platform_(platform),
      exchanges_(exchanges_of(request.cluster, request.job)),
      nodes_(static_cast<std::size_t>(request.cluster.node_count())),
      steps_(nodes_.size()),
      watch_(request.cluster.node_count(), request.job.strategy.period) {
  for (int i = 0; i < request.cluster.node_count(); ++i) {
    auto* host = platform.host(i);
    const auto kind = request.cluster.kind_of[static_cast<std::size_t>(i)];
    auto& node = nodes_[static_cast<std::size_t>(i)];
    const auto communicator = [&](const std::optional<Exchange>& exchange) {
      return exchange ? std::make_unique<Communicator>(*exchange, postage_, host, i, kind) : nullptr;
    };
    node = {communicator(exchanges_.gradients), communicator(exchanges_.parameters)};
    s4u::Actor::create("node", host, [this, i] { train(i); });
  }
}

void TrainingJob::train(int node) {
  for (int step = 0; step < request_.steps && goes_on(step); ++step) run_step(node, step);
  auto& own = nodes_[static_cast<std::size_t>(node)];
  for (auto* communicator : {own.gradients.get(), own.parameters.get()})
    if (communicator != nullptr) communicator->close();
}

bool TrainingJob::goes_on(int step) {
  if (request_.every_step || step % request_.job.strategy.period != 0) return !stopped_;
  // Whoever ends the step at the same moment comes to tell it first.
  s4u::this_actor::yield();
  if (decided_at_ < step) {
    decided_at_ = step;
    stopped_ = watch_.steady();
  }
  return !stopped_;
}

double TrainingJob::compute(int node, double seconds) {
  if (seconds <= 0) return 0;
  platform_.set(node, Activity::busy);
  const double begin = now();
  s4u::this_actor::execute(seconds);
  return now() - begin;
}

double TrainingJob::wait(int node, Communicator& communicator, int pending) {
  platform_.set(node, Activity::comm);
  const double begin = now();
  communicator.wait_until_pending(pending);
  return now() - begin;
}

double TrainingJob::backward(int node) {
  const auto& job = request_.job;
  auto* gradients = nodes_[static_cast<std::size_t>(node)].gradients.get();
  const bool early = gradients != nullptr && job.overlap > 0 && job.strategy.kind != StrategyKind::one_bit;
  if (!early) {
    const double seconds = compute(node, job.backward_s);
    if (gradients != nullptr) gradients->begin(1, job.pieces);
    return seconds;
  }
  double seconds = compute(node, kFirstGradients * job.backward_s);
  gradients->begin(job.overlap, std::max(1, job.pieces - 1));
  seconds += compute(node, (1 - kFirstGradients) * job.backward_s);
  if (job.overlap < 1) gradients->begin(1 - job.overlap, 1);
  return seconds;
}

double TrainingJob::exchange_parameters(int node, int step) {
  auto* parameters = nodes_[static_cast<std::size_t>(node)].parameters.get();
  if (parameters == nullptr) return 0;
  const auto& strategy = request_.job.strategy;
  if ((step + 1) % strategy.period == 0) parameters->begin(1, request_.job.pieces);
  // Those that were begun `wait` steps ago are merged now.
  return (step + 1) % strategy.period == strategy.wait % strategy.period ? wait(node, *parameters, 0) : 0;
}

void TrainingJob::run_step(int node, int step) {
  const auto& job = request_.job;
  NodeStep done;
  if (job.data_wait_s > 0) {
    platform_.set(node, Activity::idle);
    s4u::this_actor::sleep_for(job.data_wait_s);
    done.data_wait_s = job.data_wait_s;
  }
  done.forward_s = compute(node, job.forward_s);
  done.backward_s = backward(node);
  if (auto* gradients = nodes_[static_cast<std::size_t>(node)].gradients.get()) {
    const bool stale = job.strategy.kind == StrategyKind::stale;
    const int begun_a_step = job.overlap > 0 && job.overlap < 1 ? 2 : 1;
    done.exposed_s = wait(node, *gradients, stale ? job.strategy.wait * begun_a_step : 0);
  }
  done.optimizer_s = compute(node, job.optimizer_s);
  done.exposed_s += exchange_parameters(node, step);
  done.end_s = now();
  done.node_energy_j = platform_.node_energy_j(node);
  done.link_energy_j = platform_.link_energy_j(node);
  steps_[static_cast<std::size_t>(node)].push_back(done);
  watch_.step_ended(step, done.end_s);
}

Outcome TrainingJob::outcome() const {
  Outcome outcome{.nodes = static_cast<int>(steps_.size())};
  outcome.simulated_steps = static_cast<int>(steps_.front().size());
  outcome.messages = static_cast<std::int64_t>(postage_.messages());
  for (std::size_t step = 0; step < steps_.front().size(); ++step)
    for (const auto& node : steps_) outcome.steps.push_back(node[step]);
  return outcome;
}

}  // namespace gradwatt::simulation

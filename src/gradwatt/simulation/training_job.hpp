// The actors of a training: one a node that goes through the steps, and its communicators. Private to this folder;
// lives inside one simulation's process.
#pragma once

#include <memory>
#include <vector>

#include "gradwatt/simulation/communicator.hpp"
#include "gradwatt/simulation/exchange.hpp"
#include "gradwatt/simulation/platform.hpp"
#include "gradwatt/simulation/play.hpp"
#include "gradwatt/simulation/simulate.hpp"
#include "gradwatt/simulation/steady.hpp"

namespace gradwatt::simulation {

class TrainingJob {
 public:
  /// Both outlive it. Creates the actors; the engine then runs them.
  TrainingJob(const Request& request, Platform& platform);
  /// After the run: the steps that were simulated.
  [[nodiscard]] Outcome outcome() const;

 private:
  struct Node {
    std::unique_ptr<Communicator> gradients, parameters;
  };
  void train(int node);
  void run_step(int node, int step);
  /// Seconds that computing waited.
  double wait(int node, Communicator& communicator, int pending);
  double compute(int node, double seconds);
  double backward(int node);
  double exchange_parameters(int node, int step);
  /// Same answer for all nodes.
  [[nodiscard]] bool goes_on(int step);

  const Request& request_;
  Platform& platform_;
  Exchanges exchanges_;
  Postage postage_;
  std::vector<Node> nodes_;
  std::vector<std::vector<NodeStep>> steps_;  ///< by node
  SteadyWatch watch_;
  int decided_at_ = -1;
  bool stopped_ = false;
};

}  // namespace gradwatt::simulation

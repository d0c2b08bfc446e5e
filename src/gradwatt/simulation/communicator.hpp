// A node's communication: takes exchanges one after the other, as a stream of collectives does, beside what the node
// computes. Private to this folder.
#pragma once

#include <simgrid/s4u.hpp>

#include <deque>
#include <optional>

#include "gradwatt/simulation/exchange.hpp"
#include "gradwatt/simulation/play.hpp"

namespace gradwatt::simulation {

class Communicator {
 public:
  /// `exchange` and `postage` outlive it. Its actor starts with the simulation.
  Communicator(const Exchange& exchange, Postage& postage, simgrid::s4u::Host* host, int node, std::size_t kind);

  /// Share of the exchange's bytes, in `pieces` messages a round. From the node's own actor.
  void begin(double share, int pieces);
  /// Blocks the calling actor until all but the last `pending` that were begun have ended.
  void wait_until_pending(int pending);
  /// Nothing more comes.
  void close();

 private:
  struct Order {
    double share = 1;
    int pieces = 1;
  };
  void run();
  void carry_out(const Order& order);

  const Exchange& exchange_;
  Postage& postage_;
  simgrid::s4u::Host* host_;
  int node_;
  std::size_t kind_;
  std::deque<std::optional<Order>> orders_;  ///< nothing: the end
  int begun_ = 0, awaited_ = 0;
  simgrid::s4u::SemaphorePtr ordered_, ended_;
};

}  // namespace gradwatt::simulation

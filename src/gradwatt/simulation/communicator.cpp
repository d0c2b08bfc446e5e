#include "gradwatt/simulation/communicator.hpp"

namespace gradwatt::simulation {

namespace s4u = simgrid::s4u;

Communicator::Communicator(const Exchange& exchange, Postage& postage, s4u::Host* host, int node, std::size_t kind)
    : exchange_(exchange),
      postage_(postage),
      host_(host),
      node_(node),
      kind_(kind),
      ordered_(s4u::Semaphore::create(0)),
      ended_(s4u::Semaphore::create(0)) {
  s4u::Actor::create("communicator", host_, [this] { run(); });
}

void Communicator::begin(double share, int pieces) {
  orders_.push_back(Order{share, pieces});
  ++begun_;
  ordered_->release();
}

void Communicator::wait_until_pending(int pending) {
  for (; begun_ - awaited_ > pending; ++awaited_) ended_->acquire();
}

void Communicator::close() {
  orders_.push_back(std::nullopt);
  ordered_->release();
}

void Communicator::run() {
  for (;;) {
    ordered_->acquire();
    const auto order = orders_.front();
    orders_.pop_front();
    if (!order) return;
    carry_out(*order);
    ended_->release();
  }
}

void Communicator::carry_out(const Order& order) {
  const auto sleep = [](double seconds) {
    if (seconds > 0) s4u::this_actor::sleep_for(seconds);
  };
  sleep(exchange_.before_s[kind_] * order.share);
  if (exchange_.schedule.members() > 1) {
    postage_.play(
        exchange_.schedule, node_,
        {.share = order.share, .more_latency_s = (order.pieces - 1) * exchange_.latency_s, .rate = exchange_.rate});
  }
  sleep(exchange_.after_s[kind_] * order.share);
}

}  // namespace gradwatt::simulation

// What asynchronous and periodic schemes exchange.
//
// Parameter server, W workers and S shards, full duplex: a worker pushes n bytes and pulls n bytes; all of them meet at
// the shards, which take W·n/S in and give as much out at the same time.
//
//   t(update of a worker) = max( 2(α + nβ),  2α + (W/S)nβ )
//
// Where every one of p ranks is worker and shard at once, of a p-th of the parameters, and header bytes h go before
// each push and each answer, a rank sends p − 1 pushes and p − 1 answers, one after the other:
//
//   t = 2(p−1)(α + (n/p + h)β)
//
// Local SGD: an all-reduce of parameters every H steps: 1/H of its cost a step. Post-local SGD: every step until the
// share f of the steps is done, then every H: f + (1 − f)/H.
//
// Sources: derived from the α–β model; Lin et al., "Don't Use Large Mini-Batches, Use Local SGD", 2018. Range: workers
// that do not wait for each other; what staleness does to convergence is no matter of cost.
#pragma once

#include "gradwatt/planning/collectives/cost.hpp"

namespace gradwatt::planning {

/// `messages` and `bytes`: that a worker sends and receives for one update.
[[nodiscard]] Traffic parameter_server_update(int workers, int shards, double bytes, const Level& level);

inline constexpr double kServerHeaderBytes = 16;  ///< rate and verdict of a push; version and count of an answer
[[nodiscard]] CollectiveCost sharded_parameter_server_update(const Shape& shape, double bytes, const Level& node,
                                                             const Level& rail);

/// Mean a step of an exchange that is made every `period` steps.
[[nodiscard]] CollectiveCost local_sgd_cost(const CollectiveCost& all_reduce, int period);

/// `synchronous_share`: of the steps, 0–1, that exchange every time.
[[nodiscard]] CollectiveCost post_local_sgd_cost(const CollectiveCost& all_reduce, int period,
                                                 double synchronous_share);

/// Seconds of an exchange that none of the `steps` that run beside it hides (stale gradients, applied so many steps
/// later).
[[nodiscard]] double stale_exposed_s(double exchange_s, int steps, double step_s);

}  // namespace gradwatt::planning

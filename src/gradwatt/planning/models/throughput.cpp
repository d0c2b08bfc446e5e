#include "gradwatt/planning/models/throughput.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gradwatt/energy/change_points.hpp"

namespace gradwatt::planning {
namespace {

enum Place : std::size_t {
  kGradFixed,
  kGradPerSample,
  kNetInside,
  kGrowthInside,
  kNetAcross,
  kGrowthAcross,
  kOverlapLessOne,
  kTwoNodes,
  kPlaces
};

/// Times are known to a factor of about 7 before they are measured: enough to let any measurement decide.
constexpr double kScaleSpread = 2;
/// Repeats of the Pollux traces scatter by 5 to 15 %; a quiet machine's by less.
constexpr double kExpectedScatter = 0.1;
/// Spread of T_net between placements of the same count, links and neighbours being different: repeats on the Pollux
/// clusters spread by tens of per cent where communication rules (planning model error, see header).
constexpr double kPlacementSpread = 0.15;
/// Of T_grad between machines of a kind, and of the slowest among many: 3–8 % on the same clusters.
constexpr double kMachineSpread = 0.06;
/// What the form itself may be wrong by, for each doubling of replicas beyond the largest number observed.
constexpr double kNetFormSpread = 0.1;
/// Likewise of T_grad for each doubling of the local batch outside the observed ones: kernels change with the batch.
constexpr double kGradientFormSpread = 0.05;
/// A batch this near to the only one that was seen takes about as long a sample.
constexpr double kSameBatch = 1.2;
constexpr double kLongest = 1e6, kShortest = 1e-9;

double net_s(std::span<const double> p, const StepLoad& load) {
  if (load.replicas < 2) return 0;
  const bool across = load.nodes > 1;
  const double moved = 2 * (load.replicas - 1) / load.replicas;
  const double grown = p[across ? kGrowthAcross : kGrowthInside] * std::log2(load.replicas / 2);
  const double crowded = load.nodes == 2 && load.replicas > 2 ? p[kTwoNodes] : 1;
  return p[across ? kNetAcross : kNetInside] * crowded * (moved + grown);
}

double gradient_s(std::span<const double> p, const StepLoad& load) {
  return load.gradient_factor * (p[kGradFixed] + p[kGradPerSample] * load.local_batch);
}

double overlapped(double gradient, double net, double gamma) {
  if (net <= 0) return gradient;
  // Scaled by the larger: powers of small times underflow.
  const double larger = std::max(gradient, net), smaller = std::min(gradient, net);
  return larger * std::pow(1 + std::pow(smaller / larger, gamma), 1 / gamma);
}

double step_s(std::span<const double> p, const StepLoad& load) {
  const double gradient = gradient_s(p, load);
  return (load.accumulation - 1) * gradient + overlapped(gradient, net_s(p, load), 1 + p[kOverlapLessOne]);
}

/// How much of a relative change of T_net reaches the step, 0–1.
double net_weight(std::span<const double> p, const StepLoad& load) {
  const double net = net_s(p, load);
  if (net <= 0) return 0;
  const double gradient = gradient_s(p, load), gamma = 1 + p[kOverlapLessOne];
  const double share = 1 / (1 + std::pow(gradient / net, gamma));
  return share * overlapped(gradient, net, gamma) / step_s(p, load);
}

double doublings_outside(double value, double low, double high) {
  if (value > high) return std::log2(value / high);
  return value < low ? std::log2(low / value) : 0;
}

/// Spread of the step's logarithm that no fit of these observations can show: other placements, and the form itself.
double form_spread(const ThroughputModel& model, const StepLoad& load) {
  const double weight = net_weight(model.fit.values, load);
  const double beyond = doublings_outside(load.replicas, 0, std::max(1.0, model.most_replicas));
  const double batch = doublings_outside(load.local_batch, model.smallest_batch, model.largest_batch);
  const double net = weight * std::hypot(kPlacementSpread, kNetFormSpread * beyond);
  return std::hypot(net, (1 - weight) * std::hypot(kMachineSpread, kGradientFormSpread * batch));
}

double pass_s(const StepObservation& o) { return (o.step_s - o.exposed_s.value_or(0)) / o.load.accumulation; }

std::vector<Parameter> parameters_of(std::span<const StepObservation> observations, const ThroughputPriors& priors) {
  std::vector<double> passes, batches;
  for (const auto& o : observations) {
    passes.push_back(pass_s(o));
    batches.push_back(o.load.local_batch);
  }
  const double pass = energy::median_of(passes), batch = energy::median_of(batches);
  const auto inside = priors.net_inside_s.value_or(Known{pass / 20, kScaleSpread});
  const auto across = priors.net_across_s.value_or(Known{pass / 2, kScaleSpread});
  std::vector<Parameter> out(kPlaces);
  out[kGradFixed] = {"fixed time of a pass", "s", pass / 3, kScaleSpread, kShortest, kLongest};
  out[kGradPerSample] = {"time of a sample", "s", pass / batch, kScaleSpread, kShortest / 1e3, kLongest};
  out[kNetInside] = {"exchange inside a node", "s", inside.value, inside.spread, kShortest, kLongest};
  out[kGrowthInside] = {"growth inside a node", "", priors.growth.value, priors.growth.spread, 1e-6, 100};
  out[kNetAcross] = {"exchange across nodes", "s", across.value, across.spread, kShortest, kLongest};
  out[kGrowthAcross] = {"growth across nodes", "", priors.growth.value, priors.growth.spread, 1e-6, 100};
  out[kOverlapLessOne] = {"overlap", "", 1.5, 1, 1e-3, 9};
  out[kTwoNodes] = {"crowding of two nodes", "", priors.two_nodes.value, priors.two_nodes.spread, 0.2, 10};
  return out;
}

core::Result<void> check(std::span<const StepObservation> observations) {
  if (observations.empty())
    return core::fail(core::Errc::unusable_input, "no step time to fit: a profile of at least one run is needed");
  for (const auto& o : observations) {
    const bool ok = o.load.replicas >= 1 && o.load.nodes >= 1 && o.load.nodes <= o.load.replicas * 1e6 &&
                    o.load.local_batch > 0 && o.load.accumulation >= 1 && o.step_s > 0 && std::isfinite(o.step_s) &&
                    pass_s(o) > 0;
    if (!ok)
      return core::fail(
          core::Errc::unusable_input,
          fmt::format(
              "a step of {} s on {} replicas and {} nodes with local batch {}, accumulation {} and {} s of waiting "
              "is no observation: times, batch and counts must be above zero, waiting shorter than the step",
              o.step_s, o.load.replicas, o.load.nodes, o.load.local_batch, o.load.accumulation,
              o.exposed_s.value_or(0)));
  }
  return {};
}

bool inside(const StepLoad& load) { return load.nodes == 1 && load.replicas > 1; }
bool across(const StepLoad& load) { return load.nodes > 1 && load.replicas > 1; }

}  // namespace

core::Result<ThroughputModel> fit_throughput(std::span<const StepObservation> observations,
                                             const ThroughputPriors& priors) {
  if (auto ok = check(observations); !ok) return core::fail(ok.error());
  const auto told = std::ranges::count_if(observations, [](const auto& o) { return o.exposed_s.has_value(); });
  Problem problem;
  problem.parameters = parameters_of(observations, priors);
  problem.observations = observations.size() + static_cast<std::size_t>(told);
  problem.expected_scatter = kExpectedScatter;
  problem.residuals = [observations](std::span<const double> p, std::span<double> r) {
    std::size_t at = 0;
    for (const auto& o : observations) {
      r[at++] = std::log(step_s(p, o.load) / o.step_s);
      if (o.exposed_s) r[at++] = std::log(gradient_s(p, o.load) / pass_s(o));
    }
  };
  auto found = fit(problem);
  if (!found) return core::fail(found.error());
  ThroughputModel out;
  out.fit = std::move(*found);
  out.smallest_batch = out.largest_batch = observations.front().load.local_batch;
  out.knows_inside = priors.net_inside_s.has_value();
  out.knows_across = priors.net_across_s.has_value();
  for (const auto& o : observations) {
    out.knows_inside |= inside(o.load);
    out.knows_across |= across(o.load);
    out.most_replicas = std::max(out.most_replicas, o.load.replicas);
    out.smallest_batch = std::min(out.smallest_batch, o.load.local_batch);
    out.largest_batch = std::max(out.largest_batch, o.load.local_batch);
  }
  out.knows_batch = out.smallest_batch < out.largest_batch;
  return out;
}

ThroughputModel throughput_of(const ThroughputParameters& parameters, double spread) {
  ThroughputModel out;
  out.fit.values.resize(kPlaces);
  auto& v = out.fit.values;
  v[kGradFixed] = parameters.grad_fixed_s;
  v[kGradPerSample] = parameters.grad_per_sample_s;
  v[kNetInside] = parameters.net_inside_s;
  v[kGrowthInside] = parameters.growth_inside;
  v[kNetAcross] = parameters.net_across_s;
  v[kGrowthAcross] = parameters.growth_across;
  v[kOverlapLessOne] = parameters.overlap - 1;
  v[kTwoNodes] = parameters.two_nodes;
  out.fit.prior_share.assign(kPlaces, 1);
  out.fit.covariance.assign(kPlaces * kPlaces, 0);
  for (std::size_t i = 0; i < kPlaces; ++i) out.fit.covariance[i * kPlaces + i] = spread * spread;
  out.fit.freedom = kScatterWeight;
  out.knows_batch = true;
  out.knows_inside = parameters.net_inside_s > 0;
  out.knows_across = parameters.net_across_s > 0;
  out.most_replicas = 1;
  out.smallest_batch = kShortest;
  out.largest_batch = kLongest;
  return out;
}

ThroughputParameters throughput_parameters(const ThroughputModel& model) {
  const auto& v = model.fit.values;
  return {v[kGradFixed], v[kGradPerSample], v[kNetInside],          v[kGrowthInside],
          v[kNetAcross], v[kGrowthAcross],  1 + v[kOverlapLessOne], v[kTwoNodes]};
}

ThroughputModel scaled(ThroughputModel model, double gradient, double exchange, double spread) {
  auto& v = model.fit.values;
  for (const auto place : {kGradFixed, kGradPerSample}) v[place] *= gradient;
  for (const auto place : {kNetInside, kNetAcross}) v[place] *= exchange;
  // One factor for both parts of a pass: they vary together.
  for (const auto row : {kGradFixed, kGradPerSample})
    for (const auto column : {kGradFixed, kGradPerSample})
      model.fit.covariance[row * kPlaces + column] += spread * spread;
  return model;
}

StepTime step_time(const ThroughputModel& model, const StepLoad& load) {
  const auto& p = model.fit.values;
  StepTime out;
  out.gradient_s = load.accumulation * gradient_s(p, load);
  const double without_input = step_s(p, load);
  out.exposed_s = std::max(0.0, without_input - out.gradient_s);
  out.step_s = without_input;
  if (model.loader_samples_per_s) {
    out.step_s = std::max(without_input, load.accumulation * load.local_batch / *model.loader_samples_per_s);
    out.input_s = out.step_s - without_input;
  }
  return out;
}

Figure step_figure(const ThroughputModel& model, const StepLoad& load) {
  const double input_s =
      model.loader_samples_per_s ? load.accumulation * load.local_batch / *model.loader_samples_per_s : 0;
  const auto step = [&load](std::span<const double> p) { return step_s(p, load); };
  auto out = figure_of(model.fit, step, form_spread(model, load));
  out.value = std::max(out.value, input_s);
  out.low90 = std::max(out.low90, input_s);
  out.high90 = std::max(out.high90, input_s);
  return out;
}

std::optional<std::string> gap_of(const ThroughputModel& model, const StepLoad& load) {
  if (inside(load) && !model.knows_inside)
    return "no run shows what averaging of gradients inside a node costs; profile two GPUs of one node, or describe "
           "their "
           "link";
  if (across(load) && !model.knows_across)
    return "no run shows what averaging of gradients across nodes costs; profile two nodes, or describe their link";
  const double batch = load.local_batch / std::max(kShortest, model.largest_batch);
  if (!model.knows_batch && (batch > kSameBatch || batch < 1 / kSameBatch))
    return fmt::format("all runs had local batch {:g}, which does not show what {:g} would take; profile a second one",
                       model.largest_batch, load.local_batch);
  return std::nullopt;
}

}  // namespace gradwatt::planning

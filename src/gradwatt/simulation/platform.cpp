#include "gradwatt/simulation/platform.hpp"

#include <fmt/format.h>
#include <simgrid/plugins/energy.h>

#include <algorithm>

#include "gradwatt/simulation/platform_watts.hpp"

namespace gradwatt::simulation {
namespace {

namespace s4u = simgrid::s4u;

/// SimGrid's flows need some latency to start; far below any real one.
constexpr double kLeastLatency_s = 1e-12;

/// The pure α–β model with contention; the defaults mimic TCP on a particular network of 2009.
void choose_models() {
  s4u::Engine::set_config("network/model:CM02");
  s4u::Engine::set_config("network/latency-factor:1.0");
  s4u::Engine::set_config("network/bandwidth-factor:1.0");
  s4u::Engine::set_config("network/TCP-gamma:0");
  s4u::Engine::set_config("network/weight-S:0");
  s4u::Engine::set_config("network/crosstraffic:0");
  s4u::Engine::set_config("contexts/stack-size:64");
}

std::unique_ptr<s4u::Engine> make_engine() {
  // Their log goes to stderr: only what ends the simulation is of use to anybody.
  static char program[] = "gradwatt-simulate", quiet[] = "--log=root.thresh:critical";
  static char* words[] = {program, quiet, nullptr};
  int count = 2;
  return std::make_unique<s4u::Engine>(&count, words);
}

/// The same power whatever the load: a state is what the GPUs do.
std::string watts_by_state(const planning::Node& node, int gpus) {
  std::string states;
  for (const double gpu_w : {node.gpu_w.busy_w, node.gpu_w.comm_w, node.gpu_w.idle_w}) {
    const double watts = steady_watts(node) + gpus * gpu_w;
    states += fmt::format("{}{}:{}:{}", states.empty() ? "" : ",", watts, watts, watts);
  }
  return states;
}

}  // namespace

Platform::Platform(const planning::Cluster& cluster)
    : engine_(make_engine()), link_watts_(cluster.network.link_busy_w.has_value()) {
  choose_models();
  sg_host_energy_plugin_init();
  if (link_watts_) sg_link_energy_plugin_init();
  auto* root = s4u::create_star_zone("cluster");
  const int bundle = cluster.network.nodes_per_bundle();
  s4u::NetZone* zone = root;
  for (int node = 0; node < cluster.node_count(); ++node) {
    if (bundle > 0 && node % bundle == 0) zone = zone_of_bundle(cluster, node / bundle, root);
    add_node(cluster, node, zone);
    if (bundle > 0 && (node % bundle == bundle - 1 || node == cluster.node_count() - 1)) zone->seal();
  }
  root->seal();
  for (int node = 0; node < cluster.node_count(); ++node) set(node, Activity::idle);
}

s4u::NetZone* Platform::zone_of_bundle(const planning::Cluster& cluster, int bundle, s4u::NetZone* root) {
  const auto& network = cluster.network;
  auto* zone = s4u::create_star_zone(fmt::format("switch-{}", bundle));
  zone->set_parent(root);
  auto* gateway = zone->create_router(fmt::format("gateway-{}", bundle));
  double bandwidth = 0;
  const int first = bundle * network.nodes_per_bundle();
  const int last = std::min(first + network.nodes_per_bundle(), cluster.node_count());
  for (int node = first; node < last; ++node) bandwidth += cluster.node(node).network_bytes_per_s();
  // A switch with fewer nodes than it has room for keeps all its uplinks.
  bandwidth *= static_cast<double>(network.nodes_per_bundle()) / (last - first);
  auto* uplink = root->create_split_duplex_link(fmt::format("uplink-{}", bundle), bandwidth / network.oversubscription);
  uplink->set_latency(std::max(network.uplink_latency_s / 2, kLeastLatency_s))->seal();
  root->add_route(zone->get_netpoint(), nullptr, gateway, nullptr,
                  {s4u::LinkInRoute(uplink, s4u::LinkInRoute::Direction::UP)}, true);
  return zone;
}

void Platform::add_node(const planning::Cluster& cluster, int number, s4u::NetZone* zone) {
  const auto& node = cluster.node(number);
  auto* host = zone->create_host(fmt::format("node-{}", number), std::vector<double>(3, node.speed));
  host->set_property("wattage_per_state", watts_by_state(node, cluster.gpus_per_node));
  host->seal();
  auto* cable = zone->create_split_duplex_link(fmt::format("cable-{}", number), node.network_bytes_per_s());
  cable->set_latency(std::max(node.nic.latency_s / 2, kLeastLatency_s));
  if (link_watts_)
    for (auto* direction : {cable->get_link_up(), cable->get_link_down()})
      direction->set_property("wattage_range",
                              fmt::format("{}:{}", *cluster.network.link_idle_w / 2, *cluster.network.link_busy_w / 2));
  cable->seal();
  zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                  {s4u::LinkInRoute(cable, s4u::LinkInRoute::Direction::UP)}, true);
  hosts_.push_back(host);
  cables_.push_back(cable);
}

void Platform::set(int node, Activity activity) const { host(node)->set_pstate(static_cast<unsigned long>(activity)); }

double Platform::node_energy_j(int node) const { return sg_host_get_consumed_energy(host(node)); }

double Platform::link_energy_j(int node) const {
  if (!link_watts_) return 0;
  auto* cable = cables_[static_cast<std::size_t>(node)];
  return sg_link_get_consumed_energy(cable->get_link_up()) + sg_link_get_consumed_energy(cable->get_link_down());
}

}  // namespace gradwatt::simulation

#include "gradwatt/ingest/fact_join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace gradwatt::ingest {
namespace {

using record::Fact;

bool is_larger(const Fact& a, const Fact& b) { return as_number(a).value_or(0) > as_number(b).value_or(0); }
bool is_smaller(const Fact& a, const Fact& b) { return as_number(a).value_or(0) < as_number(b).value_or(0); }
bool is_slower(const Fact& a, const Fact& b) {
  return weight_of_transport(as_text(a).value_or("")) > weight_of_transport(as_text(b).value_or(""));
}

/// Of facts that each rank sees a part of, the one that holds for the whole.
struct Rule {
  std::string_view name;
  bool (*holds_rather)(const Fact&, const Fact&);
};
constexpr auto kRules = std::to_array<Rule>({
    {"comm.transport", is_slower},
    {"comm.gpudirect_rdma", is_smaller},
    {"comm.channels", is_smaller},
    {"comm.rdma_ports_active", is_larger},
    {"job.world_size", is_larger},
    {"job.nodes", is_larger},
    {"job.no_progress_s", is_larger},
});

std::string value_text(const Fact& fact) {
  const auto* text = std::get_if<std::string>(&fact.value);
  return text != nullptr ? *text : fmt::format("{}", std::get<double>(fact.value));
}

}  // namespace

int weight_of_transport(std::string_view transport) {
  if (transport == "net-socket") return 4;
  if (transport.starts_with("net-")) return 3;
  return transport == "shm" ? 2 : 1;
}

void join_facts(std::vector<Fact>& facts) {
  std::set<std::pair<std::string, std::string>> said;
  std::map<std::pair<std::string, std::string>, std::size_t> whole;  // name, subject -> place in `kept`
  std::vector<Fact> kept;
  for (auto& fact : facts) {
    if (!said.insert({fact.name + "\n" + fact.subject, value_text(fact)}).second) continue;
    const auto* rule = std::ranges::find(kRules, fact.name, &Rule::name);
    if (rule != kRules.end()) {
      const auto [place, is_new] = whole.try_emplace({fact.name, fact.subject}, kept.size());
      if (!is_new) {
        auto& so_far = kept[place->second];
        if (rule->holds_rather(fact, so_far)) so_far = std::move(fact);
        continue;
      }
    }
    kept.push_back(std::move(fact));
  }
  facts = std::move(kept);
}

}  // namespace gradwatt::ingest

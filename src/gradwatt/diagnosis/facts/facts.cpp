#include "gradwatt/diagnosis/facts/facts.hpp"

#include <algorithm>

#include "gradwatt/diagnosis/facts/fact_list.hpp"
#include "gradwatt/energy/steady_state.hpp"

namespace gradwatt::diagnosis {

FactSheet facts_of(const record::Run& run) {
  FactList out(run.where());
  if (const auto steady = energy::steady_part(run)) {
    add_step_facts(run, steady->window, out);
    add_rank_facts(run, steady->window, out);
    add_gpu_facts(run, steady->window, out);
    add_host_facts(run, steady->window, out);
  } else {
    add_gpu_facts(run, {}, out);  // what devices say of themselves needs no time
  }
  add_environment_facts(run, out);
  // What the run says itself comes first: the sheet takes the first of a name and subject.
  auto facts = run.facts;
  for (auto& fact : out.take()) {
    const bool said = std::ranges::any_of(
        run.facts, [&](const auto& own) { return own.name == fact.name && own.subject == fact.subject; });
    if (!said) facts.push_back(std::move(fact));
  }
  return FactSheet(std::move(facts));
}

record::LoadOptions columns_for_facts() {
  record::LoadOptions options;
  options.metrics.emplace();
  for (const auto& ids : {columns_for_gpu_facts(), columns_for_host_facts()})
    for (const auto id : ids)
      if (std::ranges::find(*options.metrics, id) == options.metrics->end()) options.metrics->push_back(id);
  return options;
}

}  // namespace gradwatt::diagnosis

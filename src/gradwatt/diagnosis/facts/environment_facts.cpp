// The job's environment as it was kept in the run, as facts: one a variable, and how many of them are NCCL's.
#include "gradwatt/diagnosis/facts/fact_list.hpp"

namespace gradwatt::diagnosis {

void add_environment_facts(const record::Run& run, FactList& out) {
  constexpr std::string_view kPrefix = "env.";
  double nccl = 0;
  bool any = false;
  for (auto it = run.meta.lower_bound(kPrefix); it != run.meta.end() && it->first.starts_with(kPrefix); ++it) {
    const auto name = it->first.substr(kPrefix.size());
    any = true;
    nccl += name.starts_with("NCCL_") ? 1 : 0;
    out.add_text("env.value", name, it->second);
  }
  // A measured command's environment was seen whole; of an import nothing is known.
  if (any || run.where() == record::Where::live) out.add("env.nccl_count", "job", nccl);
}

}  // namespace gradwatt::diagnosis

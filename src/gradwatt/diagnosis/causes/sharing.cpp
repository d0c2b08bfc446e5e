// Others on the same GPU, and slices taken for whole GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/diagnosis/causes/cause.hpp"

namespace gradwatt::diagnosis {
namespace {

void judge_tenant(const FactSheet& facts, Opinion& opinion) {
  const auto foreign = facts.highest("gpu.foreign_processes");
  if (!foreign) return void(opinion.wants("gpu.foreign_processes", weight::kStrong));
  if (*foreign == 0)
    return void(opinion.rules_out("only this job's processes use the GPUs", {"gpu.foreign_processes"}));
  opinion.supports(weight::kDecisive,
                   fmt::format("{:.0f} process{} of others use the GPU", *foreign, *foreign == 1 ? "" : "es"),
                   {"gpu.foreign_processes"});
}

void judge_slice(const FactSheet& facts, Opinion& opinion) {
  const auto mig = facts.is("gpu.mig_mode");
  if (!mig) {
    const auto word = facts.text("gpu.mig_mode");
    if (!word) return void(opinion.wants("gpu.mig_mode", weight::kFair));
    if (*word != "enabled") return void(opinion.rules_out("the GPU is not partitioned", {"gpu.mig_mode"}));
  } else if (!*mig) {
    return void(opinion.rules_out("the GPU is not partitioned", {"gpu.mig_mode"}));
  }
  // Alone it is how the machine is set up; with a job on it, it may be what the job lacks.
  constexpr std::string_view kText = "the GPU is partitioned (MIG): its figures are those of a slice";
  const bool has_job = std::ranges::any_of(facts.facts(), [](const auto& fact) {
    return fact.name.starts_with("job.") || fact.name.starts_with("step.") || fact.name.starts_with("scaling.");
  });
  has_job ? opinion.supports(weight::kStrong, std::string(kText), {"gpu.mig_mode"})
          : opinion.fits(weight::kStrong, std::string(kText), {"gpu.mig_mode"});
}

constexpr auto kCauses = std::to_array<CauseInfo>({
    {"sharing:gpu-tenant", "S1", "another job uses the same GPU", prior::kUsual, "gpu.foreign_processes", judge_tenant,
     "ask for the GPU alone (scheduler, compute mode exclusive process)", "operator", "", "the former allocation",
     nullptr, nullptr},
    {"sharing:mig-slice", "S3", "the job runs on a slice of a GPU", prior::kUsual, "gpu.mig_mode", judge_slice,
     "ask for a whole GPU, or a larger slice", "operator", "", "the former slice", nullptr, nullptr},
});

}  // namespace

std::span<const CauseInfo> sharing_causes() { return kCauses; }

}  // namespace gradwatt::diagnosis

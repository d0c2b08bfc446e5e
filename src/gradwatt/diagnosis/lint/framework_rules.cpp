// Variables of PyTorch, CUDA, TensorFlow and the thread libraries.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "gradwatt/diagnosis/lint/lint_rules.hpp"

namespace gradwatt::diagnosis {
namespace {

using enum LintSeverity;

bool is_on(std::string_view value) {
  return value == "1" || value == "true" || value == "True" || value == "ON" || value == "on";
}

std::optional<Verdict> launch_blocking(std::string_view value, const FactSheet&) {
  if (!is_on(value)) return std::nullopt;
  return Verdict{wrong, "makes each kernel launch wait for the kernel",
                 "unset it; it is for finding the kernel that fails"};
}

std::optional<Verdict> distributed_debug(std::string_view value, const FactSheet&) {
  if (value == "DETAIL") return Verdict{wrong, "checks each collective with further collectives", "OFF or INFO"};
  if (value != "OFF" && value != "INFO")
    return Verdict{warning, "is no level that PyTorch knows", "OFF, INFO or DETAIL"};
  return std::nullopt;
}

std::optional<Verdict> blocking_wait(std::string_view value, const FactSheet&) {
  if (!is_on(value)) return std::nullopt;
  return Verdict{wrong, "makes the training thread wait in each collective: several GPUs are then no faster than one",
                 "unset it; TORCH_NCCL_ASYNC_ERROR_HANDLING is the default and enough"};
}

std::optional<Verdict> error_handling(std::string_view value, const FactSheet&) {
  if (value != "0") return std::nullopt;
  return Verdict{warning, "a rank that died leaves the others hanging for ever", "unset it"};
}

std::optional<Verdict> thread_count(std::string_view value, const FactSheet& facts) {
  const auto threads = whole_number(value.substr(0, value.find(',')));
  if (!threads || *threads < 1)
    return Verdict{wrong, "must be a whole number from 1 on", "CPUs of the job / ranks on this host"};
  const auto cores = facts.number("host.cpu_budget") ? facts.number("host.cpu_budget") : facts.number("host.cpus");
  const double ranks =
      facts.number("job.world_size").value_or(1) / std::max(1.0, facts.number("job.nodes").value_or(1));
  if (cores && static_cast<double>(*threads) * ranks > 1.25 * *cores)
    return Verdict{warning,
                   fmt::format("{:.0f} ranks × {} threads want more than {:.0f} CPUs", ranks, *threads, *cores),
                   fmt::format("at most {:.0f}", std::max(1.0, std::floor(*cores / ranks)))};
  return std::nullopt;
}

std::optional<Verdict> affinity(std::string_view value, const FactSheet&) {
  if (value == "none" || value == "disabled") return std::nullopt;
  return Verdict{warning, "pins threads; data-loader workers inherit it and may all share one CPU",
                 "unset it, or check that workers use several CPUs"};
}

std::optional<Verdict> no_caching(std::string_view value, const FactSheet&) {
  if (!is_on(value)) return std::nullopt;
  return Verdict{wrong, "asks the driver for memory at each allocation", "unset it"};
}

std::optional<Verdict> allocator(std::string_view value, const FactSheet&) {
  if (value.find(':') == std::string_view::npos)
    return Verdict{wrong, "is no list of key:value", "expandable_segments:True"};
  if (value.find("backend:cudaMallocAsync") != std::string_view::npos)
    return Verdict{note, "uses the driver's allocator instead of PyTorch's", "measure both"};
  return std::nullopt;
}

std::optional<Verdict> tf32(std::string_view value, const FactSheet&) {
  if (value != "0") return std::nullopt;
  return Verdict{warning,
                 "forbids TF32 to all libraries: fp32 matrix products and convolutions run without tensor cores",
                 "unset it unless the digits are needed"};
}

std::optional<Verdict> workspace(std::string_view, const FactSheet&) {
  return Verdict{note, "is for results that repeat bit by bit, which costs time", "unset it where they need not"};
}

std::optional<Verdict> visible_devices(std::string_view value, const FactSheet&) {
  std::set<std::string_view> seen;
  for (std::size_t begin = 0; begin <= value.size();) {
    const auto end = std::min(value.find(',', begin), value.size());
    const auto id = value.substr(begin, end - begin);
    if (!id.empty() && !seen.insert(id).second)
      return Verdict{wrong, fmt::format("names {} twice: no GPU is visible then", id), "name each GPU once"};
    if (id == "-1") return Verdict{note, "hides this GPU and all behind it", "unset it to train on GPUs"};
    begin = end + 1;
  }
  return std::nullopt;
}

std::optional<Verdict> gpu_garbage(std::string_view, const FactSheet&) {
  return Verdict{note, "is a setting of TensorFlow's GPU allocator; it has nothing to do with gradients", "unset it"};
}
std::optional<Verdict> log_level(std::string_view, const FactSheet&) {
  return Verdict{note, "changes what is logged, not the speed", ""};
}

std::optional<Verdict> thread_mode(std::string_view value, const FactSheet&) {
  if (value == "gpu_private" || value == "gpu_shared" || value == "global") return std::nullopt;
  return Verdict{wrong, "is no mode of TensorFlow", "gpu_private, gpu_shared or global"};
}

std::optional<Verdict> auto_clustering(std::string_view value, const FactSheet&) {
  if (value.find("--tf_xla_auto_jit=") != std::string_view::npos || value.find("--tf_xla_") != std::string_view::npos)
    return std::nullopt;
  return Verdict{wrong, "holds no flag that TensorFlow's XLA knows", "--tf_xla_auto_jit=2"};
}

std::optional<Verdict> xla_flags(std::string_view value, const FactSheet&) {
  if (value.find("--xla_dump_to") != std::string_view::npos)
    return Verdict{warning, "writes each compiled program to disk", "unset it"};
  if (!value.starts_with("--xla"))
    return Verdict{wrong, "XLA stops at flags that it does not know", "flags that begin with --xla"};
  return std::nullopt;
}

std::optional<Verdict> connections(std::string_view value, const FactSheet& facts) {
  if (value != "1") return std::nullopt;
  if (facts.text_holds("job.parallelism", "tensor").value_or(true))
    return std::nullopt;  // tensor-parallel code asks for it
  return Verdict{note, "queues all streams behind each other; only tensor-parallel code wants that", "unset it"};
}

std::optional<Verdict> tokenizers(std::string_view value, const FactSheet&) {
  if (value == "true" || value == "1")
    return Verdict{note, "lets each loader worker start threads of its own", "false, where workers tokenize"};
  return std::nullopt;
}

std::optional<Verdict> profile(std::string_view value, const FactSheet&) {
  if (value.empty() || value == "0") return std::nullopt;
  return Verdict{warning, "a profiler is attached to each process", "unset it for production runs"};
}

constexpr auto kRules = std::to_array<VariableRule>({
    {"CUDA_LAUNCH_BLOCKING", "launches that wait", launch_blocking},
    {"TORCH_DISTRIBUTED_DEBUG", "checks of each collective", distributed_debug},
    {"NCCL_BLOCKING_WAIT", "waiting in each collective", blocking_wait},
    {"TORCH_NCCL_BLOCKING_WAIT", "waiting in each collective", blocking_wait},
    {"NCCL_ASYNC_ERROR_HANDLING", "errors that leave ranks hanging", error_handling},
    {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "errors that leave ranks hanging", error_handling},
    {"OMP_NUM_THREADS", "threads against CPUs", thread_count},
    {"MKL_NUM_THREADS", "threads against CPUs", thread_count},
    {"KMP_AFFINITY", "pinned threads", affinity},
    {"GOMP_CPU_AFFINITY", "pinned threads", affinity},
    {"PYTORCH_NO_CUDA_MEMORY_CACHING", "no allocator cache", no_caching},
    {"PYTORCH_CUDA_ALLOC_CONF", "form of the list", allocator},
    {"NVIDIA_TF32_OVERRIDE", "TF32 forbidden", tf32},
    {"CUBLAS_WORKSPACE_CONFIG", "repeatable results", workspace},
    {"CUDA_VISIBLE_DEVICES", "GPUs named twice", visible_devices},
    {"CUDA_DEVICE_MAX_CONNECTIONS", "streams in one queue", connections},
    {"TOKENIZERS_PARALLELISM", "threads of loader workers", tokenizers},
    {"CUDA_INJECTION64_PATH", "attached profiler", profile},
    {"TF_ENABLE_GPU_GARBAGE_COLLECTION", "has nothing to do with gradients", gpu_garbage},
    {"TF_CPP_MIN_LOG_LEVEL", "has nothing to do with speed", log_level},
    {"TF_GPU_THREAD_MODE", "mode", thread_mode},
    {"TF_XLA_FLAGS", "flags", auto_clustering},
    {"XLA_FLAGS", "flags, dumps", xla_flags},
});

}  // namespace

std::span<const VariableRule> framework_rules() { return kRules; }

}  // namespace gradwatt::diagnosis

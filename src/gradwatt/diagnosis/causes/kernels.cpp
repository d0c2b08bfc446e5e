// What the kernels do while they run: no tensor cores, memory-bound, too little work, unlucky shapes and layouts.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/diagnosis/causes/cause.hpp"
#include "gradwatt/diagnosis/symptoms.hpp"

namespace gradwatt::diagnosis {
namespace {

void judge_no_tensor_cores(const FactSheet& facts, Opinion& opinion) {
  const auto tensor = facts.number("gpu.tensor_active_pct"), sm = facts.number("gpu.sm_active_pct"),
             fp32 = facts.number("gpu.fp32_active_pct");
  if (tensor && *tensor > 5)
    return void(opinion.rules_out(fmt::format("tensor cores are busy {:.0f} % of the cycles", *tensor),
                                  {"gpu.tensor_active_pct"}));
  if (tensor && sm && *sm > 50)
    opinion.supports(weight::kStrong, fmt::format("tensor cores idle while {:.0f} % of the SM cycles are in use", *sm),
                     {"gpu.tensor_active_pct", "gpu.sm_active_pct"});
  if (fp32 && *fp32 > 20)
    opinion.supports(weight::kFair, fmt::format("the FP32 pipe is busy {:.0f} % of the cycles", *fp32),
                     {"gpu.fp32_active_pct"});
  if (!tensor) opinion.wants("gpu.tensor_active_pct", weight::kStrong);
  if (const auto share = facts.number("trace.tensor_core_share"))
    *share < 0.1
        ? opinion.supports(
              weight::kStrong,
              fmt::format("{:.0f} % of the matrix-product time is in kernels that use tensor cores", 100 * *share),
              {"trace.tensor_core_share"})
        : opinion.speaks_against(
              weight::kStrong,
              fmt::format("{:.0f} % of the matrix-product time is in kernels that use tensor cores", 100 * *share),
              {"trace.tensor_core_share"});
  else if (!tensor)
    opinion.wants("trace.tensor_core_share", weight::kStrong);
  if (const auto precision = facts.text("job.precision"))
    *precision == "fp32"
        ? opinion.supports(weight::kFair, "matrix products are computed in fp32", {"job.precision"})
        : opinion.speaks_against(weight::kFair, "matrix products are computed in " + *precision, {"job.precision"});
  // Where GPUs mostly wait, arithmetic is not what holds them up.
  if (const auto gaps = gpu_gaps(facts); gaps && gaps->value > 0.3)
    opinion.speaks_against(weight::kFair, gaps->text, gaps->facts);
  if (const auto wait = input_wait(facts); wait && wait->value > 0.3)
    opinion.speaks_against(weight::kStrong, wait->text, wait->facts);
}

void judge_memory_bound(const FactSheet& facts, Opinion& opinion) {
  const auto dram = facts.number("gpu.dram_active_pct"), tensor = facts.number("gpu.tensor_active_pct");
  if (!dram) return void(opinion.wants("gpu.dram_active_pct", weight::kStrong));
  if (*dram < 35)
    return void(opinion.rules_out(fmt::format("device memory is used at {:.0f} % of its bandwidth", *dram),
                                  {"gpu.dram_active_pct"}));
  opinion.supports(*dram > 50 ? weight::kStrong : weight::kWeak,
                   fmt::format("device memory is used at {:.0f} % of its bandwidth", *dram), {"gpu.dram_active_pct"});
  if (tensor)
    *tensor < 15
        ? opinion.supports(weight::kFair, fmt::format("tensor cores are busy {:.0f} % of the cycles", *tensor),
                           {"gpu.tensor_active_pct"})
        : opinion.speaks_against(weight::kFair, fmt::format("tensor cores are busy {:.0f} % of the cycles", *tensor),
                                 {"gpu.tensor_active_pct"});
  // At the roofline already there is nothing left to fuse: the healthy verdict is better then.
  if (*dram >= 60)
    opinion.speaks_against(weight::kFair, "it is near what the memory can give", {"gpu.dram_active_pct"});
}

void judge_tiny_work(const FactSheet& facts, Opinion& opinion) {
  const auto batch =
      facts.number("job.local_batch_size") ? facts.number("job.local_batch_size") : facts.number("loader.batch_size");
  if (batch && *batch <= 4)
    opinion.supports(weight::kFair,
                     fmt::format("a rank computes {:.0f} sample{} a step", *batch, *batch == 1 ? "" : "s"),
                     {"job.local_batch_size", "loader.batch_size"});
  else if (batch && *batch >= 64)
    opinion.speaks_against(weight::kFair, fmt::format("a rank computes {:.0f} samples a step", *batch),
                           {"job.local_batch_size", "loader.batch_size"});
  else if (!batch)
    opinion.wants("job.local_batch_size", weight::kFair);
  if (const auto parameters = facts.number("ddp.parameters"); parameters && *parameters < 1e6)
    opinion.supports(weight::kWeak, fmt::format("the model has {:.0f} parameters", *parameters), {"ddp.parameters"});
  const auto sm = facts.number("gpu.sm_active_pct"), dram = facts.number("gpu.dram_active_pct");
  if (sm && *sm < 30 && (!dram || *dram < 20))
    opinion.supports(weight::kFair, fmt::format("{:.0f} % of the SM cycles are in use", *sm), {"gpu.sm_active_pct"});
  else if (sm && *sm > 70)
    return void(opinion.rules_out(fmt::format("{:.0f} % of the SM cycles are in use", *sm), {"gpu.sm_active_pct"}));
  if (const auto used = facts.number("gpu.memory_used_share"); used && *used < 0.2)
    opinion.supports(weight::kWeak, fmt::format("{:.0f} % of the GPU memory is in use", 100 * *used),
                     {"gpu.memory_used_share"});
  const auto sizes = sized(facts, "scaling.step_s", "batch");
  if (sizes.size() >= 2 && sizes.front().value > 0 &&
      sizes.back().value / sizes.front().value < 1 + 0.3 * (sizes.back().size / sizes.front().size - 1))
    opinion.supports(weight::kStrong, "a larger batch takes hardly longer", {"scaling.step_s"});
  if (const auto step = facts.number("step.time_s"); step && *step < 0.02)
    opinion.supports(weight::kFair, fmt::format("a step takes {:.1f} ms", 1e3 * *step), {"step.time_s"});
  if (const auto wait = input_wait(facts); wait && wait->value > 0.3)
    opinion.speaks_against(weight::kStrong, wait->text, wait->facts);
}

void judge_layout(const FactSheet& facts, Opinion& opinion) {
  const auto share = facts.number("trace.layout_change_share");
  if (!share) return void(opinion.wants("trace.layout_change_share", weight::kStrong));
  if (*share < 0.03)
    return void(opinion.rules_out(fmt::format("{:.1f} % of the kernel time changes layouts", 100 * *share),
                                  {"trace.layout_change_share"}));
  opinion.supports(*share > 0.08 ? weight::kDecisive : weight::kStrong,
                   fmt::format("{:.0f} % of the kernel time only changes the layout of tensors", 100 * *share),
                   {"trace.layout_change_share"});
}

void judge_autotune(const FactSheet& facts, Opinion& opinion) {
  const auto benchmark = facts.is("torch.cudnn_benchmark"), vary = facts.is("trace.shapes_vary");
  if (benchmark && !*benchmark) return void(opinion.rules_out("cuDNN does not tune", {"torch.cudnn_benchmark"}));
  if (vary && !*vary) return void(opinion.rules_out("input shapes repeat", {"trace.shapes_vary"}));
  if (benchmark)
    opinion.supports(weight::kFair, "cuDNN times its algorithms anew for each shape", {"torch.cudnn_benchmark"});
  else
    opinion.wants("torch.cudnn_benchmark", weight::kFair);
  if (vary)
    opinion.supports(weight::kStrong, "input shapes change between steps", {"trace.shapes_vary"});
  else if (facts.is("job.lengths_vary").value_or(false))
    opinion.supports(weight::kFair, "examples have unlike lengths", {"job.lengths_vary"});
  else
    opinion.wants("trace.shapes_vary", weight::kStrong);
}

void judge_recompilation(const FactSheet& facts, Opinion& opinion) {
  const auto again = facts.number("trace.recompiles_per_100_steps");
  if (!again) return void(opinion.wants("trace.recompiles_per_100_steps", weight::kDecisive));
  if (*again < 1)
    return void(opinion.rules_out("nothing is compiled in steady state", {"trace.recompiles_per_100_steps"}));
  opinion.supports(*again >= 5 ? weight::kDecisive : weight::kStrong,
                   fmt::format("{:.0f} compilations in 100 steps", *again), {"trace.recompiles_per_100_steps"});
}

void judge_padding(const FactSheet& facts, Opinion& opinion) {
  const auto padding = facts.number("job.padding_share");
  if (!padding) return void(opinion.wants("job.padding_share", weight::kStrong));
  if (*padding < 0.1)
    return void(
        opinion.rules_out(fmt::format("{:.0f} % of the tokens are padding", 100 * *padding), {"job.padding_share"}));
  opinion.supports(*padding > 0.25 ? weight::kDecisive : weight::kFair,
                   fmt::format("{:.0f} % of the tokens are padding", 100 * *padding), {"job.padding_share"});
  if (several_ranks(facts).value_or(false) && facts.has("rank.skew_share"))
    opinion.speaks_against(weight::kWeak, "ranks take unlike time: unequal lengths matter more", {"rank.skew_share"});
}

std::optional<double> layout_share(const FactSheet& facts) { return facts.number("trace.layout_change_share"); }
std::optional<double> padding_share(const FactSheet& facts) { return facts.number("job.padding_share"); }

constexpr std::string_view kSameResult = "loss and accuracy stay the same over some hundred steps";

constexpr auto kCauses = std::to_array<CauseInfo>({
    {"compute:no-tensor-cores", "K1", "matrix products run without tensor cores", prior::kUsual,
     "gpu.tensor_active_pct", judge_no_tensor_cores,
     "torch.set_float32_matmul_precision(\"high\") (TF32, compute capability 8.0 and newer); then "
     "torch.autocast(\"cuda\", torch.bfloat16); fp16 with torch.amp.GradScaler on V100 and T4; dimensions in multiples "
     "of 8; "
     "in TensorFlow 2: tf.keras.mixed_precision.set_global_policy(\"mixed_bfloat16\")",
     "user", kSameResult, "precision back to \"highest\", no autocast", nullptr, nullptr},
    {"compute:memory-bound", "K2", "kernels wait for device memory", prior::kUsual, "gpu.dram_active_pct",
     judge_memory_bound,
     "torch.compile to fuse element-wise work; scaled_dot_product_attention; fused optimizer; channels_last; bf16",
     "user", kSameResult, "run eagerly again", nullptr, nullptr},
    {"compute:tiny-work", "K3", "a step holds too little work for the device", prior::kUsual, "step.samples_per_s",
     judge_tiny_work, "a larger local batch; fewer GPUs or several jobs a GPU (MPS, MIG)", "user",
     "a larger global batch needs learning rate and warm-up checked; past a global batch of about 8192 ImageNet "
     "accuracy falls",
     "the former batch", nullptr, nullptr},
    {"compute:padding", "K4", "much of the arithmetic is spent on padding", prior::kRare, "job.padding_share",
     judge_padding, "group examples by length, pack short sequences, pad vocabulary and heads to multiples of 8 or 64",
     "user", "the order of examples changes", "the former sampler", nullptr, padding_share},
    {"compute:layout-changes", "K5", "convolutions change the layout of tensors back and forth", prior::kRare,
     "trace.layout_change_share", judge_layout,
     "model.to(memory_format=torch.channels_last) and the same for the input, with autocast", "user", "",
     "torch.contiguous_format", nullptr, layout_share},
    {"compute:autotune-varying-shapes", "K6", "cuDNN tunes anew for ever new shapes", prior::kRare, "step.time_p95_s",
     judge_autotune, "torch.backends.cudnn.benchmark = False, or pad to a few sizes", "user", "", "benchmark = True",
     nullptr, nullptr},
    {"compute:recompilation", "C8", "code is compiled again and again while training", prior::kRare,
     "trace.recompiles_per_100_steps", judge_recompilation,
     "torch.compile(dynamic=True) or inputs padded to a few sizes; TORCH_LOGS=recompiles names the guard that fails",
     "user", "", "run eagerly", nullptr, nullptr},
});

}  // namespace

std::span<const CauseInfo> kernel_causes() { return kCauses; }

}  // namespace gradwatt::diagnosis

#include <array>

#include "gradwatt/planning/presets/article_answers.hpp"
#include "gradwatt/planning/presets/article_figures.hpp"

namespace gradwatt::planning {
namespace {

using enum Standing;

constexpr std::string_view kEnergy = "Energy of data-parallel training";
constexpr std::string_view kHardware = "Hardware";
constexpr std::string_view kMethods = "Methods and tools";
constexpr std::string_view kLowPower = "Low power at high utilisation";
constexpr std::string_view kNccl = "Communication settings";

constexpr std::string_view kCode = "RAI-SCC/ResNet, code and job scripts of the authors";
constexpr std::string_view kSummary = "summaries of arXiv 2508.07706";
constexpr std::string_view kComputed = "computed from the presets";
constexpr std::string_view kNcclGuide = "NCCL user guide and source, 2.30";
constexpr std::string_view kDumps = "nvidia-smi output and driver tables in public repositories";

constexpr auto kQuestions = std::to_array<ArticleQuestion>({
    // clang-format off
    {kEnergy, "What does a GPU-hour cost?", "0.27–0.31, 0.18–0.23 and 0.26–0.28 \"kWh/h\"", holds,
     "The unit is kWh a GPU-hour, with the GPU's share of its node; on full nodes of four only. It moves with samples and "
     "updates a GPU-hour, so a profile of the own job comes first.",
     kComputed, coefficient_table},
    {kEnergy, "How does energy grow with GPUs at a fixed global batch, and is there a minimum at 4 GPUs?",
     "time falls, then rises; least energy at 4 GPUs, 6.7 kWh", corrected,
     "Time falls all the way from 1 to 16 GPUs. A minimum at 4 is plausible: they fill a node and need no network. 6.7 kWh is no "
     "full training of 100 epochs on the full data: it fits a quarter of the data, or the energy of one of the four GPUs.",
     kCode, fixed_global_batch_table},
    {kEnergy, "What do 256 GPUs cost?", "20.3 kWh, 1.15 times one GPU, in 1/60 of the time", corrected,
     "1/60 of the time on 256 GPUs is 4.27 times the GPU-hours; 1.15 times the energy would need a GPU-hour at a quarter of "
     "the price. Against four GPUs it is plausible. 20.3 kWh and 6.7 kWh cannot both be full trainings.",
     kComputed, fixed_local_batch_table},
    {kEnergy, "Does ResNet50 lose beyond 32 GPUs?", "efficiency falls clearly beyond 32 GPUs", wrong,
     "ResNet50 stays near-linear. FourCastNet leaves proportion after four times the GPUs.", kSummary},
    {kEnergy, "What happens past a global batch of 8192?", "top-1 accuracy falls from 28 % to 22 %", wrong,
     "That figure is the top-1 error: about 28 %, and it rises past 8192, on validation images cropped at random, under the "
     "authors' learning-rate rule. Accuracy is about 72 %.",
     kCode},
    {kEnergy, "Which global batch for how many GPUs?", "256 for 1–16 GPUs, 8192 for 32–256", corrected,
     "These are two series of the study, not a recommendation. Stay below the critical batch of the own job.", kCode},
    {kEnergy, "Is a local batch of 256 the limit of an A100?", "256, the limit of its memory", corrected,
     "256 is the setting of the authors; the largest that fits follows from parameters, optimizer and activations of the job.",
     kCode},
    {kEnergy, "What does a sample cost?", "0.0235 Wh; 0.0221–0.0260 Wh with growing data", corrected,
     "That is the energy of 100 epochs over the size of the data set: 28–33 kWh for ImageNet. One pass of one image costs about "
     "0.8–0.94 J.",
     kComputed},
    {kEnergy, "Is there a golden configuration?", "4 GPUs and a global batch of 1024: accuracy above 28 %, under 7 kWh", wrong,
     "A full training on 4 GPUs costs 24–30 kWh, and 28 % is the error. Warm-up of 5 epochs and a rate that falls on plateaus are "
     "what the authors used.",
     kCode},
    {kEnergy, "Where is FourCastNet's threshold?", "a global batch of 64; 32 in pre-training on H100, 16 in fine-tuning on A100",
     corrected, "32 in pre-training and 64 in fine-tuning, whatever the GPU.", kSummary},
    {kEnergy, "How is energy divided?", "GPU 85–93 %, CPU 7–15 %; and CPU 49 % on one GPU, 27 % on four", corrected,
     "Both cannot hold of the same nodes. One GPU of a node bears its whole base line; the share falls as the node fills.",
     kComputed, host_share_table},

    {kHardware, "Is an H100 worth it for FourCastNet?", "25–30 % less time, less than 5 % of energy saved; local batch 4 to 16",
     holds, "Time falls, energy hardly: it is faster and draws more. Memory of 94 GB allows four times the batch of 40 GB, since "
            "the model itself is paid once.",
     kComputed, h100_energy_line},
    {kHardware, "Do power swings wear hardware out?", "100–300 W on A100 shorten life by 15–20 %; H100 at 200–250 W is better",
     unsupported, "No source says so. Swings show waiting, and an H100 at 200–250 W of 700 W waits most of the time: repair that "
                  "(`gradwatt diagnose`).",
     "none found"},
    {kHardware, "Should CPU cores be given back when fewer GPUs run?", "fewer GPUs, fewer cores; 19 cores a GPU", corrected,
     "Two CPUs drew 237 W while 96 % idle: that is a base line, and fewer cores recover little of it; filling the node does. 19 is "
     "76 cores over 4 GPUs; what a GPU needs follows from its loader.",
     kCode},
    {kHardware, "Does a cap, persistence mode or MPS steady an A100?", "nvidia-smi -pm 1, -pl 250, MPS", wrong,
     "Persistence mode keeps the driver loaded, no more. A cap trades speed for energy and needs root. MPS does nothing for one "
     "process a GPU.",
     "NVIDIA driver documentation"},

    {kMethods, "What do compressed, asynchronous, topology-aware and hierarchical exchange gain?",
     "1.8, 2.1, 1.5 and 1.7 times the speed; −10, +15, −5 and −8 % energy", unsupported,
     "No source. Measure each on the own job, against the plain exchange, with `gradwatt compare`.", "none found"},
    {kMethods, "What do mixed precision, and everything together, save?", "40 % and 58 %, at the same accuracy", unsupported,
     "No source, and percentages do not add up. Measure each with `gradwatt compare`.", "none found"},
    {kMethods, "Which time-out for the process group?", "30 seconds", wrong,
     "It kills healthy jobs at start-up, compilation and checkpoints. Leave the framework's default of minutes.",
     "not in the authors' code"},
    {kMethods, "How is perun used?", "EnergyMonitor(components, sampling_rate, mpi_sync)", wrong,
     "perun has no such interface: a command line and decorators.", "perun 0.9.1"},

    {kLowPower, "Is 99 % busy at 150 W of 450 W low?", "yes: an A100 is rated 450 W", corrected,
     "It is low, but no A100 is rated 450 W: SXM4 400 W (some 500 W), PCIe 250 or 300 W. Read the limit in force from the device.",
     kDumps},
    {kLowPower, "What proves the trouble?", "utilisation over 90 %, power under 60 % of the rating, less than 30 % gained by GPUs",
     corrected, "They start a diagnosis and prove nothing: at least eight causes look like that, some of them healthy.",
     "reference of causes behind `gradwatt diagnose`"},
    {kLowPower, "What is a healthy GPU?", "utilisation 70–100 %, power near the rating, memory 80 %, below 85 °C", corrected,
     "Memory in use says nothing of starvation. Temperature limits differ by card: judge by the reasons that clocks are held for.",
     kDumps},
    {kLowPower, "How many loader workers?", "2–4 times the number of GPUs", wrong,
     "num_workers is a rank's own: 8 ranks would start 128–256. Together they are bounded by the cores of the node.",
     "PyTorch documentation"},
    {kLowPower, "What should a GPU reach?", "ResNet 380–420 W and 1200 images/s on A100 40 GB; transformer 350–390 W and 80 samples/s",
     corrected, "420 W exceeds the card; 1200 images/s is what a V100 does in mixed precision; an A100 was published at 938 (TF32) "
                "and 2470 (mixed). Throughput without model, length and batch is no yardstick: use `gradwatt baseline`.",
     "NVIDIA DeepLearningExamples"},

    {kLowPower, "Which efficiency over several GPUs is healthy?", "85 % for ResNet, 75 % for transformers, 70 % for GANs", corrected,
     "NVIDIA published 84–98 % on 8 GPUs for ResNet50 and 94–99 % for BERT, by recipe: 75 % would be far too lax, 85 % would fail a "
     "published recipe. Compare with the own runs.",
     "NVIDIA DeepLearningExamples"},
    {kLowPower, "How large a batch?", "until 90 % of memory is used; accumulate gradients to go on", corrected,
     "A larger batch changes what is learnt, and the allocator retries near full memory. Accumulation makes no step more "
     "efficient; it saves exchanges, where they are left out between its parts.",
     "PyTorch documentation"},
    {kLowPower, "Which driver, which fans?", "driver 470 with CUDA 11.4, 515 with 11.7; fans above 70 %", wrong,
     "CUDA 12 needs driver 525, CUDA 13 driver 580, the same on all nodes. Cards of servers have no fans.", kDumps},

    {kNccl, "NCCL_ALGO=Tree?", "use tree communication", wrong,
     "Since NCCL 2.24 it stops DDP, whose broadcast has no tree. Leave it unset.", kNcclGuide},
    {kNccl, "NCCL_IB_DISABLE=1 without InfiniBand?", "avoids useless protocol work", wrong,
     "It switches RoCE off too and forces TCP; without such devices NCCL falls back by itself.", kNcclGuide},
    {kNccl, "NCCL_SOCKET_NTHREADS and NCCL_NSOCKS_PERTHREAD?", "2–4 and 4–8, for PCIe within a node; steps of 0.5", wrong,
     "They are whole numbers (0.5 is read as 0), matter only between nodes over TCP, and their product is at most 64.", kNcclGuide},
    {kNccl, "NCCL_BUFFSIZE=4194304?", "for large models", wrong, "That is the default.", kNcclGuide},
    // clang-format on
});

}  // namespace

std::span<const ArticleQuestion> article_questions() { return kQuestions; }

}  // namespace gradwatt::planning

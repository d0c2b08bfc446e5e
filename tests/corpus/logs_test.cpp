// Every log, table and listing of the corpus is either read, with a figure that a plain look at its lines confirms, or
// refused with a message that names line and reason. The looks know nothing of the readers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gradwatt/ingest/import.hpp"

namespace gradwatt::ingest {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

Lines lines_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  Lines lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}
bool has(const std::string& line, std::string_view text) { return line.find(text) != std::string::npos; }
std::size_t count(const Lines& lines, std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(lines, [&](const auto& line) { return has(line, text); }));
}
/// The number behind each occurrence of a text.
std::vector<double> numbers_after(const Lines& lines, const std::string& key) {
  std::vector<double> found;
  for (const auto& line : lines)
    if (const auto at = line.find(key); at != std::string::npos)
      found.push_back(std::atof(line.c_str() + at + key.size()));
  return found;
}
double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.at(values.size() / 2);
}

std::size_t facts(const record::Run& run, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::count(run.facts, name, &record::Fact::name));
}
const record::Fact* fact(const record::Run& run, std::string_view name, std::string_view subject = "job") {
  for (const auto& f : run.facts)
    if (f.name == name && f.subject == subject) return &f;
  return nullptr;
}
double number(const record::Run& run, std::string_view name, std::string_view subject = "job") {
  const auto* f = fact(run, name, subject);
  return f != nullptr ? record::as_number(*f).value_or(-1) : -1;
}
std::size_t samples(const record::Run& run) {
  std::size_t all = 0;
  for (const auto& series : run.series) all += series.size();
  return all;
}

// --- looks

/// Sizes above nothing in each table of nccl-tests, and its average.
void looks_like_nccl_tests(const Lines& lines, const Imported& imported) {
  std::set<std::pair<std::size_t, std::string>> sizes;
  std::set<std::string> ranks;
  std::size_t test = 0;
  for (const auto& line : lines) {
    test += has(line, "nThread ") && has(line, "minBytes") ? 1 : 0;
    std::istringstream in(line);
    const Lines words{std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
    if (has(line, " Pid ")) ranks.insert(line.substr(line.find("Rank"), 8));
    const bool row = words.size() >= 11 && words[0].find_first_not_of("0123456789") == std::string::npos &&
                     words[1].find_first_not_of("0123456789") == std::string::npos && words[0] != "0";
    if (row) sizes.emplace(test, words[0]);
  }
  EXPECT_EQ(facts(imported.run, "comm.bus_bandwidth_bytes_per_s"),
            sizes.size() + count(lines, "Avg bus bandwidth    :"));
  EXPECT_EQ(number(imported.run, "job.world_size"), static_cast<double>(ranks.size()));
  EXPECT_EQ(fact(imported.run, "comm.warning") != nullptr, count(lines, "Test NCCL failure") > 0);
}

void looks_like_nccl_log(const Lines& lines, const Imported& imported) {
  const auto nranks = numbers_after(lines, " nranks ");
  if (!nranks.empty()) {
    EXPECT_EQ(number(imported.run, "job.world_size"), *std::ranges::max_element(nranks));
  }
  const std::vector<std::pair<std::string, std::string>> ways{{"via NET/Socket", "net-socket"},
                                                              {"via NET/AWS Libfabric", "net-ofi"},
                                                              {"via NET/IB", "net-ib"},
                                                              {"via P2P", "p2p"}};
  for (const auto& [text, transport] : ways) {
    if (count(lines, text) == 0) continue;
    const auto* found = fact(imported.run, "comm.transport");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(record::as_text(*found), transport);
    break;
  }
  EXPECT_EQ(number(imported.run, "comm.hangs") == 1, count(lines, "Watchdog caught collective operation timeout") > 0);
}

void looks_like_bench(const Lines& lines, const Imported& imported) {
  looks_like_nccl_log(lines, imported);
  const auto* bandwidth = std::find_if(imported.run.facts.data(), imported.run.facts.data() + imported.run.facts.size(),
                                       [](const auto& f) { return f.name == "comm.bus_bandwidth_bytes_per_s"; });
  ASSERT_NE(bandwidth, imported.run.facts.data() + imported.run.facts.size());
  EXPECT_NEAR(record::as_number(*bandwidth).value_or(0), median(numbers_after(lines, " busbw: ")) * 1e9 / 8, 1e6);
}

/// "Throughput: …" of every trial; the first is left out.
void looks_like_throughput(const Lines& lines, const Imported& imported) {
  looks_like_nccl_log(lines, imported);
  auto rates = numbers_after(lines, "Throughput: ");
  if (rates.size() < 3) return;
  rates.erase(rates.begin());
  EXPECT_NEAR(number(imported.run, "step.samples_per_s"), median(rates), 1e-6);
}

void has_a_sample_a_row(const Lines& lines, const Imported& imported) {
  const auto rows =
      std::ranges::count_if(lines, [](const auto& l) { return has(l, "MiB /") && has(l, "W |") && has(l, "Default"); });
  EXPECT_EQ(samples(imported.run), static_cast<std::size_t>(rows));
}
void has_the_gpus_of_a_listing(const Lines& lines, const Imported& imported) {
  EXPECT_EQ(imported.run.devices.size(), std::max<std::size_t>(1, count(lines, "GPU 0000")));
  EXPECT_EQ(facts(imported.run, "gpu.row_remap_pending"), count(lines, "Pending Page Blacklist"));
}
void has_the_gpus_of_a_list(const Lines& lines, const Imported& imported) {
  EXPECT_EQ(imported.run.devices.size(), count(lines, "(UUID: GPU-"));
}
void has_the_links(const Lines& lines, const Imported& imported) {
  const auto uuid = imported.run.devices.at(0).uuid;
  EXPECT_EQ(number(imported.run, "gpu.nvlink_links_up", uuid), static_cast<double>(count(lines, "GB/s")));
}
void has_the_gpus_of_the_document(const Lines& lines, const Imported& imported) {
  EXPECT_EQ(imported.rows, count(lines, "<gpu id="));
  EXPECT_EQ(imported.run.devices.size(), count(lines, "<gpu id="));
  EXPECT_EQ(facts(imported.run, "gpu.name"), count(lines, "<product_name>"));
}
void has_the_xids(const Lines& lines, const Imported& imported) {
  EXPECT_EQ(imported.run.events.size(), count(lines, "NVRM: Xid"));
  EXPECT_EQ(number(imported.run, "host.oom_kills", "host"),
            count(lines, "Killed process") > 0 ? static_cast<double>(count(lines, "Killed process")) : -1);
}
void is_read_line_by_line(const Lines& lines, const Imported& imported) {
  EXPECT_EQ(imported.rows,
            static_cast<std::size_t>(std::ranges::count_if(lines, [](const auto& l) { return !l.empty(); })));
}
void has_the_lost_carriers(const Lines& lines, const Imported& imported) {
  EXPECT_EQ(number(imported.run, "host.link_flaps", "ib6"), static_cast<double>(count(lines, "lost carrier")));
}

void looks_like_dllogger(const Lines& lines, const Imported& imported) {
  const auto iterations =
      std::ranges::count_if(lines, [](const auto& l) { return has(l, " Iteration: ") && has(l, "total_ips"); });
  // Two epochs: of the first step of each no time is known.
  EXPECT_EQ(imported.run.marks.size(), static_cast<std::size_t>(iterations) - 2);
  EXPECT_NEAR(number(imported.run, "step.time_s"), 0.463, 0.01);
  EXPECT_GT(number(imported.run, "step.samples_per_s"), 20'000);
  EXPECT_LT(number(imported.run, "step.data_wait_share"), 0.01);
}
void looks_like_a_bar(const Lines& lines, const Imported& imported) {
  EXPECT_GT(count(lines, "it/s"), 0U);
  EXPECT_GT(number(imported.run, "step.time_s"), 0.2);
  EXPECT_LT(number(imported.run, "step.time_s"), 0.6);
}
/// Seconds for 1000 steps between the lines "[2000 | 26779.30]" and "[3000 | 44618.04]": about 17.8 a step.
void looks_like_elapsed(const Lines& lines, const Imported& imported) {
  EXPECT_GT(count(lines, "loss="), 30U);
  EXPECT_GT(number(imported.run, "step.time_s"), 10);
  EXPECT_LT(number(imported.run, "step.time_s"), 40);
}
void looks_like_megatron(const Lines& lines, const Imported& imported) {
  auto times = numbers_after(lines, "elapsed time per iteration (ms): ");
  times.erase(times.begin());
  EXPECT_NEAR(number(imported.run, "step.time_s"), median(times) / 1e3, 1e-9);
  EXPECT_EQ(number(imported.run, "job.global_batch_size"), 2048);
}
void looks_like_mlperf(const Lines& lines, const Imported& imported) {
  const auto throughput = numbers_after(lines, "\"throughput\": ");
  EXPECT_EQ(fact(imported.run, "job.global_batch_size") != nullptr, count(lines, "\"global_batch_size\"") > 0);
  const auto evaluations = static_cast<std::size_t>(std::ranges::count_if(
      imported.run.marks, [](const auto& mark) { return mark.kind == record::MarkKind::region; }));
  EXPECT_EQ(evaluations, count(lines, "\"eval_stop\""));
  EXPECT_EQ(imported.run.complete(), count(lines, "\"run_stop\"") > 0);
  static_cast<void>(throughput);
}

// --- which look is for which file

struct Rule {
  std::string part;  ///< of the path below the corpus
  std::function<void(const Lines&, const Imported&)> look;
};
const std::vector<Rule> kRead{
    {"hw-logs/gpud-kernel-logs/components/accelerator/nvidia/xid/", has_the_xids},
    {"hw-logs/gpud-kernel-logs/components/memory/", has_the_xids},
    {"hw-logs/", is_read_line_by_line},
    {"nccl/a3mega-nccl-test/", looks_like_nccl_tests},
    {"nccl/alcf-polaris-training/resnet50/", looks_like_throughput},
    {"nccl/alcf-polaris-training/VAE/", looks_like_nccl_log},
    {"nccl/bigscience-allreduce-bench/", looks_like_bench},
    {"nccl/superbench-parser-data/nccl_", looks_like_nccl_tests},
    {"nccl/superbench-parser-data/megatron", looks_like_megatron},
    {"nccl/superbench-parser-data/gpu_burn", has_the_gpus_of_a_list},
    {"nccl/xxrjun-cluster00-pairwise/logs/", looks_like_nccl_tests},
    {"smi-table/azure-health-checks/1dev_6flap", has_the_lost_carriers},
    {"smi-table/azure-health-checks/0flap", is_read_line_by_line},
    {"nvlink_status.txt", has_the_links},
    {"nvsmi8_output.txt", has_the_gpus_of_a_listing},
    {"smi-table/pasted-snippets/err-fan-power", has_a_sample_a_row},
    {"smi-table/pasted-snippets/throttle-", has_the_gpus_of_a_listing},
    {"smi-table/", has_a_sample_a_row},
    {"smi-xml/ceems-fixtures/nvidia-smi-L.txt", has_the_gpus_of_a_list},
    {"smi-xml/", has_the_gpus_of_the_document},
    {"PyTorch_resnet50_AMP/", looks_like_dllogger},
    {"PyTorch_bert_large_squad_FP16/", looks_like_a_bar},
    {"train-logs/gpt2-1250M-8xV100/", looks_like_elapsed},
    {"train-logs/mlperf-v3.1-mlperf-logs/", looks_like_mlperf},
};

struct Refusal {
  std::string part, reason;
};
const std::vector<Refusal> kRefused{
    // Other tools: NVSwitch's manager, CUDA samples, GPCNeT, perftest, node monitors and their verdicts.
    {"fabricmanager.log", "line 1: '[Feb 25 2025 13:59:45]"},
    {"cuda_memory_d2d_bw.log", "line 1: '[CUDA Bandwidth Test]"},
    {"cuda_memory_d2h_bw.log", "line 1: '[CUDA Bandwidth Test]"},
    {"cuda_memory_h2d_bw.log", "line 1: '[CUDA Bandwidth Test]"},
    {"rocm_memory_d2h_bw.log", "line 1: 'Device:Device 738c"},
    {"rocm_memory_h2d_bw.log", "line 1: 'Device:Device 738c"},
    {"gpu_copy_bw_performance.log", "line 1: 'cpu_to_gpu0"},
    {"gpcnet_network_load.log", "line 3: "},
    {"gpcnet_network_load_error.log", "line 10: "},
    {"gpcnet_network_test.log", "line 13: "},
    {"gpcnet_network_test_error.log", "line 10: "},
    {"ib_loopback_8M_size.log", "line 18: "},
    {"ib_loopback_all_sizes.log", "line 41: "},
    {"ib_traffic_topo_aware_expected_config", "line 1: "},
    {"ib_traffic_topo_aware_hostfile", "line 1: "},
    {"ib_traffic_topo_aware_ibnetdiscover.txt", "line 1"},
    {"ib_traffic_topo_aware_ibstat.txt", "line 2: "},
    {"dist_inference.log", "line 1: 'Latency of step 0"},
    {"monitor/monitor.jsonl", "line 1: it is JSON of a kind that is not known"},
    {"diagnosis_summary.jsonl", "line 1: it is JSON of a kind that is not known"},
    {"xxrjun-cluster00-pairwise/failures.txt", "line 33: "},
    // AMD's tools.
    {"telegraf-rocm-smi/", "line 1: it is JSON of a kind that is not known"},
    {"amd-smi.json", "line 1: it is JSON of a kind that is not known"},
    // Query rows without a time.
    {"device-handle-error-between-rows.csv", "line 1: no column of"},
    {"unknown-error-a6000-partial.csv", "line 1: no column of"},
    {"unknown-error-in-loop-mode.txt", "line 1: no header names the 3 columns"},
    // Prints one step an epoch, the first, whose time is start-up; and the options of a benchmark.
    {"PyTorch_gnmt_FP16/", "training log"},
    {"benchmark.para", "line 1"},
};

class CorpusLogs : public ::testing::TestWithParam<std::string> {};

TEST_P(CorpusLogs, AreReadOrRefusedWithAReason) {
  const auto* corpus = std::getenv("GRADWATT_CORPUS");
  if (corpus == nullptr) GTEST_SKIP() << "GRADWATT_CORPUS is not set";
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(corpus) / GetParam())) {
    if (!entry.is_regular_file() || entry.path().filename() == "SOURCE.md") continue;
    const auto path = fs::relative(entry.path(), corpus).string();
    SCOPED_TRACE(path);
    ++files;
    const auto imported = import_files(std::vector{entry.path()});
    const auto refused = std::ranges::find_if(kRefused, [&](const auto& r) { return has(path, r.part); });
    if (refused != kRefused.end()) {
      ASSERT_FALSE(imported) << "read, though it should not be";
      EXPECT_THAT(imported.error().message, ::testing::HasSubstr(refused->reason));
      EXPECT_THAT(imported.error().message, ::testing::HasSubstr("line "));
      continue;
    }
    ASSERT_TRUE(imported) << imported.error().message;
    const auto rule = std::ranges::find_if(kRead, [&](const auto& r) { return has(path, r.part); });
    ASSERT_NE(rule, kRead.end()) << "no look is made for it";
    rule->look(lines_of(entry.path()), *imported);
  }
  EXPECT_GT(files, 0U);
}
INSTANTIATE_TEST_SUITE_P(Folders, CorpusLogs,
                         ::testing::Values("hw-logs", "nccl", "smi-table", "smi-xml", "train-logs"),
                         [](const auto& folder) {
                           auto name = folder.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace gradwatt::ingest

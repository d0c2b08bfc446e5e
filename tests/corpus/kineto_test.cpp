// Every trace of the corpus is imported with as many events as a plain count of its text gives, or refused with a
// reason; and where Holistic Trace Analysis was run on a trace, its figures come out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gradwatt/ingest/import.hpp"
#include "gradwatt/ingest/kineto/breakdown.hpp"
#include "gradwatt/ingest/kineto/idle_split.hpp"
#include "gradwatt/ingest/kineto/kineto_reader.hpp"
#include "gradwatt/ingest/kineto/step_window.hpp"

namespace gradwatt::ingest::kineto {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct Refusal {
  std::string file, reason;
};
const std::vector<Refusal> kRefused{
    {"hta-tests/execution_trace/benchmark_simple_add_et.json.gz", "JSON of a kind that is not known"},  // operators without times
    {"hta-tests/memory_analysis/memory_timeline.raw.gz", "JSON of a kind that is not known"},            // sizes of allocations
};

/// The file's text, unpacked by zlib's own reader, which takes plain files as well.
std::string text_of(const fs::path& file) {
  std::string text;
  auto* in = ::gzopen(file.c_str(), "rb");
  std::vector<char> block(1U << 16U);
  for (int got = 0; (got = ::gzread(in, block.data(), static_cast<unsigned>(block.size()))) > 0;)
    text.append(block.data(), static_cast<std::size_t>(got));
  ::gzclose(in);
  return text;
}

std::size_t count_of(const std::string& text, std::string_view piece) {
  std::size_t count = 0;
  for (auto at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++count;
  return count;
}

class KinetoCorpus : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* corpus = std::getenv("GRADWATT_CORPUS");
    if (corpus == nullptr || *corpus == '\0') GTEST_SKIP() << "GRADWATT_CORPUS is not set";
    folder_ = fs::path(corpus) / "traces";
    if (!fs::is_directory(folder_)) GTEST_SKIP() << folder_ << " is not there";
  }
  [[nodiscard]] std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      if (entry.is_regular_file() && entry.path().filename() != "SOURCE.md") all.push_back(entry.path());
    std::ranges::sort(all);
    return all;
  }
  [[nodiscard]] Trace read(const std::string& name) const {
    auto file = LineReader::open(folder_ / name);
    Diagnostics notes(name);
    auto trace = read_trace(file->bytes(), notes, default_memory_limit());
    if (!trace) throw std::runtime_error(trace.error().message);
    return std::move(*trace);
  }
  [[nodiscard]] Imported import(const std::string& name) const {
    auto imported = import_files(std::vector{folder_ / name});
    if (!imported) throw std::runtime_error(imported.error().message);
    return std::move(*imported);
  }
  static std::optional<double> figure(const record::Run& run, std::string_view name,
                                      std::string_view subject = "rank 0") {
    for (const auto& fact : run.facts)
      if (fact.name == name && fact.subject == subject) return record::as_number(fact);
    return std::nullopt;
  }
  static std::string said(const Imported& imported) {
    std::string all;
    for (const auto& diagnostic : imported.diagnostics) all += format(diagnostic) + "\n";
    return all;
  }
  fs::path folder_;
};

bool is_share(std::string_view name) { return name.ends_with("_share"); }

TEST_F(KinetoCorpus, EveryTraceIsImportedWithItsEventsOrRefusedWithAReason) {
  std::size_t imported_files = 0, refused_files = 0;
  for (const auto& file : files()) {
    const auto name = fs::relative(file, folder_).string();
    const auto imported = import_files(std::vector{file});
    const auto known = std::ranges::find(kRefused, name, &Refusal::file);
    if (known != kRefused.end()) {
      ASSERT_FALSE(imported) << name << " was imported";
      EXPECT_THAT(imported.error().message, HasSubstr(known->reason));
      ++refused_files;
      continue;
    }
    ASSERT_TRUE(imported) << imported.error().message;
    const auto text = text_of(file);
    EXPECT_EQ(imported->rows, count_of(text, "\"ph\": \"X\"") + count_of(text, "\"ph\":\"X\"")) << name;
    EXPECT_FALSE(imported->run.facts.empty()) << name;
    for (const auto& fact : imported->run.facts) {
      ASSERT_NE(record::find_fact(fact.name), nullptr) << name << " " << fact.name;
      if (!is_share(fact.name)) continue;
      EXPECT_GE(record::as_number(fact).value(), 0) << name << " " << fact.name;
      EXPECT_LE(record::as_number(fact).value(), 1 + 1e-9) << name << " " << fact.name;
    }
    for (const auto& mark : imported->run.marks) EXPECT_LE(mark.begin_ns, mark.end_ns) << name;
    EXPECT_LE(imported->run.spans.size(), 1'000'000U) << name;
    ++imported_files;
  }
  EXPECT_GE(imported_files, 22U);
  EXPECT_EQ(refused_files, kRefused.size());
}

/// As HTA reads times: to whole microseconds, begins up and ends down.
void round_inward(Trace& trace) {
  constexpr std::int64_t kMicrosecond = 1000;
  for (auto& event : trace.device) {
    event.begin_ns = (event.begin_ns + kMicrosecond - 1) / kMicrosecond * kMicrosecond;
    event.end_ns = event.end_ns / kMicrosecond * kMicrosecond;
    if (event.has_launch())
      event.launch_begin_ns = (event.launch_begin_ns + kMicrosecond - 1) / kMicrosecond * kMicrosecond;
  }
}

struct OfHta {
  std::string file;
  double idle_us, compute_pct, non_compute_pct;
  std::optional<double> overlap_pct;
  std::map<std::string, double> host_wait_us;  ///< by stream
  std::optional<double> kernel_wait_us;        ///< of the first stream
};
// Holistic Trace Analysis f4d0062: get_temporal_breakdown, get_idle_time_breakdown, get_comm_comp_overlap with
// defaults.
const std::vector<OfHta> kOfHta{
    {"kineto-tb-plugin-samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz",
     327'463,
     59.35,
     1.22,
     std::nullopt,
     {{"GPU 0 stream 7", 318'934}},
     8'529},
    {"hta-tests/nccl_parser_config/nccl_data.json.gz",
     338'781,
     17.26,
     4.97,
     14.31,
     {{"GPU 0 stream 7", 357'247}, {"GPU 0 stream 40", 381'499}},
     std::nullopt},
    {"hta-tests/timeline_analysis/sampled_rank-0.json.gz", 321'378, 17.71, 28.74, 11.81, {}, std::nullopt},
};

void expect_within_a_percent(double value, double expected, const std::string& what) {
  EXPECT_NEAR(value, expected, 0.01 * expected) << what;
}

TEST_F(KinetoCorpus, GivesTheFiguresOfHolisticTraceAnalysisOverItsWindow) {
  for (const auto& of_hta : kOfHta) {
    auto trace = read(of_hta.file);
    round_inward(trace);
    const auto window = select_window(trace, WindowRule::without_last_step);
    const auto traits = traits_of(trace.kernels);
    const auto parts = break_down(activity_of(window.work, traits), window.device);
    expect_within_a_percent(static_cast<double>(parts.idle_ns) * 1e-3, of_hta.idle_us, of_hta.file + " idle");
    expect_within_a_percent(100 * parts.share(parts.compute_ns), of_hta.compute_pct, of_hta.file + " compute");
    expect_within_a_percent(100 * parts.share(parts.non_compute_ns), of_hta.non_compute_pct,
                            of_hta.file + " non-compute");
    if (of_hta.overlap_pct) {
      const auto communication = static_cast<double>(parts.communication_ns);
      const auto overlap = 1 - static_cast<double>(parts.communication_exposed_ns) / communication;
      expect_within_a_percent(100 * overlap, *of_hta.overlap_pct, of_hta.file + " overlap");
    }
    for (const auto& [track, host_wait] : of_hta.host_wait_us) {
      std::vector<DeviceEvent> stream;
      std::ranges::copy_if(window.work, std::back_inserter(stream),
                           [&](const DeviceEvent& event) { return trace.tracks.text(event.track) == track; });
      ASSERT_FALSE(stream.empty());
      const auto split = split_idle(stream, {stream.front().begin_ns, stream.back().end_ns});
      expect_within_a_percent(static_cast<double>(split.host_wait_ns) * 1e-3, host_wait,
                              of_hta.file + track + " host wait");
      if (of_hta.kernel_wait_us)
        expect_within_a_percent(static_cast<double>(split.kernel_wait_ns) * 1e-3, *of_hta.kernel_wait_us,
                                of_hta.file + track + " kernel wait");
    }
  }
}

TEST_F(KinetoCorpus, TheLoaderWithoutWorkersTakesALargeShareAndTheOneWithFourNone) {
  const auto share = [&](const std::string& name) {
    return figure(import("kineto-tb-plugin-samples/" + name).run, "trace.loader_share").value();
  };
  EXPECT_GT(share("resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz"), 0.25);
  EXPECT_GT(share("resnet50_num_workers_0/worker0.1623143566756.pt.trace.json.gz"), 0.25);
  EXPECT_LT(share("resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz"), 0.05);
  EXPECT_LT(share("resnet50_num_workers_4/worker0.1623213129365.pt.trace.json.gz"), 0.05);
}

TEST_F(KinetoCorpus, SaysWhatATraceLacks) {
  EXPECT_THAT(said(import("hta-tests/distributed_info_unavailable/distributed_info_not_found.json.gz")),
              HasSubstr("taken as rank 0"));
  const auto cpu_only = import("hta-tests/cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz");
  EXPECT_THAT(said(cpu_only), HasSubstr("CPU alone"));
  EXPECT_FALSE(cpu_only.run.facts.empty());
  EXPECT_THAT(said(import("hta-tests/critical_path/alexnet/benchmark_result_2869224_1695835535_trace.json.gz")),
              HasSubstr("no ProfilerStep"));
}

TEST_F(KinetoCorpus, ReadsRocm) {
  const auto run = import("hta-tests/amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz").run;
  EXPECT_EQ(figure(run, "trace.steps"), 1);
  EXPECT_EQ(figure(run, "trace.kernels_per_step"), 14);
  EXPECT_GT(figure(run, "trace.copy_h2d_bytes_per_s").value(), 0);
}

TEST_F(KinetoCorpus, KeepsNanoseconds) {
  const auto run = import("hta-tests/nccl_parser_config/nccl_data.json.gz").run;
  ASSERT_EQ(run.marks.size(), 3U);
  EXPECT_EQ(run.marks[0].begin_ns, 1'711'964'646'000'000'000 + 4'458'676'416'788'066);
  EXPECT_EQ(run.marks[0].end_ns - run.marks[0].begin_ns, 222'442'191);
}

}  // namespace
}  // namespace gradwatt::ingest::kineto

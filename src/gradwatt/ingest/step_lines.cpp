#include "gradwatt/ingest/step_lines.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/text_scan.hpp"

namespace gradwatt::ingest {
namespace {

/// Longest step, epoch and count that are believed: a week, and 1e15.
constexpr double kLongest = 7 * 86400.0;
constexpr std::int64_t kMostSteps = 1'000'000'000'000'000;

bool word_ends_before(std::string_view text, std::size_t at) {
  if (at == 0) return true;
  const char c = text[at - 1];
  return c == ' ' || c == '\t' || c == ',' || c == '|' || c == '{' || c == '\'' || c == '"';
}

struct Meter {
  std::optional<double> value, mean;
};

/// "Time  0.3 ( 0.4)", "time: 0.523", "data_time: 0.0512 (0.06)": the value behind a key that begins a word.
Meter meter(std::string_view text, std::string_view key) {
  for (auto at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (!word_ends_before(text, at)) continue;
    TextScan scan(text.substr(at + key.size()));
    scan.eat(":");
    Meter found;
    found.value = scan.number();
    if (!found.value) continue;
    scan.eat("s");
    if (scan.eat("(")) found.mean = scan.number();
    return found;
  }
  return {};
}

std::optional<double> seconds(std::optional<double> value, double scale = 1) {
  if (!value || !(*value >= 0) || *value * scale > kLongest) return std::nullopt;
  return *value * scale;
}
std::optional<double> positive(std::optional<double> value) {
  return value && *value > 0 && *value < 1e15 ? value : std::nullopt;
}
std::optional<std::int64_t> count(std::optional<std::int64_t> value) {
  return value && *value >= 0 && *value <= kMostSteps ? value : std::nullopt;
}

/// "[  10/5005]" or "[  50/1251 (  4%)]"; false when it does not stand there.
bool step_of(TextScan& scan, StepLine& line) {
  if (!scan.eat("[")) return false;
  line.step = count(scan.integer());
  if (!line.step || !scan.eat("/")) return false;
  line.steps = count(scan.integer());
  return line.steps && scan.skip_past("]");
}

void take_meters(StepLine& line, std::string_view text, std::string_view time_key, std::string_view data_key) {
  const auto time = meter(text, time_key), data = meter(text, data_key);
  line.time_s = seconds(time.value), line.time_mean_s = seconds(time.mean);
  line.data_s = seconds(data.value), line.data_mean_s = seconds(data.mean);
}

// Epoch: [0][  10/5005]  Time  0.3 ( 0.4)  Data  0.1 ( 0.2)  Loss …          (examples/imagenet)
// TRAIN [0][10/4500]  Time 0.5 (0.5)  Data 3.3e-02 (3.3e-02)  Tok/s …                    (DeepLearningExamples GNMT)
// Epoch: [0]  [  10/5005]  eta: 1:00:00  lr: 0.1  img/s: 200  …  time: 0.3  data: 0.1  max mem: …    (torchvision)
std::optional<StepLine> read_imagenet(std::string_view text) {
  TextScan scan(text);
  if (!scan.skip_past("Epoch: [") && !scan.skip_past("TRAIN [")) return std::nullopt;
  StepLine line;
  line.epoch = count(scan.integer());
  if (!line.epoch || !scan.eat("]") || !step_of(scan, line)) return std::nullopt;
  take_meters(line, scan.rest(), "Time", "Data");
  if (!line.time_s) take_meters(line, scan.rest(), "time", "data");
  if (!line.time_s) return std::nullopt;
  return line;
}

// Train: 0 [  50/1251 (  4%)]  Loss: 6.9 (6.9)  Time: 0.5s, 2048.00/s  (0.6s, 1700.00/s)  LR: …  Data: 0.010 (0.050)
std::optional<StepLine> read_timm(std::string_view text) {
  TextScan scan(text);
  if (!scan.skip_past("Train: ")) return std::nullopt;
  StepLine line;
  line.epoch = count(scan.integer());
  if (!line.epoch || !step_of(scan, line) || !scan.skip_past("Time: ")) return std::nullopt;
  line.time_s = seconds(scan.number());
  if (!line.time_s) return std::nullopt;
  scan.eat("s"), scan.eat(",");
  line.samples_per_s = positive(scan.number());
  scan.eat("/s");
  if (scan.eat("(")) line.time_mean_s = seconds(scan.number());
  const auto data = meter(scan.rest(), "Data");
  line.data_s = seconds(data.value), line.data_mean_s = seconds(data.mean);
  return line;
}

// Epoch(train)  [1][  50/7330]  lr: …  time: 0.5234  data_time: 0.0512  memory: 5000  loss: …              (mmengine)
// Epoch [1][50/7330]  lr: 2.0e-03, eta: …, time: 0.523, data_time: 0.051, memory: …                        (mmcv)
// Iter(train) [ 50/20000]  lr: …  time: …  data_time: …
std::optional<StepLine> read_mm(std::string_view text) {
  StepLine line;
  TextScan scan(text);
  bool by_epoch = false;
  for (const std::string_view head : {"Epoch(train)", "Epoch ["}) {
    if (by_epoch) break;
    const auto at = text.find(head);
    if (at == std::string_view::npos) continue;
    scan = TextScan(text.substr(at + (head.back() == '[' ? head.size() - 1 : head.size())));
    by_epoch = scan.eat("[");
  }
  if (by_epoch) {
    line.epoch = count(scan.integer());
    if (!line.epoch || !scan.eat("]")) return std::nullopt;
  } else if (!scan.skip_past("Iter(train)") && !scan.skip_past("Iter ")) {
    return std::nullopt;
  }
  if (!step_of(scan, line)) return std::nullopt;
  take_meters(line, scan.rest(), "time", "data_time");
  if (!line.time_s) return std::nullopt;
  return line;
}

// eta: 0:05:00  iter: 19  total_loss: …  time: 0.3012  last_time: …  data_time: 0.0123  …  lr: …        (detectron2)
// eta: 0:05:00  iter: 20  loss: 1.7 (1.9)  time: 0.3 (0.4)  data: 0.01 (0.02)  lr: …          (maskrcnn-benchmark)
std::optional<StepLine> read_detectron(std::string_view text) {
  TextScan scan(text);
  if (!scan.skip_past("iter: ")) return std::nullopt;
  StepLine line;
  line.step = count(scan.integer());
  if (!line.step) return std::nullopt;
  take_meters(line, scan.rest(), "time", "data_time");
  if (!line.data_s) {
    const auto data = meter(scan.rest(), "data");
    line.data_s = seconds(data.value), line.data_mean_s = seconds(data.mean);
  }
  if (!line.time_s) return std::nullopt;
  return line;
}

// iteration  2/  5 | … | elapsed time per iteration (ms): 75254.0 | … | global batch size: 2048 | … (Megatron-LM)
std::optional<StepLine> read_megatron(std::string_view text) {
  TextScan scan(text);
  if (!scan.skip_past("iteration ")) return std::nullopt;
  StepLine line;
  line.step = count(scan.integer());
  if (!line.step || !scan.eat("/")) return std::nullopt;
  line.steps = count(scan.integer());
  line.time_s = seconds(number_after(scan.rest(), "elapsed time per iteration (ms):"), 1e-3);
  if (!line.time_s) return std::nullopt;
  line.global_batch = positive(number_after(scan.rest(), "global batch size:"));
  line.samples_per_s = positive(number_after(scan.rest(), "samples per second:"));
  return line;
}

// … epoch=0/micro_step=10/global_step=10, RunningAvgSamplesPerSec=27.5, CurrSamplesPerSec=27.4, …  (DeepSpeed)
std::optional<StepLine> read_deepspeed(std::string_view text) {
  const auto rate = number_after(text, "CurrSamplesPerSec=");
  if (!rate) return std::nullopt;
  StepLine line;
  TextScan scan(text);
  if (scan.skip_past("global_step=")) line.step = count(scan.integer());
  line.samples_per_s = positive(rate);
  if (!line.samples_per_s) return std::nullopt;
  return line;
}

// DLL 2024-07-28 10:09:47.587117 - Epoch: 0 Iteration: 2  train.loss : … train.compute_ips : 21858.39 images/s
// train.total_ips : 21841.97 images/s …                                             (NVIDIA DeepLearningExamples)
// DLL … - Epoch: 1  train.data_time : 0.00013 s train.compute_time : 0.46110 s
std::optional<StepLine> read_dllogger(std::string_view text) {
  TextScan scan(text);
  if (!scan.eat("DLL ") || !scan.skip_past(" - ")) return std::nullopt;
  if (!scan.eat("Epoch: ")) return std::nullopt;
  StepLine line;
  line.epoch = count(scan.integer());
  if (!line.epoch) return std::nullopt;
  if (scan.eat("Iteration: ")) line.step = count(scan.integer());
  line.samples_per_s = positive(number_after(scan.rest(), "train.total_ips :"));
  if (!line.step) {  // of the whole epoch
    const auto data = seconds(number_after(scan.rest(), "train.data_time :"));
    const auto compute = seconds(number_after(scan.rest(), "train.compute_time :"));
    if (!data || !compute) return std::nullopt;
    line.samples_per_s.reset();
    line.data_mean_s = data;
    line.time_mean_s = *data + *compute;
  } else if (!line.samples_per_s) {
    return std::nullopt;
  }
  return line;
}

// {'train_runtime': 100.5, 'train_samples_per_second': 120.3, 'train_steps_per_second': 3.76, …}  (Hugging Face
// Trainer)
std::optional<StepLine> read_hugging_face(std::string_view text) {
  const auto number = [&](std::string_view key) {
    TextScan scan(text);
    if (!scan.skip_past(key)) return std::optional<double>{};
    scan.eat("'") || scan.eat("\"");
    scan.eat(":");
    scan.eat("'") || scan.eat("\"");
    return scan.number();
  };
  if (text.find("train_runtime") == std::string_view::npos) return std::nullopt;
  StepLine line;
  line.samples_per_s = positive(number("train_samples_per_second"));
  if (const auto steps = positive(number("train_steps_per_second"))) line.time_mean_s = seconds(1 / *steps);
  if (!line.samples_per_s && !line.time_mean_s) return std::nullopt;
  return line;
}

// Throughput: 1904.068 images/s, Batch size: 16, Num of GPUs: 8, Total time: 6.896 s, Average batch time: 0.068 s, …
std::optional<StepLine> read_throughput(std::string_view text) {
  TextScan scan(text);
  if (!scan.eat("Throughput:")) return std::nullopt;
  StepLine line;
  line.samples_per_s = positive(scan.number());
  if (!line.samples_per_s || !scan.eat("images/s")) return std::nullopt;
  line.time_s = seconds(number_after(scan.rest(), "Average batch time:"));
  const auto batch = positive(number_after(scan.rest(), "Batch size:"));
  const auto gpus = positive(number_after(scan.rest(), "Num of GPUs:"));
  if (batch && gpus) line.global_batch = *batch * *gpus;
  return line;
}

// [501 | 32.67] loss=9.5938 avg=9.5938 lr=1.00e-04: step and seconds since the begin             (gpt-2 trainers)
std::optional<StepLine> read_elapsed(std::string_view text) {
  TextScan scan(text);
  if (!scan.eat("[")) return std::nullopt;
  StepLine line;
  line.step = count(scan.integer());
  if (!line.step || !scan.eat("|")) return std::nullopt;
  const auto elapsed = scan.number();
  if (!elapsed || *elapsed < 0 || *elapsed > 1e9 || !scan.eat("]") || !scan.eat("loss=")) return std::nullopt;
  line.elapsed_s = elapsed;
  return line;
}

/// "01:05" or "1:02:03" in seconds.
std::optional<double> clock_of(TextScan& scan) {
  double total = 0;
  int parts = 0;
  do {
    const auto part = scan.integer();
    if (!part || *part < 0 || *part > 100000 || ++parts > 3) return std::nullopt;
    total = total * 60 + static_cast<double>(*part);
  } while (scan.eat(":"));
  return parts >= 2 ? std::optional(total) : std::nullopt;
}

// Epoch 0:  52%|█████▏    | 51/99 [00:18<00:17,  2.81it/s, …]: tqdm, as Lightning and many scripts print it. Carriage
// returns put all states of a bar on one line: the last one is read.
std::optional<StepLine> read_bar(std::string_view text) {
  const auto state = text.rfind("%|");
  if (state == std::string_view::npos) return std::nullopt;
  auto begin = text.rfind('\r', state);
  begin = begin == std::string_view::npos ? 0 : begin + 1;
  const auto title = core::to_lower(text.substr(begin, std::min<std::size_t>(state - begin, 40)));
  constexpr auto kTraining = std::to_array<std::string_view>({"train", "epoch", "iteration", "step"});
  const auto names = [&](std::string_view word) { return title.find(word) != std::string::npos; };
  if (std::ranges::none_of(kTraining, names) || names("valid") || names("eval") || names("test")) return std::nullopt;
  TextScan scan(text.substr(state + 2));
  if (!scan.skip_past("| ")) return std::nullopt;
  StepLine line;
  line.step = count(scan.integer());
  if (!line.step || !scan.eat("/")) return std::nullopt;
  line.steps = count(scan.integer());
  if (!line.steps || *line.steps < 10 || !scan.eat("[")) return std::nullopt;
  line.elapsed_s = clock_of(scan);
  if (!line.elapsed_s) return std::nullopt;
  constexpr double kLongEnough = 10;  // seconds: the bar shows whole ones
  if (*line.elapsed_s >= kLongEnough && *line.step > 0)
    line.time_mean_s = *line.elapsed_s / static_cast<double>(*line.step);
  return line;
}

constexpr auto kFormats = std::to_array<StepFormat>({
    {"PyTorch examples and torchvision", read_imagenet},
    {"timm", read_timm},
    {"OpenMMLab", read_mm},
    {"detectron2", read_detectron},
    {"Megatron-LM", read_megatron},
    {"DeepSpeed", read_deepspeed},
    {"NVIDIA DLLogger", read_dllogger},
    {"Hugging Face Trainer", read_hugging_face},
    {"throughput lines", read_throughput},
    {"steps with elapsed seconds", read_elapsed},
    {"progress bars", read_bar, true},
});

}  // namespace

std::span<const StepFormat> step_formats() { return kFormats; }

}  // namespace gradwatt::ingest

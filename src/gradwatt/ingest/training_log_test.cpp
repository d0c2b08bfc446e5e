#include "gradwatt/ingest/training_log.hpp"

#include <filesystem>
#include <fstream>

#include "gradwatt/ingest/fact_queries.hpp"

namespace gradwatt::ingest {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Optional;

TEST(TrainingLog, TakesTheShareOfDataWaitFromRunningMeans) {
  // From step 0 to step 20: (21 × 0.5 − 3) / 20 s a step, of which (21 × 0.2 − 2) / 20 s for data.
  const auto run = read_well(
      "Epoch: [0][  0/5005]\tTime  3.000 ( 3.000)\tData  2.000 ( 2.000)\tLoss 6.9\n"
      "Epoch: [0][ 10/5005]\tTime  0.400 ( 0.700)\tData  0.100 ( 0.300)\tLoss 6.9\n"
      "Epoch: [0][ 20/5005]\tTime  0.300 ( 0.500)\tData  0.150 ( 0.200)\tLoss 6.9\n");
  EXPECT_THAT(number(run, "step.data_wait_share"), Optional(DoubleNear(2.2 / 7.5, 1e-9)));
  EXPECT_THAT(number(run, "step.data_wait_s"), Optional(DoubleNear(0.11, 1e-9)));
  EXPECT_EQ(number(run, "step.data_wait_max_s"), 0.15) << "without the start of the loader";
  EXPECT_EQ(number(run, "step.time_s"), 0.4);
  EXPECT_EQ(number(run, "step.count"), 2);
  EXPECT_EQ(find(run, "step.time_s", "job")->source, "file.log:3");
  EXPECT_TRUE(run.run.marks.empty()) << "no time of day, no marks";
}

struct Sample {
  std::string program, text;
  double step_s;
  std::optional<double> data_share, samples_per_s;
};

TEST(TrainingLog, ReadsTheLinesOfManyPrograms) {
  const std::vector<Sample> samples{
      {"examples, old",
       "Epoch: [1][10/99]\tTime 0.400 (0.500)\tData 0.100 (0.100)\nEpoch: [1][20/99]\tTime 0.400 (0.500)\tData 0.100 "
       "(0.100)\n",
       0.4,
       0.2,
       {}},
      {"torchvision",
       "Epoch: [0]  [  10/5005]  eta: 1:00:00  lr: 0.1  img/s: 200.0  loss: 6.9 (6.9)  time: 0.5 (0.5)  data: 0.25 "
       "(0.25)  max mem: 5\n",
       0.5,
       0.5,
       {}},
      {"timm",
       "Train: 0 [  50/1251 (  4%)]  Loss: 6.9 (6.9)  Time: 0.500s, 2048.00/s  (0.500s, 2048.00/s)  LR: 1.0e-06  Data: "
       "0.010 (0.050)\n",
       0.5, 0.1, 2048},
      {"mmengine",
       "2024/05/01 10:00:00 - mmengine - INFO - Epoch(train)  [1][  50/7330]  lr: 1e-3  eta: 1 day  time: 0.5000  "
       "data_time: "
       "0.0500  memory: 5000  loss: 1.0\n",
       0.5,
       0.1,
       {}},
      {"mmcv",
       "2021-05-01 10:00:00,123 - mmdet - INFO - Epoch [1][50/7330]\tlr: 2.0e-03, eta: 1 day, time: 0.523, data_time: "
       "0.051, memory: 5\n",
       0.523,
       0.051 / 0.523,
       {}},
      {"mmengine by iteration", "Iter(train) [  50/20000]  lr: 1e-3  time: 0.2  data_time: 0.1\n", 0.2, 0.5, {}},
      {"detectron2",
       "[05/01 10:00:00 d2.utils.events]:  eta: 0:05:00  iter: 19  total_loss: 1.7  time: 0.3012  last_time: 0.3  "
       "data_time: 0.0123  last_data_time: 0.01  lr: 0.1\n",
       0.3012,
       0.0123 / 0.3012,
       {}},
      {"maskrcnn-benchmark",
       "eta: 0:05:00  iter: 20  loss: 1.7 (1.9)  time: 0.3 (0.4)  data: 0.01 (0.04)  lr: 0.1\n",
       0.3,
       0.1,
       {}},
      {"Megatron",
       " iteration        2/       5 | consumed samples:         4096 | elapsed time per iteration (ms): 75254.0 | "
       "learning rate: 1 | "
       "global batch size:  2048 | samples per second: 27.215 | TFLOPs: 149.10 |\n",
       75.254,
       {},
       27.215},
      {"throughput",
       "Throughput: 1904.0 images/s, Batch size: 16, Num of GPUs: 8, Total time: 6.9 s, Average batch time: 0.068 s, "
       "First batch time: 0.2 s\n",
       0.068,
       {},
       1904},
      {"Hugging Face",
       "{'train_runtime': 100.5, 'train_samples_per_second': 120.0, 'train_steps_per_second': 4.0, 'train_loss': 1.2, "
       "'epoch': 3.0}\n",
       0.25,
       {},
       120},
      {"elapsed", "[500 | 30.0] loss=9.5 avg=9.5\n[600 | 80.0] loss=9.5 avg=9.5\n", 0.5, {}, {}},
      {"progress bar", "Epoch 0:  50%|#####     | 50/100 [00:25<00:25,  2.00it/s, v_num=0]\n", 0.5, {}, {}},
      {"DLLogger",
       "DLL 2024-07-28 10:09:47.000000 - Epoch: 0 Iteration: 2  train.loss : 6 train.total_ips : 100.0 images/s\n"
       "DLL 2024-07-28 10:09:47.500000 - Epoch: 0 Iteration: 3  train.loss : 6 train.total_ips : 100.0 images/s\n"
       "DLL 2024-07-28 10:09:47.600000 - Epoch: 0  train.data_time : 0.10000 s train.compute_time : 0.40000 s\n",
       0.5, 0.2, 100},
  };
  for (const auto& sample : samples) {
    SCOPED_TRACE(sample.program);
    const auto run = read_well(sample.text);
    EXPECT_THAT(number(run, "step.time_s"), Optional(DoubleNear(sample.step_s, 1e-9)));
    const auto share = number(run, "step.data_wait_share");
    EXPECT_EQ(share.has_value(), sample.data_share.has_value());
    if (share && sample.data_share) {
      EXPECT_NEAR(*share, *sample.data_share, 1e-9);
    }
    EXPECT_EQ(number(run, "step.samples_per_s"), sample.samples_per_s);
  }
}

TEST(TrainingLog, EveryStepWithATimeOfDayIsAMark) {
  const auto run = read_well(
      "DLL 2024-07-28 10:09:47.000000 - Epoch: 0 Iteration: 2  train.total_ips : 100.0 images/s\n"
      "DLL 2024-07-28 10:09:47.500000 - Epoch: 0 Iteration: 3  train.total_ips : 100.0 images/s\n"
      "DLL 2024-07-28 10:09:49.500000 - Epoch: 0 Iteration: 7  train.total_ips : 100.0 images/s\n");
  ASSERT_EQ(run.run.marks.size(), 1U) << "of steps 4 to 7 only the end is known";
  EXPECT_EQ(run.run.marks[0].end_ns - run.run.marks[0].begin_ns, 500'000'000);
  EXPECT_EQ(run.run.text(record::meta::kZoneKnown), "0");
}

TEST(TrainingLog, RanksAreToldApart) {
  std::string log;
  for (const int step : {1, 2, 3, 4})
    for (const std::string rank : {"[1,0]<stdout>:", "[1,1]<stdout>:"})
      log += rank + "Epoch: [0][" + std::to_string(step) + "/9]\tTime " + (rank[3] == '0' ? "0.5 (0.5)" : "0.7 (0.7)") +
             "\tData 0.1 (0.1)\n";
  const auto run = read_well(log);
  EXPECT_EQ(number(run, "step.time_s", "rank 0"), 0.5);
  EXPECT_EQ(number(run, "step.time_s", "rank 1"), 0.7);
  EXPECT_EQ(number(run, "step.count", "rank 1"), 3);
}

TEST(TrainingLog, EvaluationIsNoTraining) {
  EXPECT_THAT(refused("Test: [ 0/10]\tTime  0.300 ( 0.300)\tLoss 1\n"), HasSubstr("line 1"));
  EXPECT_THAT(refused("validation:  50%|#####     | 50/100 [00:25<00:25,  2.00it/s]\n"), HasSubstr("line 1"));
}

TEST(TrainingLog, OnlyFirstStepsAreNoEvidence) {
  std::string log;
  for (int epoch = 0; epoch < 4; ++epoch)
    log +=
        "TRAIN [" + std::to_string(epoch) + "][0/8]\tTime 3.230 (0.000)\tData 2.88e+00 (0.00e+00)\tTok/s 21235 (0)\n";
  EXPECT_THAT(refused(log),
              HasSubstr("and 3 other lines are of the kind training log, but hold no figure that can be used"));
}

TEST(TrainingLog, AbsurdFiguresAreNotBelieved) {
  for (const auto* line :
       {"Epoch: [0][1/9]\tTime -3.0 (1.0)\tData 0.1 (0.1)\n", "Epoch: [0][1/9]\tTime 1e300 (1.0)\tData 0.1 (0.1)\n",
        "Epoch: [0][99999999999999999999/9]\tTime 1.0 (1.0)\n", "[501 | -5] loss=1\n",
        "Train: 0 [1/2]  Time: nans, 5/s\n"})
    EXPECT_THAT(refused(line), HasSubstr("line 1")) << line;
}

TEST(MlLog, GivesThroughputEpochsAndNodePower) {
  const auto line = [](std::int64_t ms, const std::string& key, const std::string& value) {
    return " 0: :::MLLOG {\"namespace\": \"\", \"time_ms\": " + std::to_string(1715288257000 + ms) +
           ", \"event_type\": \"X\", \"key\": \"" + key + "\", \"value\": " + value + ", \"metadata\": {}}\n";
  };
  const auto run =
      read_well(line(0, "run_start", "null") + line(0, "global_batch_size", "48") + line(10, "epoch_start", "null") +
                line(100, "power_reading", "2699") + line(900, "power_reading", "2801") +
                line(1000, "tracked_stats", "{\"throughput\": 3796.5, \"x\": 1}") + line(1010, "epoch_stop", "null") +
                line(1010, "eval_start", "null") + line(1510, "eval_stop", "null") + line(2000, "run_stop", "null"));
  EXPECT_EQ(number(run, "step.samples_per_s"), 3796.5);
  EXPECT_EQ(number(run, "job.global_batch_size"), 48);
  EXPECT_EQ(number(run, "step.evaluation_share"), 0.25);
  ASSERT_EQ(run.run.marks.size(), 2U);
  EXPECT_EQ(run.run.marks[0].kind, record::MarkKind::epoch);
  EXPECT_EQ(run.run.marks[1].name, "evaluation");
  ASSERT_EQ(run.run.series.size(), 1U);
  EXPECT_EQ(run.run.series[0].columns.at(0).at(1), 2801);
  EXPECT_EQ(run.run.extent()->end_ns - run.run.extent()->begin_ns, 2'000'000'000);
}

TEST(MlLog, TheJobsLogSaysWhenTheNodesPowerCounts) {
  const auto folder = std::filesystem::path(::testing::TempDir());
  const std::vector files{folder / "gradwatt-mllog-power", folder / "gradwatt-mllog-run"};
  const auto line = [](std::int64_t ms, const std::string& key, const std::string& value) {
    return ":::MLLOG {\"time_ms\": " + std::to_string(1715288257000 + ms) + ", \"key\": \"" + key +
           "\", \"value\": " + value + "}\n";
  };
  std::ofstream(files[0]) << line(0, "power_reading", "100") << line(9000, "power_reading", "100");
  std::ofstream(files[1]) << line(2000, "run_start", "null") << line(3000, "run_stop", "null");
  for (const bool power_first : {true, false}) {
    const auto imported = import_files(power_first ? files : std::vector{files[1], files[0]});
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_EQ(imported->run.extent()->begin_ns, 1715288259'000000000);
    EXPECT_EQ(imported->run.extent()->end_ns, 1715288260'000000000);
  }
  for (const auto& file : files) std::filesystem::remove(file);
}

TEST(MlLog, ARunWithoutEndIsNotComplete) {
  const auto run = read_well(
      ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1715288257000, \"event_type\": \"X\", \"key\": \"run_start\", "
      "\"value\": null}\n"
      ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1715288257001, \"event_type\": \"X\", \"key\": "
      "\"global_batch_size\", \"value\": 8}\n");
  EXPECT_EQ(run.run.text(record::meta::kComplete), "0");
}

}  // namespace
}  // namespace gradwatt::ingest

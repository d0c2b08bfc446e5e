#include "gradwatt/training/data/loader.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

namespace gradwatt::training {
namespace {

using testing::HasSubstr;

/// Each input row holds its index and one random number, the target is the index.
class Numbers : public ImageDataset {
 public:
  explicit Numbers(std::size_t size) : size_(size) {}
  std::size_t size() const override { return size_; }
  std::vector<std::int64_t> input_shape() const override { return {2}; }
  std::int64_t classes() const override { return static_cast<std::int64_t>(size_); }
  core::Result<void> fill(std::size_t index, ExampleRandom& random, ExampleSlot slot) const override {
    if (throwing.contains(index)) throw std::runtime_error("thrown on purpose");
    if (unreadable.contains(index)) {
      return core::fail(core::Errc::unusable_input,
                        "cannot decode the image " + std::to_string(index) + ".jpg: broken");
    }
    // The later an example of a batch, the faster it is: without care they would arrive in the wrong order.
    if (uneven) std::this_thread::sleep_for(std::chrono::microseconds(index % 7 == 0 ? 300 : 0));
    slot.input[0] = static_cast<float>(index);
    slot.input[1] = static_cast<float>(random.uniform());
    *slot.label = static_cast<std::int64_t>(index);
    ++filled;
    return {};
  }

  std::set<std::size_t> unreadable, throwing;
  bool uneven = false;
  mutable std::atomic<int> filled = 0;

 private:
  std::size_t size_;
};

DistributedSampler sampler(std::size_t size, std::size_t batch, Remainder remainder = Remainder::drop) {
  return DistributedSampler::make({.size = size, .local_batch = batch, .seed = 11, .remainder = remainder}).value();
}

struct Epoch {
  std::vector<float> input;
  std::vector<std::int64_t> target;
  std::vector<std::uint64_t> positions;
  std::string error;
};

Epoch drain(Loader& loader) {
  Epoch epoch;
  while (true) {
    auto batch = loader.next();
    if (!batch) {
      epoch.error = batch.error().message;
      return epoch;
    }
    if (!*batch) return epoch;
    const auto& b = **batch;
    EXPECT_EQ(b.input.size(0), static_cast<std::int64_t>(b.indices.size()));
    epoch.input.insert(epoch.input.end(), b.input.data_ptr<float>(), b.input.data_ptr<float>() + b.input.numel());
    epoch.target.insert(epoch.target.end(), b.target.data_ptr<std::int64_t>(),
                        b.target.data_ptr<std::int64_t>() + b.target.numel());
    epoch.positions.push_back(b.position_after);
  }
}

Epoch epoch_with(std::shared_ptr<const Dataset> dataset, const DistributedSampler& s, LoaderSettings settings,
                 std::uint64_t epoch = 0, std::uint64_t position = 0) {
  Loader loader(std::move(dataset), s, settings);
  EXPECT_TRUE(loader.begin_epoch(epoch, position));
  return drain(loader);
}

TEST(Loader, GivesTheSameBatchesWhateverTheSettings) {
  auto data = std::make_shared<Numbers>(203);
  data->uneven = true;
  const auto s = sampler(203, 10, Remainder::spread);
  const auto expected = epoch_with(data, s, {.workers = 0}, 2);
  EXPECT_EQ(expected.target.size(), 203U);
  EXPECT_EQ(expected.positions.back(), 203U);
  for (const auto& settings : {LoaderSettings{.workers = 1, .prefetch = 1}, LoaderSettings{.workers = 3, .prefetch = 2},
                               LoaderSettings{.workers = 7, .prefetch = 5, .persistent_workers = false}}) {
    const auto got = epoch_with(data, s, settings, 2);
    EXPECT_EQ(got.input, expected.input);
    EXPECT_EQ(got.target, expected.target);
    EXPECT_EQ(got.positions, expected.positions);
  }
}

TEST(Loader, ResumesWithTheBatchesThatTheUnbrokenEpochWouldHaveGiven) {
  auto data = std::make_shared<Numbers>(100);
  const auto s = sampler(100, 10);
  const auto whole = epoch_with(data, s, {.workers = 2}, 1);
  const auto rest = epoch_with(data, s, {.workers = 2}, 1, whole.positions[3]);
  EXPECT_EQ(rest.input, std::vector<float>(whole.input.begin() + 80, whole.input.end()));
}

TEST(Loader, ServesEpochAfterEpochAndDropsTheRestOfAnAbandonedOne) {
  for (const bool persistent : {true, false}) {
    auto data = std::make_shared<Numbers>(64);
    Loader loader(data, sampler(64, 8), {.workers = 3, .persistent_workers = persistent});
    for (std::uint64_t epoch = 0; epoch < 5; ++epoch) {
      ASSERT_TRUE(loader.begin_epoch(epoch));
      if (epoch % 2 == 0) {
        ASSERT_TRUE(loader.next().value());
        continue;
      }
      EXPECT_EQ(drain(loader).input, epoch_with(data, sampler(64, 8), {.workers = 0}, epoch).input);
    }
  }
}

TEST(Loader, TakesNewSettingsAndAnotherBatchSizeAtTheNextEpoch) {
  auto data = std::make_shared<Numbers>(64);
  Loader loader(data, sampler(64, 8), {.workers = 1});
  for (const int workers : {4, 0, 2}) {
    loader.set_settings({.workers = workers});
    loader.set_sampler(sampler(64, 16));
    ASSERT_TRUE(loader.begin_epoch(0));
    EXPECT_EQ(drain(loader).positions, (std::vector<std::uint64_t>{16, 32, 48, 64}));
  }
}

TEST(Loader, NeverOverwritesABatchThatTheConsumerStillHolds) {
  auto data = std::make_shared<Numbers>(400);
  Loader loader(data, sampler(400, 4), {.workers = 2, .prefetch = 1});
  ASSERT_TRUE(loader.begin_epoch(0));
  std::vector<Batch> kept;
  for (auto batch = loader.next(); batch.value(); batch = loader.next()) kept.push_back(std::move(**batch));
  ASSERT_EQ(kept.size(), 100U);
  for (const auto& batch : kept) {
    for (std::size_t i = 0; i < batch.indices.size(); ++i) {
      EXPECT_EQ(batch.input[static_cast<std::int64_t>(i)][0].item<float>(), static_cast<float>(batch.indices[i]));
    }
  }
}

TEST(Loader, UsesTheMemoryOfReleasedBatchesAgain) {
  auto data = std::make_shared<Numbers>(400);
  Loader loader(data, sampler(400, 4), {.workers = 2, .prefetch = 2});
  std::set<const float*> places;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    ASSERT_TRUE(loader.begin_epoch(epoch));
    while (true) {
      auto batch = loader.next();
      if (!batch.value()) break;
      places.insert((*batch)->input.data_ptr<float>());
    }
  }
  EXPECT_LE(places.size(), 6U);  // four read ahead, two with the consumer
}

TEST(Loader, ReadsNoFurtherAheadThanAsked) {
  auto data = std::make_shared<Numbers>(1000);
  Loader loader(data, sampler(1000, 10), {.workers = 2, .prefetch = 3});
  ASSERT_TRUE(loader.begin_epoch(0));
  ASSERT_TRUE(loader.next().value());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_LE(data->filled, 70);  // the delivered batch and six ahead
}

TEST(Loader, GivesTheErrorOfABadExampleAfterTheBatchesBeforeIt) {
  for (const int workers : {0, 1, 4}) {
    auto data = std::make_shared<Numbers>(100);
    const auto order = sampler(100, 10).order(0);
    data->unreadable = {order[37], order[39], order[81]};
    Loader loader(data, sampler(100, 10), {.workers = workers});
    ASSERT_TRUE(loader.begin_epoch(0));
    const auto got = drain(loader);
    EXPECT_EQ(got.positions, (std::vector<std::uint64_t>{10, 20, 30})) << workers;
    EXPECT_THAT(got.error, HasSubstr(std::to_string(order[37]) + ".jpg: broken"));
    EXPECT_EQ(loader.next().error().message, got.error);
  }
}

TEST(Loader, WorksAgainInTheEpochAfterAnError) {
  auto data = std::make_shared<Numbers>(40);
  const auto first = sampler(40, 10).order(0)[0];
  data->unreadable = {first};
  Loader loader(data, sampler(40, 10), {.workers = 2});
  ASSERT_TRUE(loader.begin_epoch(0));
  EXPECT_FALSE(drain(loader).error.empty());
  data->unreadable.clear();
  ASSERT_TRUE(loader.begin_epoch(1));
  EXPECT_EQ(drain(loader).target.size(), 40U);
}

TEST(Loader, PutsTheNextReadableExampleInThePlaceOfABadOneWhenAsked) {
  auto data = std::make_shared<Numbers>(40);
  data->unreadable = {5, 6};
  LoaderSettings settings{.workers = 3, .bad_example = BadExample::substitute};
  Loader loader(data, sampler(40, 10), settings);
  ASSERT_TRUE(loader.begin_epoch(0));
  const auto got = drain(loader);
  EXPECT_EQ(got.error, "");
  EXPECT_EQ(std::count(got.target.begin(), got.target.end(), 7), 3);
  EXPECT_EQ(std::count(got.target.begin(), got.target.end(), 5), 0);
  EXPECT_EQ(loader.substituted().count, 3U);  // 5 by 6 by 7, and 6 by 7
  EXPECT_THAT(loader.substituted().last_reason, HasSubstr(".jpg: broken"));
  settings.workers = 0;
  EXPECT_EQ(got.input, epoch_with(data, sampler(40, 10), settings).input);
}

TEST(Loader, GivesUpWhenNoExampleCanBeRead) {
  auto data = std::make_shared<Numbers>(8);
  for (std::size_t i = 0; i < 8; ++i) data->unreadable.insert(i);
  const auto got = epoch_with(data, sampler(8, 4), {.workers = 2, .bad_example = BadExample::substitute});
  EXPECT_THAT(got.error, HasSubstr("broken"));
}

TEST(Loader, TurnsAnExceptionOfADataSetIntoAnError) {
  auto data = std::make_shared<Numbers>(8);
  data->throwing = {3};
  const auto got = epoch_with(data, sampler(8, 8), {.workers = 2});
  EXPECT_THAT(got.error, HasSubstr("cannot load example 3: thrown on purpose"));
}

TEST(Loader, RefusesAPositionBeyondTheEpoch) {
  Loader loader(std::make_shared<Numbers>(8), sampler(8, 4), {.workers = 1});
  EXPECT_THAT(loader.begin_epoch(0, 9).error().message, HasSubstr("another data set"));
  EXPECT_FALSE(loader.next().value());
}

TEST(Loader, GivesNothingBeforeAnEpochBegins) {
  for (const int workers : {0, 2}) {
    Loader loader(std::make_shared<Numbers>(8), sampler(8, 4), {.workers = workers});
    EXPECT_FALSE(loader.next().value());
  }
}

/// Every example waits until the test opens the gate.
class Gated : public Numbers {
 public:
  using Numbers::Numbers;
  core::Result<void> fill(std::size_t index, ExampleRandom& random, ExampleSlot slot) const override {
    std::unique_lock lock(mutex);
    ++waiting;
    changed.notify_all();
    changed.wait(lock, [&] { return open; });
    lock.unlock();
    return Numbers::fill(index, random, slot);
  }
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  mutable int waiting = 0;
  bool open = false;
};

TEST(Loader, EndsWhileItsWorkersAreBusy) {
  auto data = std::make_shared<Gated>(1000);
  std::thread opener;
  {
    Loader loader(data, sampler(1000, 100), {.workers = 2, .prefetch = 1});
    ASSERT_TRUE(loader.begin_epoch(0));
    std::unique_lock lock(data->mutex);
    data->changed.wait(lock, [&] { return data->waiting == 2; });
    lock.unlock();
    opener = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the destructor waits by now, or soon will
      const std::lock_guard guard(data->mutex);
      data->open = true;
      data->changed.notify_all();
    });
  }
  opener.join();  // reached at all: the destructor came back
}

TEST(Loader, LoadsWholeExamplesOfDataSetsThatOnlyKnowGet) {
  class OnlyGet : public Dataset {
   public:
    std::size_t size() const override { return 6; }
    core::Result<Example> get(std::size_t index, ExampleRandom&) const override {
      return Example{at::full({1, 2, 2}, static_cast<double>(index)), at::full({2}, -static_cast<double>(index))};
    }
    std::vector<std::int64_t> input_shape() const override { return {1, 2, 2}; }
    std::vector<std::int64_t> target_shape() const override { return {2}; }
    std::int64_t classes() const override { return 0; }
  };
  Loader loader(std::make_shared<OnlyGet>(), sampler(6, 3), {.workers = 2});
  ASSERT_TRUE(loader.begin_epoch(0));
  const auto batch = loader.next().value().value();
  EXPECT_EQ(batch.target.sizes(), (std::vector<std::int64_t>{3, 2}));
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(batch.input[i][0][1][1].item<float>(), static_cast<float>(batch.indices[static_cast<std::size_t>(i)]));
    EXPECT_EQ(batch.target[i][1].item<float>(), -batch.input[i][0][0][0].item<float>());
  }
}

}  // namespace
}  // namespace gradwatt::training

// Made data without files: learnable images and fields for tests and demonstrations, and rows that cost nothing but a
// copy, to measure the training step without its loader.
#pragma once

#include <cstdint>
#include <vector>

#include "gradwatt/training/data/dataset.hpp"
#include "gradwatt/training/data/fields.hpp"

namespace gradwatt::training {

struct SyntheticShape {
  std::int64_t channels = 3, height = 32, width = 32;
};

/// Every class is a smooth random pattern; an example is its class's pattern in noise. Examples depend on the seed and
/// their number only, so that an epoch repeats them.
class SyntheticImages : public ImageDataset {
 public:
  /// `first_number`: of the first example; other numbers give other examples of the same classes, for evaluation.
  SyntheticImages(std::size_t size, SyntheticShape shape, std::int64_t classes, std::uint64_t seed, double noise = 0.5,
                  std::uint64_t first_number = 0);
  [[nodiscard]] std::size_t size() const override { return size_; }
  [[nodiscard]] core::Result<void> fill(std::size_t index, ExampleRandom& random, ExampleSlot slot) const override;
  [[nodiscard]] std::vector<std::int64_t> input_shape() const override {
    return {shape_.channels, shape_.height, shape_.width};
  }
  [[nodiscard]] std::int64_t classes() const override { return classes_; }

 private:
  std::size_t size_;
  SyntheticShape shape_;
  std::int64_t classes_;
  std::uint64_t seed_, first_number_;
  double noise_;
  std::vector<float> patterns_;  // one image a class
};

/// The same image in every row, labels in turn.
class FreeImages : public ImageDataset {
 public:
  FreeImages(std::size_t size, SyntheticShape shape, std::int64_t classes);
  [[nodiscard]] std::size_t size() const override { return size_; }
  [[nodiscard]] core::Result<void> fill(std::size_t index, ExampleRandom& random, ExampleSlot slot) const override;
  [[nodiscard]] std::vector<std::int64_t> input_shape() const override {
    return {shape_.channels, shape_.height, shape_.width};
  }
  [[nodiscard]] std::int64_t classes() const override { return classes_; }

 private:
  std::size_t size_;
  SyntheticShape shape_;
  std::int64_t classes_;
  std::vector<float> image_;
};

/// Waves on an equally spaced grid that travel east, each at its own speed: the next field follows from this one.
class SyntheticFields : public FieldDataset {
 public:
  SyntheticFields(std::size_t size, SyntheticShape shape, int steps, std::uint64_t seed,
                  std::uint64_t first_number = 0);
  [[nodiscard]] std::size_t size() const override { return size_; }
  [[nodiscard]] core::Result<void> fill(std::size_t index, ExampleRandom& random, ExampleSlot slot) const override;
  [[nodiscard]] const FieldGrid& grid() const override { return grid_; }
  [[nodiscard]] int steps() const override { return steps_; }
  /// 0: waves have no mean.
  void climatology(std::size_t index, int step, std::span<float> field) const override;

 private:
  void write(std::uint64_t number, int time, std::span<float> field) const;

  std::size_t size_;
  FieldGrid grid_;
  int steps_;
  std::uint64_t seed_, first_number_;
};

}  // namespace gradwatt::training

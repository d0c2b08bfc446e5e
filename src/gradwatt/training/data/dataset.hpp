// A set of training examples that can be read by index from several threads at once.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/data/example_random.hpp"

namespace gradwatt::training {

struct Example {
  torch::Tensor input;   ///< channels × height × width, fp32
  torch::Tensor target;  ///< int64 scalar (class), or a field as the input
};

/// Where one example is written: a row of a batch. Exactly one of `label` and `field` is there.
struct ExampleSlot {
  std::span<float> input;
  std::int64_t* label = nullptr;
  std::span<float> field = {};
};

class Dataset {
 public:
  virtual ~Dataset() = default;
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Decodes, augments and normalises one example. Called from several threads. Errors name file and reason.
  [[nodiscard]] virtual core::Result<Example> get(std::size_t index, ExampleRandom& random) const = 0;
  /// The same straight into a batch's row, which the loader calls; here: by a copy of what get() gives.
  [[nodiscard]] virtual core::Result<void> fill(std::size_t index, ExampleRandom& random, ExampleSlot slot) const;
  /// Shapes of what get() gives, and the number of classes (0: fields).
  [[nodiscard]] virtual std::vector<std::int64_t> input_shape() const = 0;
  [[nodiscard]] virtual std::vector<std::int64_t> target_shape() const = 0;
  [[nodiscard]] virtual std::int64_t classes() const = 0;
};

/// A data set that writes rows; get() is a tensor filled by fill().
class RowDataset : public Dataset {
 public:
  [[nodiscard]] core::Result<Example> get(std::size_t index, ExampleRandom& random) const final;
  [[nodiscard]] core::Result<void> fill(std::size_t index, ExampleRandom& random, ExampleSlot slot) const override = 0;
};

/// A data set of labelled images.
class ImageDataset : public RowDataset {
 public:
  [[nodiscard]] std::vector<std::int64_t> target_shape() const final { return {}; }
};

}  // namespace gradwatt::training

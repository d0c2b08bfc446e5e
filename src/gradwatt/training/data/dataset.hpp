// A set of training examples that can be read by index from several threads at once.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gradwatt/core/result.hpp"

namespace gradwatt::training {

struct Example {
  torch::Tensor input;   ///< channels × height × width, fp32
  torch::Tensor target;  ///< int64 scalar (class), or a field as the input
};

/// Randomness of one example: seeded by (run seed, epoch, index), so that neither the number of workers nor of ranks
/// changes what is drawn.
using ExampleRandom = std::mt19937_64;

class Dataset {
 public:
  virtual ~Dataset() = default;
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Decodes, augments and normalises one example. Called from several threads. Errors name file and reason.
  [[nodiscard]] virtual core::Result<Example> get(std::size_t index, ExampleRandom& random) const = 0;
  /// Shapes of what get() gives, and the number of classes (0: fields).
  [[nodiscard]] virtual std::vector<std::int64_t> input_shape() const = 0;
  [[nodiscard]] virtual std::vector<std::int64_t> target_shape() const = 0;
  [[nodiscard]] virtual std::int64_t classes() const = 0;
};

}  // namespace gradwatt::training

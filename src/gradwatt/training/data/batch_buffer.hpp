// The tensors of one batch, used again when the consumer has let them go: fresh pages for every batch would cost more
// than decoding small examples.
#pragma once

#include <torch/types.h>

#include <cstddef>

#include "gradwatt/training/data/dataset.hpp"

namespace gradwatt::training {

/// One thread at a time; different rows may be written by different threads.
class BatchBuffer {
 public:
  /// Makes room for `rows` examples: the same memory when nobody else holds it. Throws what LibTorch throws when there
  /// is none left.
  void prepare(const Dataset& dataset, std::size_t rows, bool pinned);
  /// Nobody holds a tensor that this buffer handed out.
  [[nodiscard]] bool is_free() const;
  /// Where row `row` is written.
  [[nodiscard]] ExampleSlot slot(std::size_t row) const;
  /// The first `rows` rows. They share the buffer's memory.
  [[nodiscard]] torch::Tensor input(std::size_t rows) const { return first(input_, rows); }
  [[nodiscard]] torch::Tensor target(std::size_t rows) const { return first(target_, rows); }

 private:
  [[nodiscard]] static torch::Tensor first(const torch::Tensor& tensor, std::size_t rows);

  torch::Tensor input_, target_;
  // Kept apart from the tensors: asking them takes longer than some examples do.
  float* input_data_ = nullptr;
  float* field_data_ = nullptr;
  std::int64_t* label_data_ = nullptr;
  std::size_t input_stride_ = 0, field_stride_ = 0;
};

/// Whether this LibTorch can page-lock memory here: it has CUDA and a device is there.
[[nodiscard]] bool can_pin_memory();

}  // namespace gradwatt::training

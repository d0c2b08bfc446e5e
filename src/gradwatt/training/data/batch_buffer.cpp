#include "gradwatt/training/data/batch_buffer.hpp"

#include <ATen/ATen.h>
#include <torch/cuda.h>

#include <utility>

namespace gradwatt::training {
namespace {

torch::Tensor allocate(std::size_t rows, std::vector<std::int64_t> shape, at::ScalarType type, bool pinned) {
  shape.insert(shape.begin(), static_cast<std::int64_t>(rows));
  return at::empty(shape, at::TensorOptions().dtype(type).pinned_memory(pinned));
}

bool held_elsewhere(const torch::Tensor& tensor) { return tensor.defined() && tensor.storage().use_count() > 1; }

bool fits(const torch::Tensor& tensor, std::size_t rows) {
  return tensor.defined() && tensor.size(0) == static_cast<std::int64_t>(rows);
}

}  // namespace

void BatchBuffer::prepare(const Dataset& dataset, std::size_t rows, bool pinned) {
  // Page-locked memory goes back to LibTorch's allocator each time: that one knows which copies to the GPU still run.
  if (pinned || !is_free() || !fits(input_, rows)) {
    input_ = torch::Tensor();
    target_ = torch::Tensor();
    input_ = allocate(rows, dataset.input_shape(), at::kFloat, pinned);
    target_ = allocate(rows, dataset.target_shape(), dataset.classes() > 0 ? at::kLong : at::kFloat, pinned);
  }
  input_data_ = input_.data_ptr<float>();
  input_stride_ = static_cast<std::size_t>(input_.numel()) / rows;
  if (dataset.classes() > 0) {
    label_data_ = target_.data_ptr<std::int64_t>();
  } else {
    field_data_ = target_.data_ptr<float>();
    field_stride_ = static_cast<std::size_t>(target_.numel()) / rows;
  }
}

bool BatchBuffer::is_free() const { return !held_elsewhere(input_) && !held_elsewhere(target_); }

ExampleSlot BatchBuffer::slot(std::size_t row) const {
  ExampleSlot slot{{input_data_ + row * input_stride_, input_stride_}};
  if (label_data_ != nullptr) {
    slot.label = label_data_ + row;
  } else {
    slot.field = {field_data_ + row * field_stride_, field_stride_};
  }
  return slot;
}

torch::Tensor BatchBuffer::first(const torch::Tensor& tensor, std::size_t rows) {
  return tensor.narrow(0, 0, static_cast<std::int64_t>(rows));
}

bool can_pin_memory() { return torch::cuda::is_available(); }

}  // namespace gradwatt::training

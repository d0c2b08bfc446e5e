#include "gradwatt/training/data/dataset.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace gradwatt::training {

core::Result<void> Dataset::fill(std::size_t index, ExampleRandom& random, ExampleSlot slot) const {
  auto example = get(index, random);
  if (!example) return core::fail(std::move(example.error()));
  const auto input = example->input.contiguous();
  std::copy_n(input.data_ptr<float>(), slot.input.size(), slot.input.begin());
  if (slot.label != nullptr) {
    *slot.label = example->target.item<std::int64_t>();
  } else {
    const auto target = example->target.contiguous();
    std::copy_n(target.data_ptr<float>(), slot.field.size(), slot.field.begin());
  }
  return {};
}

core::Result<Example> RowDataset::get(std::size_t index, ExampleRandom& random) const {
  Example example;
  example.input = at::empty(input_shape(), at::kFloat);
  example.target = at::empty(target_shape(), classes() > 0 ? at::kLong : at::kFloat);
  ExampleSlot slot{{example.input.data_ptr<float>(), static_cast<std::size_t>(example.input.numel())}};
  if (classes() > 0) {
    slot.label = example.target.data_ptr<std::int64_t>();
  } else {
    slot.field = {example.target.data_ptr<float>(), static_cast<std::size_t>(example.target.numel())};
  }
  if (auto filled = fill(index, random, slot); !filled) return core::fail(std::move(filled.error()));
  return example;
}

}  // namespace gradwatt::training

#include "gradwatt/training/strategies/courier.hpp"

#include <ATen/ATen.h>

namespace gradwatt::training {

Counters& Counters::operator+=(const Counters& other) {
  node.messages += other.node.messages, node.bytes += other.node.bytes;
  network.messages += other.network.messages, network.bytes += other.network.bytes;
  return *this;
}

void Courier::exchange(const std::vector<Message>& out, const std::vector<Message>& in) {
  for (const auto& message : out) count(message);
  ranks_.exchange(lane_, out, in);
}

void Courier::count(const Message& message) {
  auto& sent = layout_.together(rank(), message.peer) ? counters_.node : counters_.network;
  sent.messages += 1;
  sent.bytes += static_cast<std::int64_t>(message.bytes.size());
}

std::span<std::byte> bytes_of(const torch::Tensor& tensor) {
  TORCH_CHECK(tensor.device().is_cpu() && tensor.is_contiguous(), "only dense tensors in host memory are sent");
  return {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()};
}

}  // namespace gradwatt::training

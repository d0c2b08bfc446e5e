#include "gradwatt/training/gradient_sync/averager.hpp"

#include <ATen/ATen.h>

#include "gradwatt/training/gradient_sync/half_floats.hpp"

namespace gradwatt::training {
namespace {

using Future = c10::ivalue::Future;

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

template <class T>
std::span<T> values_of(const torch::Tensor& buffer) {
  return {buffer.data_ptr<T>(), static_cast<std::size_t>(buffer.numel())};
}

}  // namespace

Averager::Averager(Communicator& ranks, Options options, std::unique_ptr<SharedSum> shared,
                   std::unique_ptr<NcclSum> nccl)
    : ranks_(ranks), options_(options), shared_(std::move(shared)), nccl_(std::move(nccl)), thread_([this] {
        work();
      }) {}

core::Result<std::unique_ptr<Averager>> Averager::create(Communicator& ranks, Options options, c10::Device device) {
  auto nccl = NcclSum::create(ranks, device);
  if (!nccl) return core::fail(nccl.error());
  std::unique_ptr<SharedSum> shared;
  if (options.shared_memory && ranks.one_host() && ranks.size() > 1) {
    auto made = SharedSum::create(ranks);
    if (!made) return core::fail(made.error());
    shared = std::move(*made);
  }
  return std::unique_ptr<Averager>(new Averager(ranks, options, std::move(shared), std::move(*nccl)));
}

Averager::~Averager() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
}

c10::intrusive_ptr<Future> Averager::average(torch::Tensor buffer) {
  if (nccl_) return average_on_gpu(std::move(buffer));
  // On a GPU the future carries the stream that the result is ready on.
  std::vector<c10::Device> devices;
  if (!buffer.device().is_cpu()) devices.push_back(buffer.device());
  auto done = c10::make_intrusive<Future>(c10::TensorType::get(), devices);
  last_given_ns_ = now_ns();
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back({std::move(buffer), done});
  }
  changed_.notify_one();
  return done;
}

c10::intrusive_ptr<Future> Averager::average_on_gpu(torch::Tensor buffer) {
  last_given_ns_ = now_ns();
  count(buffer);
  return nccl_->average(std::move(buffer), options_.wire);
}

void Averager::work() {
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    // An exception that leaves this thread would end the process without a word.
    try {
      average_now(task.buffer);
      task.done->markCompleted(c10::IValue(task.buffer));
    } catch (...) {
      task.done->setError(std::current_exception());
    }
  }
}

void Averager::average_now(torch::Tensor buffer) {
  const torch::NoGradGuard no_grad;
  const auto begin = now_ns();
  if (nccl_) {
    average_on_gpu(std::move(buffer))->wait();
  } else if (ranks_.size() > 1) {
    if (buffer.device().is_cpu()) {
      average_on_host(buffer);
    } else {
      auto staged = buffer.to(at::kCPU);
      average_on_host(staged);
      buffer.copy_(staged);
    }
  }
  busy_ns_ += now_ns() - begin;
}

void Averager::count(const torch::Tensor& buffer) {
  const bool narrowed = buffer.scalar_type() == at::kFloat && options_.wire != Wire::fp32;
  messages_ += 1;
  bytes_ += static_cast<std::int64_t>(narrowed ? buffer.nbytes() / 2 : buffer.nbytes());
}

void Averager::average_on_host(torch::Tensor& buffer) {
  count(buffer);
  const double scale = 1.0 / ranks_.size();
  if (buffer.scalar_type() == at::kDouble) {
    auto values = values_of<double>(buffer);
    if (shared_) return shared_->sum(values, scale);
    ranks_.sum_doubles(values);
    for (auto& value : values) value *= scale;
    return;
  }
  TORCH_CHECK(buffer.scalar_type() == at::kFloat, "gradients of type ", buffer.scalar_type(), " cannot be averaged");
  average_floats(values_of<float>(buffer));
}

void Averager::average_floats(std::span<float> values) {
  const float scale = 1.0F / static_cast<float>(ranks_.size());
  if (shared_)
    shared_->sum(values, options_.wire, scale);
  else
    average_over_mpi(values, scale);
}

void Averager::average_over_mpi(std::span<float> values, float scale) {
  if (options_.wire == Wire::fp32) {
    ranks_.sum_floats(values);
    for (auto& value : values) value *= scale;
    return;
  }
  const bool bf16 = options_.wire == Wire::bf16;
  halves_.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    halves_[i] = bf16 ? to_bf16(values[i] * scale) : to_fp16(values[i] * scale);
  bf16 ? ranks_.sum_bf16(halves_) : ranks_.sum_fp16(halves_);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = bf16 ? from_bf16(halves_[i]) : from_fp16(halves_[i]);
}

}  // namespace gradwatt::training

// Signs instead of gradients, in two phases with error feedback in both: each rank codes its gradient and what earlier
// codes lost (worker residual); chunk k of everybody goes to rank k, which averages, adds what its own codes lost
// (server residual), codes again and sends the result to all.
//
//   Σ of what was applied + mean of worker residuals + server residuals = Σ of mean gradients
//
// Source: Tang et al., "1-bit Adam", 2021 (two phases); Karimireddy et al. 2019 (residual in units of the step: it is
// rescaled when learning rate or loss scale change). A code a bucket and chunk. Cost: planning/collectives/one_bit.hpp.
#include <ATen/ATen.h>

#include "gradwatt/planning/collectives/one_bit.hpp"
#include "gradwatt/planning/collectives/ring.hpp"
#include "gradwatt/training/gradient_sync/flat_tensors.hpp"
#include "gradwatt/training/strategies/agreement.hpp"
#include "gradwatt/training/strategies/makers.hpp"
#include "gradwatt/training/strategies/rings.hpp"
#include "gradwatt/training/strategies/sign_code.hpp"

namespace gradwatt::training {
namespace {

/// Gradients that are coded together.
class Bucket {
 public:
  Bucket(const NamedTensors& parameters, int rank, int ranks)
      : flat_(parameters), worker_(at::zeros_like(flat_.flat())), rank_(rank), ranks_(ranks) {
    const std::int64_t block = 8 * ranks;
    chunk_ = (flat_.numel() + block - 1) / block * block / ranks;
    server_ = at::zeros_like(part(worker_, rank));
    for (auto* codes : {&out_, &in_})
      codes->resize(static_cast<std::size_t>(ranks), std::vector<std::byte>(sign_code_bytes(chunk_)));
    result_.resize(sign_code_bytes(chunk_));
  }

  [[nodiscard]] FlatTensors& gradients() { return flat_; }
  [[nodiscard]] const FlatTensors& gradients() const { return flat_; }
  [[nodiscard]] torch::Tensor& worker_residual() { return worker_; }
  [[nodiscard]] torch::Tensor& server_residual() { return server_; }

  /// Gradients become what all ranks apply.
  void exchange(Courier& courier) {
    worker_.add_(flat_.flat());
    for (int r = 0; r < ranks_; ++r) encode_signs(part(worker_, r), out_[at(r)]);
    courier.exchange(others([&](int r) { return std::span(out_[at(r)]); }),
                     others([&](int r) { return std::span(in_[at(r)]); }));
    for (int r = 0; r < ranks_; ++r) add_signs(r == rank_ ? out_[at(r)] : in_[at(r)], 1.0 / ranks_, server_);
    encode_signs(server_, result_);
    courier.exchange(others([&](int) { return std::span(result_); }),
                     others([&](int r) { return std::span(in_[at(r)]); }));
    flat_.flat().zero_();
    for (int r = 0; r < ranks_; ++r) add_signs(r == rank_ ? result_ : in_[at(r)], 1, part(flat_.flat(), r));
  }

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  /// Rank r's chunk, without the padding: the last ones may be short or empty.
  [[nodiscard]] torch::Tensor part(const torch::Tensor& flat, int r) const {
    const auto begin = std::min(r * chunk_, flat.numel());
    return flat.narrow(0, begin, std::min(chunk_, flat.numel() - begin));
  }
  template <class Bytes>
  [[nodiscard]] std::vector<Message> others(Bytes bytes) const {
    std::vector<Message> messages;
    for (int r = 0; r < ranks_; ++r)
      if (r != rank_) messages.push_back({r, bytes(r)});
    return messages;
  }

  FlatTensors flat_;
  torch::Tensor worker_, server_;
  int rank_, ranks_;
  std::int64_t chunk_ = 0;                        // elements a rank serves, padded
  std::vector<std::vector<std::byte>> out_, in_;  // by rank
  std::vector<std::byte> result_;
};

class OneBit final : public Strategy {
 public:
  OneBit(Communicator& ranks, const StrategySpec& spec, const StrategyParts& parts)
      : ranks_(ranks),
        layout_(layout_of(ranks.peers(), spec.ranks_per_host)),
        courier_(ranks, layout_, 0),
        plain_updates_(spec.plain_updates) {
    for (const auto& bucket :
         buckets_of(parts.parameters, parts.options.first_bucket_bytes, parts.options.bucket_bytes)) {
      NamedTensors members;
      for (const auto i : bucket) members.push_back(parts.parameters[i]);
      buckets_.emplace_back(members, ranks.rank(), ranks.size());
    }
  }

  void begin_step(const StepPlace& place) override {
    plain_ = place.updates_before < plain_updates_;
    next_unit_ = place.rate / place.loss_scale;  // what a gradient of 1 moves a parameter by
  }

  Soundness finish() override {
    const torch::NoGradGuard no_grad;
    const auto begin = std::chrono::steady_clock::now();
    bool finite = true;
    for (auto& bucket : buckets_) finite = all_finite(bucket.gradients().take_gradients()) && finite;
    const auto soundness = agree(ranks_, finite);
    if (soundness.bad_rank < 0) exchange();
    last_.exposed = last_.busy = std::chrono::steady_clock::now() - begin;
    return soundness;
  }

  [[nodiscard]] NamedTensors state() override {
    NamedTensors state{{"unit", unit_}};
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      state.emplace_back("worker/" + std::to_string(b), buckets_[b].worker_residual());
      state.emplace_back("server/" + std::to_string(b), buckets_[b].server_residual());
    }
    return state;
  }

  [[nodiscard]] GradientSync::Costs costs() const override { return with_counters(last_, courier_.counters()); }
  [[nodiscard]] std::optional<Counters> counters() const override { return courier_.counters(); }

  /// Of an update after the plain ones.
  [[nodiscard]] planning::CollectiveCost cost(const planning::Level& node, const planning::Level& rail) const override {
    planning::CollectiveCost sum;
    for (const auto& bucket : buckets_) {
      const auto each = cost_of(bucket.gradients(), node, rail);
      sum.node += each.node;
      sum.network += each.network;
    }
    return sum;
  }

 private:
  [[nodiscard]] planning::CollectiveCost cost_of(const FlatTensors& gradients, const planning::Level& node,
                                                 const planning::Level& rail) const {
    const double element = gradients.bytes() / static_cast<double>(gradients.numel());
    return planning::one_bit_all_reduce(layout_.shape(), gradients.bytes(), node, rail, {.element_bytes = element});
  }

  void exchange() {
    rescale_residuals();
    std::vector<int> all;
    for (int r = 0; r < ranks_.size(); ++r) all.push_back(r);
    for (auto& bucket : buckets_) {
      auto& flat = bucket.gradients().flat();
      if (plain_) {
        ring_all_reduce(courier_, all, flat);
        flat.mul_(1.0 / ranks_.size());
      } else {
        bucket.exchange(courier_);
      }
      bucket.gradients().give_gradients();
    }
  }

  void rescale_residuals() {
    const double before = unit_.item<double>();
    if (next_unit_ <= 0) return;  // a step of no length: the residuals wait
    if (before > 0 && before != next_unit_)
      for (auto& bucket : buckets_) {
        bucket.worker_residual().mul_(before / next_unit_);
        bucket.server_residual().mul_(before / next_unit_);
      }
    unit_.fill_(next_unit_);
  }

  Communicator& ranks_;
  HostLayout layout_;
  Courier courier_;
  std::int64_t plain_updates_;
  std::vector<Bucket> buckets_;
  bool plain_ = false;
  double next_unit_ = 0;
  torch::Tensor unit_ = at::zeros({}, at::kDouble);  // of the residuals; 0: there are none yet
  GradientSync::Costs last_;
};

}  // namespace

Made make_one_bit(Communicator& ranks, const StrategySpec& spec, StrategyParts parts) {
  return std::make_unique<OneBit>(ranks, spec, parts);
}

}  // namespace gradwatt::training

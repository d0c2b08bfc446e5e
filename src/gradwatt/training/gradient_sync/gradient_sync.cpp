#include "gradwatt/training/gradient_sync/gradient_sync.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "gradwatt/training/gradient_sync/simple_sync.hpp"
#ifdef GRADWATT_HAS_REDUCER
#include "gradwatt/training/gradient_sync/reducer_sync.hpp"
#endif

namespace gradwatt::training {
namespace {

/// A rank alone: nothing to do.
class NoSync final : public GradientSync {
 public:
  void begin_step() override {}
  void before_backward(const torch::Tensor& /*output*/) override {}
  void finish() override {}
  [[nodiscard]] Costs costs() const override { return {}; }
};

std::string layout_of(const NamedTensors& tensors) {
  std::string text;
  for (const auto& [name, tensor] : tensors)
    text += fmt::format("{} {} [{}]\n", name, c10::toString(tensor.scalar_type()), fmt::join(tensor.sizes(), ","));
  return text;
}

/// The first line in which two layouts differ.
std::string first_difference(const std::string& a, const std::string& b) {
  const auto [x, y] = std::ranges::mismatch(a, b);
  const auto begin = a.rfind('\n', static_cast<std::size_t>(x - a.begin()));
  const auto from = begin == std::string::npos ? 0 : begin + 1;
  return a.substr(from, a.find('\n', from) - from);
}

}  // namespace

bool has_reducer() {
#ifdef GRADWATT_HAS_REDUCER
  return true;
#else
  return false;
#endif
}

std::vector<std::vector<std::size_t>> buckets_of(const NamedTensors& parameters, std::size_t first_bucket_bytes,
                                                 std::size_t bucket_bytes) {
  std::vector<std::vector<std::size_t>> buckets;
  std::size_t filled = 0;
  bool open = false;
  for (std::size_t k = parameters.size(); k-- > 0;) {
    const auto& tensor = parameters[k].second;
    const bool same_kind = open && parameters[buckets.back().back()].second.options().type_equal(tensor.options());
    if (!same_kind) {
      buckets.emplace_back();
      filled = 0;
    }
    buckets.back().push_back(k);
    filled += tensor.nbytes();
    open = filled < (buckets.size() == 1 ? first_bucket_bytes : bucket_bytes);
  }
  return buckets;
}

void broadcast_tensors(Communicator& ranks, const NamedTensors& tensors) {
  const torch::NoGradGuard no_grad;
  if (ranks.size() == 1) return;
  for (const auto& [name, tensor] : tensors) {
    auto here = tensor.to(at::kCPU).contiguous();
    ranks.broadcast({static_cast<std::byte*>(here.data_ptr()), here.nbytes()}, 0);
    if (!here.is_same(tensor)) at::Tensor(tensor).copy_(here);
  }
}

core::Result<void> share_parameters(Communicator& ranks, const NamedTensors& parameters) {
  const auto layouts = ranks.all_gather(layout_of(parameters));
  for (std::size_t r = 1; r < layouts.size(); ++r)
    if (layouts[r] != layouts[0])
      return core::fail(
          core::Errc::wrong_use,
          fmt::format("rank {} has another model than rank 0, from its parameter '{}' on; start all ranks "
                      "with the same recipe",
                      r, first_difference(layouts[r], layouts[0])));
  broadcast_tensors(ranks, parameters);
  return {};
}

core::Result<std::unique_ptr<GradientSync>> make_gradient_sync(Communicator& ranks, const NamedTensors& parameters,
                                                               const SyncOptions& options) {
  if (ranks.size() == 1) return std::make_unique<NoSync>();
  if (auto same = share_parameters(ranks, parameters); !same) return core::fail(same.error());
  auto averager = Averager::create(ranks, options.averager, parameters.front().second.device());
  if (!averager) return core::fail(averager.error());
#ifdef GRADWATT_HAS_REDUCER
  if (options.overlap) return std::make_unique<ReducerSync>(ranks, std::move(*averager), parameters, options);
#endif
  return std::make_unique<SimpleSync>(std::move(*averager), parameters, options);
}

}  // namespace gradwatt::training

#include "gradwatt/ingest/kineto/kernel_class.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "gradwatt/core/text.hpp"

namespace gradwatt::ingest::kineto {
namespace {

constexpr std::array<std::string_view, kKernelClasses> kNames{
    "communication", "attention", "layout", "norm",      "conv", "gemm",        "pooling", "softmax",
    "optimizer",     "embedding", "random", "reduction", "copy", "elementwise", "other"};

struct Token {
  std::string_view text;
  KernelClass kernel_class;
};

// Asked from the top: a convolution's name may hold "gemm" (implicit GEMM), a norm's "reduce", a softmax's
// "elementwise". Names as PyTorch, cuDNN, cuBLAS, CUTLASS, FlashAttention, MIOpen, rocBLAS and Triton give them, in
// lower case.
constexpr auto kTokens = std::to_array<Token>({
    {"nccl", KernelClass::communication},
    {"rccl", KernelClass::communication},
    {"hccl", KernelClass::communication},
    {"flash", KernelClass::attention},
    {"fmha", KernelClass::attention},
    {"attention", KernelClass::attention},
    {"attn", KernelClass::attention},
    {"nchwtonhwc", KernelClass::layout},
    {"nhwctonchw", KernelClass::layout},
    {"nchw2nhwc", KernelClass::layout},
    {"nhwc2nchw", KernelClass::layout},
    {"nchw_to_nhwc", KernelClass::layout},
    {"nhwc_to_nchw", KernelClass::layout},
    {"batched_transpose", KernelClass::layout},  // MIOpen's
    {"batch_norm", KernelClass::norm},
    {"batchnorm", KernelClass::norm},
    {"layer_norm", KernelClass::norm},
    {"layernorm", KernelClass::norm},
    {"group_norm", KernelClass::norm},
    {"groupnorm", KernelClass::norm},
    {"rowwisemoments", KernelClass::norm},
    {"rms_norm", KernelClass::norm},
    {"rmsnorm", KernelClass::norm},
    {"gammabeta", KernelClass::norm},
    {"bn_fw", KernelClass::norm},
    {"bn_bw", KernelClass::norm},
    {"bnfwd", KernelClass::norm},
    {"bnbwd", KernelClass::norm},
    {"scudnn", KernelClass::conv},
    {"conv", KernelClass::conv},
    {"fprop", KernelClass::conv},
    {"dgrad", KernelClass::conv},
    {"wgrad", KernelClass::conv},
    {"winograd", KernelClass::conv},
    {"igemm", KernelClass::conv},
    {"cask_cudnn", KernelClass::conv},
    {"cudnn::cnn", KernelClass::conv},
    {"cudnn::gemm", KernelClass::conv},
    {"cudnn::ops", KernelClass::other},
    {"multi_tensor", KernelClass::optimizer},
    {"adam", KernelClass::optimizer},
    {"gemm", KernelClass::gemm},
    {"gemv", KernelClass::gemm},
    {"cijk_", KernelClass::gemm},  // rocBLAS and hipBLASLt (Tensile)
    {"nvjet", KernelClass::gemm},
    {"splitk", KernelClass::gemm},
    {"cublas", KernelClass::gemm},
    {"cutlass", KernelClass::gemm},
    {"_mm_", KernelClass::gemm},  // Triton templates of matrix products
    {"hmma", KernelClass::gemm},
    {"pool", KernelClass::pooling},
    {"softmax", KernelClass::softmax},
    {"embedding", KernelClass::embedding},
    {"distribution", KernelClass::random},
    {"dropout", KernelClass::random},
    {"reduce", KernelClass::reduction},
    {"_red_", KernelClass::reduction},  // Triton
    {"catarray", KernelClass::copy},
    {"copy_kernel", KernelClass::copy},
    {"transpose", KernelClass::copy},
    {"index", KernelClass::copy},
    {"gather", KernelClass::copy},
    {"scatter", KernelClass::copy},
    {"elementwise", KernelClass::elementwise},
    {"_poi_", KernelClass::elementwise},  // Triton
});

// A matrix instruction's shape or unit in the name: HMMA and IMMA (Volta to Ada), warp-group MMA (Hopper), MFMA (AMD).
constexpr auto kMatrixUnits = std::to_array<std::string_view>(
    {"s884",     "h884",   "i8816",   "s1688",    "h1688",   "s16816",   "h16816",    "i16832",    "s161616",
     "h161616",  "hmma",   "imma",    "wgmma",    "gmma",    "tensorop", "nvjet",     "mfma",      "_mi16x16",
     "_mi32x32", "_mi4x4", "f16f16_", "bf16bf16", "tf32f32", "tf32tf32", "flash_fwd", "flash_bwd", "fmha"});
// The same libraries' kernels for the ordinary pipes.
constexpr auto kOrdinaryUnits = std::to_array<std::string_view>({"simt", "ffma"});

bool holds_any(std::string_view text, std::span<const std::string_view> tokens) {
  return std::ranges::any_of(tokens, [&](auto token) { return text.find(token) != std::string_view::npos; });
}

}  // namespace

std::string_view name_of(KernelClass kernel_class) { return kNames.at(static_cast<std::size_t>(kernel_class)); }

KernelTraits traits_of_kernel(std::string_view name) {
  const auto lower = core::to_lower(name);
  KernelTraits traits;
  const auto* token =
      std::ranges::find_if(kTokens, [&](const Token& t) { return lower.find(t.text) != std::string::npos; });
  if (token != kTokens.end()) traits.kernel_class = token->kernel_class;
  traits.tensor_cores =
      traits.multiplies_matrices() && holds_any(lower, kMatrixUnits) && !holds_any(lower, kOrdinaryUnits);
  return traits;
}

std::vector<KernelTraits> traits_of(const NameTable& kernels) {
  std::vector<KernelTraits> all;
  for (NameId id = 0; id < kernels.size(); ++id) all.push_back(traits_of_kernel(kernels.text(id)));
  return all;
}

}  // namespace gradwatt::ingest::kineto

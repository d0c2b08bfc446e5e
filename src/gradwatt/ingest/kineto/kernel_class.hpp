// What a kernel does, told by its name: the libraries' naming is all that a trace says of it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "gradwatt/ingest/kineto/name_table.hpp"

namespace gradwatt::ingest::kineto {

enum class KernelClass : std::uint8_t {
  communication,
  attention,
  layout,
  norm,
  conv,
  gemm,
  pooling,
  softmax,
  optimizer,
  embedding,
  random,
  reduction,
  copy,
  elementwise,
  other
};
inline constexpr std::size_t kKernelClasses = 15;
/// "gemm": the subject of the fact trace.kernel_class_share.
[[nodiscard]] std::string_view name_of(KernelClass kernel_class);

struct KernelTraits {
  KernelClass kernel_class = KernelClass::other;
  bool tensor_cores = false;  ///< name tokens only; hardware counters know better
  [[nodiscard]] bool communicates() const { return kernel_class == KernelClass::communication; }
  /// Work that tensor cores exist for.
  [[nodiscard]] bool multiplies_matrices() const {
    return kernel_class == KernelClass::gemm || kernel_class == KernelClass::conv ||
           kernel_class == KernelClass::attention;
  }
};

/// Whatever the case of the letters: NCCL's kernels were ncclKernel_…, then ncclDevKernel_…
[[nodiscard]] KernelTraits traits_of_kernel(std::string_view name);
/// By NameId.
[[nodiscard]] std::vector<KernelTraits> traits_of(const NameTable& kernels);

}  // namespace gradwatt::ingest::kineto

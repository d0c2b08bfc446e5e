#include "gradwatt/ingest/kineto/host_role.hpp"

#include <algorithm>
#include <array>

namespace gradwatt::ingest::kineto {
namespace {

struct Row {
  std::string_view name;
  HostRole role;
};

// CUDA runtime and driver API, HIP runtime API: the calls that return only when the device has got there.
constexpr auto kCalls = std::to_array<Row>({
    {"cudaDeviceSynchronize", HostRole::wait},
    {"cudaStreamSynchronize", HostRole::wait},
    {"cudaEventSynchronize", HostRole::wait},
    {"cuCtxSynchronize", HostRole::wait},
    {"cuStreamSynchronize", HostRole::wait},
    {"cuEventSynchronize", HostRole::wait},
    {"hipDeviceSynchronize", HostRole::wait},
    {"hipStreamSynchronize", HostRole::wait},
    {"hipEventSynchronize", HostRole::wait},
    {"cudaMalloc", HostRole::allocate},
    {"cudaFree", HostRole::allocate},
    {"cuMemCreate", HostRole::allocate},
    {"cuMemRelease", HostRole::allocate},
    {"cuMemMap", HostRole::allocate},
    {"cuMemUnmap", HostRole::allocate},
    {"hipMalloc", HostRole::allocate},
    {"hipFree", HostRole::allocate},
});
constexpr auto kLaunchTokens = std::to_array<std::string_view>({"Launch", "Memcpy", "Memset"});

// Operators whose shapes choose the kernel (and, in cuDNN's benchmark mode or a compiled graph, cause a new search).
constexpr auto kShaped = std::to_array<std::string_view>(
    {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::linear", "aten::convolution", "aten::conv1d",
     "aten::conv2d", "aten::conv3d", "aten::scaled_dot_product_attention", "aten::embedding", "aten::lstm"});

}  // namespace

HostRole role_of_call(std::string_view name) {
  if (const auto* row = std::ranges::find(kCalls, name, &Row::name); row != kCalls.end()) return row->role;
  for (const auto token : kLaunchTokens)
    if (name.find(token) != std::string_view::npos) return HostRole::launch;
  return HostRole::none;
}

HostRole role_of_operator(std::string_view name) {
  if (name.starts_with("ProfilerStep#")) return HostRole::step;
  if (name.starts_with("enumerate(DataLoader)#") && name.find("__next__") != std::string_view::npos)
    return HostRole::loader;
  if (name.starts_with("nccl:") || name.starts_with("gloo:") || name.starts_with("mpi:") || name.starts_with("c10d::"))
    return HostRole::collective;
  if (name == "record_param_comms") return HostRole::comm_call;
  if (std::ranges::find(kShaped, name) != kShaped.end()) return HostRole::shaped;
  return HostRole::none;
}

}  // namespace gradwatt::ingest::kineto

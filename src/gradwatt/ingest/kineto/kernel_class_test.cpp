#include "gradwatt/ingest/kineto/kernel_class.hpp"

#include <gtest/gtest.h>

#include <array>

namespace gradwatt::ingest::kineto {
namespace {

struct Case {
  std::string_view name, kernel_class;
  bool tensor_cores;
};

// Names as the libraries write them; which are matrix units is said by the libraries' naming rules.
constexpr auto kCases = std::to_array<Case>({
    {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", "communication", false},
    {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "communication", false},
    {"ncclKernelAllToAll", "communication", false},
    {"rcclGenericKernel", "communication", false},
    {"hcclAicpuAllReduce", "communication", false},
    {"ampere_sgemm_128x64_nn", "gemm", false},
    {"volta_sgemm_32x128_tn", "gemm", false},
    {"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn", "gemm", true},
    {"volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", "gemm", true},
    {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_16x5_nt_align4>(T1::Params)", "gemm", true},
    {"void cutlass::Kernel<cutlass_80_simt_sgemm_128x64_8x5_nt_align1>(T1::Params)", "gemm", false},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_kernel", "gemm",
     false},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_kernel", "gemm", true},
    {"nvjet_tst_192x192_64x4_2x1_v_bz_coopA_NNT", "gemm", true},
    {"Cijk_Ailk_Bljk_SB_MT32x32x16_SN_1LDSB0_APM1", "gemm", false},
    {"Cijk_Alik_Bljk_BBS_BH_MT128x128x64_MI16x16x16x1_SN", "gemm", true},
    {"volta_scudnn_128x64_relu_medium_nn_v1", "conv", false},
    {"void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1, false, false, true>(int)", "conv", false},
    {"sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckcrs_nhwc_tilesize128x32x32", "conv", true},
    {"void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(float*)", "conv", false},
    {"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>(Flash_fwd_params)", "attention", true},
    {"void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(cudnn::ops::nchw2nhwc_params_t<float>)",
     "layout", false},
    {"void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 32, true, 1>(float)", "norm", false},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)", "norm", false},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)", "elementwise",
     false},
    {"void at::native::(anonymous namespace)::softmax_warp_forward<float, float, float, 8, false, false>(float*)",
     "softmax", false},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::TensorListMetadata<2>>(int)",
     "optimizer", false},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(int)", "reduction", false},
    {"triton_poi_fused_relu_3", "elementwise", false},
    {"my_own_kernel", "other", false},
});

TEST(KernelClass, IsToldByTheNamesThatLibrariesGive) {
  for (const auto& [name, kernel_class, tensor_cores] : kCases) {
    const auto traits = traits_of_kernel(name);
    EXPECT_EQ(name_of(traits.kernel_class), kernel_class) << name;
    EXPECT_EQ(traits.tensor_cores, tensor_cores) << name;
  }
}

}  // namespace
}  // namespace gradwatt::ingest::kineto

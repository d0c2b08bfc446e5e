# The sets of precompiled headers: GoogleTest's and LibTorch's, alone and together.
if(GRADWATT_TESTS)
  gradwatt_precompiled(gradwatt_test_headers TESTS <gmock/gmock.h> <gtest/gtest.h> LIBRARIES GTest::gmock)
endif()
if(GRADWATT_BUILD_TRAINER)
  set(torch_headers <ATen/ATen.h> <torch/types.h> <torch/nn/module.h>)
  gradwatt_precompiled(gradwatt_torch_headers ${torch_headers} LIBRARIES gradwatt::torch)
  if(GRADWATT_TESTS)
    gradwatt_precompiled(gradwatt_torch_test_headers TESTS ${torch_headers} <gmock/gmock.h> <gtest/gtest.h>
                         LIBRARIES gradwatt::torch GTest::gmock)
  endif()
endif()

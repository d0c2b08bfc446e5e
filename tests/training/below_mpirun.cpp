#include "tests/training/below_mpirun.hpp"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

std::unique_ptr<gradwatt::training::Communicator> gradwatt::training::ranks;

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  at::set_num_threads(1);
  auto made = gradwatt::training::Communicator::create({});
  if (!made) return 1;
  gradwatt::training::ranks = std::move(*made);
  if (gradwatt::training::ranks->rank() != 0)
    delete ::testing::UnitTest::GetInstance()->listeners().Release(
        ::testing::UnitTest::GetInstance()->listeners().default_result_printer());
  const int status = RUN_ALL_TESTS();
  gradwatt::training::ranks->close();
  gradwatt::training::ranks.reset();
  return status;
}

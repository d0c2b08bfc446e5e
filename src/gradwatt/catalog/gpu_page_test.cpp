#include "gradwatt/catalog/gpu_page.hpp"

#include "gradwatt/report/golden.hpp"

namespace gradwatt::catalog {
namespace {

TEST(GpuPage, InTheDocsIsWhatTheTableSays) {
  report::testing::expect_same_as_file(gpu_page(), "docs/hardware-table.md");
}

}  // namespace
}  // namespace gradwatt::catalog

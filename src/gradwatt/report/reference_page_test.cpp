#include "gradwatt/report/reference_page.hpp"

#include "gradwatt/report/golden.hpp"

namespace gradwatt::report {
namespace {

TEST(MetricsPage, InTheDocsIsWhatTheTablesSay) { testing::expect_same_as_file(metrics_page(), "docs/metrics.md"); }

}  // namespace
}  // namespace gradwatt::report

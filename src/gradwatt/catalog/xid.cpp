#include "gradwatt/catalog/xid.hpp"

#include <algorithm>
#include <array>

namespace gradwatt::catalog {
namespace {

using enum XidAction;
using enum XidHealth;

constexpr auto kXids = std::to_array<XidRow>({
    {13, "a graphics engine exception (illegal address or instruction)", restart_job, unrated, true},
    {31, "a GPU memory page fault", restart_job, warning, true},
    {32, "an invalid or corrupted push buffer", investigate, warning},
    {38, "a driver firmware error", investigate, warning},
    {39, "an error of a copy engine", investigate, warning},
    {42, "a video processor exception", investigate, warning},
    {43, "a GPU that stopped processing after an error of the program", none, warning, true},
    {45, "the clean-up of a channel after an error that came before", investigate, unrated, true},
    {48, "a memory error of two bits that cannot be corrected", investigate, failure},
    {54, "auxiliary power that is not connected", investigate, warning},
    {56, "an error of the display engine", investigate, warning},
    {57, "an error in programming the display", investigate, warning},
    {58, "an unstable video memory interface", investigate, warning},
    {60, "a video processor exception", investigate, warning},
    {61, "a halt of the internal micro-controller", investigate, warning},
    {62, "a halt of the internal micro-controller", reset_gpu, warning},
    {63, "memory rows or pages marked for replacement", none, warning},
    {64, "a failure to replace memory rows or pages", reset_gpu, failure},
    {66, "an illegal access by the driver", none, unrated},
    {67, "a video processor exception", investigate, warning},
    {69, "a graphics engine class error", restart_job, unrated, true},
    {73, "an error of the video encoder", investigate, warning},
    {74, "an NVLink error", investigate, failure},
    {78, "a failure to start a virtual GPU", investigate, warning},
    {79, "a GPU that has fallen off the bus", restart_host, failure},
    {92, "a high rate of memory errors of one bit", investigate, unrated},
    {93, "an error of the non-volatile configuration memory", investigate, warning},
    {94, "a memory error that was contained to one program", restart_job, warning},
    {95, "a memory error that was not contained", reset_gpu, failure},
    {109, "a context switch that timed out", reset_gpu, unrated},
    {119, "a time-out of the GPU system processor (GSP)", reset_gpu, failure},
    {120, "an error of the GPU system processor (GSP)", reset_gpu, failure},
    {121, "an error of the chip-to-chip link, corrected", none, warning},
    {137, "a privilege error on NVLink", none, warning, true},
    {140, "a memory error that was not recovered", reset_gpu, failure},
    {143, "a GPU that failed to initialise", reset_gpu, unrated},
    {144, "an NVLink 5 error", investigate, unrated},
    {145, "an NVLink 5 error", investigate, unrated},
    {146, "an NVLink 5 error", investigate, unrated},
    {147, "an NVLink 5 error", investigate, unrated},
    {148, "an NVLink 5 error", investigate, unrated},
    {149, "an NVLink 5 error", investigate, unrated},
    {150, "an NVLink 5 error", investigate, unrated},
    {154, "that another recovery action is needed now", none, unrated},
    {155, "an NVLink error that software defines", reset_gpu, unrated},
    {156, "hardware taken out of use", reset_gpu, unrated},
    {157, "a failure to take hardware out of use", none, unrated},
    {158, "a fatal time-out of the GPU", reset_gpu, unrated},
});
static_assert(std::ranges::is_sorted(kXids, {}, &XidRow::number));

}  // namespace

std::span<const XidRow> xid_table() { return kXids; }

const XidRow* find_xid(int number) {
  const auto* row = std::ranges::lower_bound(kXids, number, {}, &XidRow::number);
  return row != kXids.end() && row->number == number ? row : nullptr;
}

std::string_view words_of(XidAction action) {
  switch (action) {
    case restart_job:
      return "restart the job";
    case reset_gpu:
      return "reset the GPU";
    case restart_host:
      return "restart the host";
    case investigate:
      return "follow NVIDIA's workflow for this number";
    case none:
      break;
  }
  return "nothing has to be done by itself";
}

}  // namespace gradwatt::catalog

#include "gradwatt/backends/nvml/power_meaning.hpp"

namespace gradwatt::nvml {
namespace {

constexpr std::string_view kAverageNote = "average over about 1 s, shown about 1 s late: hides shorter swings";
constexpr std::string_view kSampleNote = "a 25 ms sample every 100 ms: sees about a quarter of the time";
constexpr std::string_view kFullNote = "averages over its own update period of 100 ms";
constexpr std::string_view kVoltaNote = "a 10 ms sample every 20 ms: sees about half of the time";
constexpr std::string_view kOldNote = "slow response of an old sensor";
constexpr std::string_view kUnknownNote = "what this GPU generation averages over is not known";

}  // namespace

PowerMeaning power_meaning(Architecture architecture, int compute_major, int compute_minor,
                           std::string_view driver_version) {
  const bool ga100 = compute_major == 8 && compute_minor == 0;
  switch (architecture) {
    case Architecture::kepler:
    case Architecture::maxwell:
      return {PowerKind::instant, std::nullopt, std::nullopt, kOldNote};
    case Architecture::pascal:
    case Architecture::volta:
      return {PowerKind::instant, 0.5, 0.5, kVoltaNote};
    case Architecture::turing:
      return {PowerKind::instant, 1.0, 1.0, kFullNote};
    case Architecture::ampere:
      if (ga100) return {PowerKind::instant, 0.25, 0.25, kSampleNote};
      [[fallthrough]];
    case Architecture::ada:
      // Driver branch 530 returned 100 ms averages by the classic call; before and after it is 1 s.
      if (driver_version.starts_with("530.")) return {PowerKind::instant, 1.0, 1.0, kFullNote};
      return {PowerKind::average, 1.0, 1.0, kAverageNote};
    case Architecture::hopper:
      return {PowerKind::average, 1.0, 0.25, kAverageNote};
    case Architecture::blackwell:
    case Architecture::rubin:
      return {PowerKind::average, 1.0, std::nullopt, kAverageNote};
    case Architecture::unknown:
      break;
  }
  return {PowerKind::instant, std::nullopt, std::nullopt, kUnknownNote};
}

std::string_view name_of(Architecture architecture) {
  switch (architecture) {
    case Architecture::kepler:
      return "kepler";
    case Architecture::maxwell:
      return "maxwell";
    case Architecture::pascal:
      return "pascal";
    case Architecture::volta:
      return "volta";
    case Architecture::turing:
      return "turing";
    case Architecture::ampere:
      return "ampere";
    case Architecture::ada:
      return "ada";
    case Architecture::hopper:
      return "hopper";
    case Architecture::blackwell:
      return "blackwell";
    case Architecture::rubin:
      return "rubin";
    case Architecture::unknown:
      break;
  }
  return "unknown";
}

}  // namespace gradwatt::nvml

#include "gradwatt/ingest/power_meaning.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gradwatt/core/text.hpp"

namespace gradwatt::ingest {
namespace {

enum class Generation : std::uint8_t { unknown, maxwell, pascal, volta, turing, ga100, ampere, ada, hopper, blackwell };

struct NameRow {
  std::string_view word;  // a whole word of the product name; '#' stands for one digit
  std::string_view with;  // another word that must stand in the name, or empty
  Generation generation;
};

// First match wins, so narrower rows stand first.
constexpr auto kNames = std::to_array<NameRow>({
    {"ada", "", Generation::ada},
    {"blackwell", "", Generation::blackwell},
    {"a100", "", Generation::ga100},
    {"a100x", "", Generation::ga100},
    {"a800", "", Generation::ga100},
    {"a30", "", Generation::ga100},
    {"a30x", "", Generation::ga100},
    {"h100", "", Generation::hopper},
    {"h200", "", Generation::hopper},
    {"h800", "", Generation::hopper},
    {"h20", "", Generation::hopper},
    {"gh200", "", Generation::hopper},
    {"b100", "", Generation::blackwell},
    {"b200", "", Generation::blackwell},
    {"b300", "", Generation::blackwell},
    {"gb200", "", Generation::blackwell},
    {"gb300", "", Generation::blackwell},
    {"pro", "rtx", Generation::blackwell},
    {"l4", "", Generation::ada},
    {"l40", "", Generation::ada},
    {"l40s", "", Generation::ada},
    {"l20", "", Generation::ada},
    {"50##", "rtx", Generation::blackwell},
    {"40##", "geforce", Generation::ada},
    {"a2", "", Generation::ampere},
    {"a10", "", Generation::ampere},
    {"a10g", "", Generation::ampere},
    {"a16", "", Generation::ampere},
    {"a40", "", Generation::ampere},
    {"30##", "rtx", Generation::ampere},
    {"a###", "rtx", Generation::ampere},
    {"a####", "rtx", Generation::ampere},
    {"t4", "", Generation::turing},
    {"t4g", "", Generation::turing},
    {"20##", "rtx", Generation::turing},
    {"16##", "gtx", Generation::turing},
    {"rtx", "quadro", Generation::turing},
    {"rtx", "titan", Generation::turing},
    {"v100", "", Generation::volta},
    {"v100s", "", Generation::volta},
    {"gv100", "", Generation::volta},
    {"v", "titan", Generation::volta},
    {"p100", "", Generation::pascal},
    {"p40", "", Generation::pascal},
    {"p4", "", Generation::pascal},
    {"10##", "gtx", Generation::pascal},
    {"xp", "titan", Generation::pascal},
    {"m40", "", Generation::maxwell},
    {"m60", "", Generation::maxwell},
    {"m10", "", Generation::maxwell},
    {"k80", "", Generation::maxwell},
    {"k40m", "", Generation::maxwell},
    {"k40c", "", Generation::maxwell},
    {"k20m", "", Generation::maxwell},
    {"k20x", "", Generation::maxwell},
});

constexpr std::string_view kAverage = "power.draw of this generation is the mean over about 1 s";
constexpr std::string_view kWindow = "power.draw of this generation is a short window, not a mean";
constexpr std::string_view kQuarter = "power.draw of this GPU sees a 25 ms window of every 100 ms";
constexpr std::string_view kUnknown =
    "the GPU's generation is not known, so power.draw is taken as the mean over about 1 s";

// monitors.md 4.1 and 4.2 (arXiv 2312.02741); Kepler and Maxwell answer slowly, like an average of unknown window.
PowerMeaning meaning_of(Generation generation) {
  switch (generation) {
    case Generation::ga100:
      return {PowerKind::window, 0.25, kQuarter, true};
    case Generation::turing:
      return {PowerKind::window, 1.0, kWindow, true};
    case Generation::volta:
    case Generation::pascal:
      return {PowerKind::window, 0.5, kWindow, true};
    case Generation::maxwell:
      return {PowerKind::window, std::nullopt, kWindow, true};
    case Generation::ampere:
    case Generation::ada:
    case Generation::hopper:
    case Generation::blackwell:
      return {PowerKind::average, 1.0, kAverage, true};
    case Generation::unknown:
      break;
  }
  return {PowerKind::average, std::nullopt, kUnknown, false};
}

bool fits(std::string_view word, std::string_view pattern) {
  // "3090" fits 30##, "3080Ti" too: what follows the pattern may be letters.
  if (word.size() < pattern.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool is_digit = word[i] >= '0' && word[i] <= '9';
    if (pattern[i] == '#' ? !is_digit : word[i] != pattern[i]) return false;
  }
  if (word.size() == pattern.size()) return true;
  return pattern.ends_with('#') && !(word[pattern.size()] >= '0' && word[pattern.size()] <= '9');
}

Generation generation_of(std::string_view gpu_name) {
  auto lower = core::to_lower(gpu_name);
  std::ranges::replace(lower, '-', ' ');
  const auto words = core::split_words(lower);
  const auto has = [&](std::string_view pattern) {
    return pattern.empty() || std::ranges::any_of(words, [&](std::string_view word) { return fits(word, pattern); });
  };
  for (const auto& row : kNames)
    if (has(row.word) && has(row.with)) return row.generation;
  return Generation::unknown;
}

}  // namespace

PowerMeaning power_draw_of(std::string_view gpu_name) { return meaning_of(generation_of(gpu_name)); }

std::optional<double> duty_of_instant(std::string_view gpu_name) {
  const auto generation = generation_of(gpu_name);
  if (generation == Generation::hopper) return 0.25;
  if (generation == Generation::ada || generation == Generation::ampere) return 1.0;
  const auto meaning = meaning_of(generation);
  return meaning.kind == PowerKind::window ? meaning.duty : std::nullopt;
}

}  // namespace gradwatt::ingest

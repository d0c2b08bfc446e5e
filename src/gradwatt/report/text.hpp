// The report on one screen: where the watts went, what a sample cost, how far the figures can be trusted, what stands
// out, and what to type next. Figures keep their origin; what was not measured is named.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gradwatt/energy/summary.hpp"
#include "gradwatt/report/screen.hpp"

namespace gradwatt::report {

/// The strongest thing that a trigger saw, and the command that looks into it.
struct TriggerLine {
  std::string text;          ///< one sentence with its figures
  std::string next_command;  ///< may be empty
};

struct TextOptions {
  Screen::Options screen;
  energy::Factors factors;  ///< named beside the figures that rest on them
  std::optional<TriggerLine> trigger;
  std::string record_place;                ///< where the record lies; empty: it was not kept
  std::vector<std::string> next_commands;  ///< what a user most likely wants next
};

/// `run` needs meta, devices, quality and facts; its samples are not read.
[[nodiscard]] std::string to_text(const record::Run& run, const energy::Summary& summary,
                                  const TextOptions& options = {});

}  // namespace gradwatt::report

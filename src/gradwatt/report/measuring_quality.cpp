#include "gradwatt/report/measuring_quality.hpp"

#include <fmt/format.h>

#include <cmath>

#include "gradwatt/report/figures.hpp"
#include "gradwatt/report/screen.hpp"

namespace gradwatt::report {
namespace {

class Line {
 public:
  void add(const std::string& piece) { text_ += (text_.empty() ? "" : " · ") + unbroken(piece); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void add_ticks(Line& line, const record::Run& run) {
  const auto ticks = sum_of_fact(run, "sampler.ticks");
  if (!ticks) return;
  const auto late = sum_of_fact(run, "sampler.late_ticks");
  line.add(fmt::format("{} ticks{}", count_text(std::llround(*ticks)),
                       late ? fmt::format(", {} late", count_text(std::llround(*late))) : ""));
}

void add_own_cost(Line& line, const record::Run& run) {
  const auto cpu_s = sum_of_fact(run, "sampler.cpu_s");
  const auto extent = run.extent();
  if (!cpu_s || !extent || extent->end_ns <= extent->begin_ns) return;
  const double share = *cpu_s / (static_cast<double>(extent->end_ns - extent->begin_ns) * 1e-9);
  line.add(fmt::format("own CPU time {} ({} of a core)", duration_text(*cpu_s), share_text(share)));
}

}  // namespace

std::optional<double> sum_of_fact(const record::Run& run, std::string_view name) {
  std::optional<double> sum;
  for (const auto& fact : run.facts)
    if (fact.name == name)
      if (const auto value = as_number(fact)) sum = sum.value_or(0) + *value;
  return sum;
}

ReadingCounts count_readings(const record::Run& run) {
  ReadingCounts counts;
  for (const auto& q : run.quality) {
    counts.readings += q.readings;
    counts.failed += q.failed;
    counts.corrected += q.wraps;
    counts.rejected += q.resets + q.backward + q.glitches;
  }
  return counts;
}

std::string quality_text(const record::Run& run) {
  Line line;
  if (const auto interval = run.number_of(record::meta::kInterval); interval && *interval > 0)
    line.add("reading every " + duration_text(static_cast<double>(*interval) * 1e-9));
  add_ticks(line, run);
  const auto counts = count_readings(run);
  if (counts.readings > 0)
    line.add(counts.failed == 0 ? fmt::format("none of {} readings failed", count_text(std::int64_t(counts.readings)))
                                : fmt::format("{} of {} readings failed", count_text(std::int64_t(counts.failed)),
                                              count_text(std::int64_t(counts.readings))));
  if (counts.rejected > 0)
    line.add(fmt::format("{} counter steps rejected", count_text(std::int64_t(counts.rejected))));
  add_own_cost(line, run);
  return line.text();
}

}  // namespace gradwatt::report

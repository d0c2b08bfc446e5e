// Entry point for fuzzing the reader of profiler traces: any bytes, plain or as gzip, must give facts that make sense
// or a refusal in words.
//
// A control character in front of an input says how it comes: 1 packed with gzip, 2 packed and cut in the middle,
// others as it is. Without one it is the file itself, which may be gzip already.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "gradwatt/ingest/import.hpp"
#include "tests/doubles/made_gzip.hpp"

namespace {

using namespace gradwatt;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

void check(const record::Fact& fact) {
  const auto* info = record::find_fact(fact.name);
  require(info != nullptr, "a fact has a name of the table");
  require(fact.unit == info->unit && !fact.subject.empty() && !fact.source.empty(), "it says of what and from where");
  const auto number = record::as_number(fact);
  if (!number) return;
  require(std::isfinite(*number) && *number >= 0, "a figure is a number and not negative");
  if (fact.name.ends_with("_share") && fact.name != "rank.skew_share")
    require(*number <= 1 + 1e-9, "a share is at most 1");
  require(fact.coverage.value_or(0) >= 0 && fact.coverage.value_or(0) <= 1, "coverage is a share");
}

void check(const ingest::Imported& imported) {
  const auto& run = imported.run;
  require(imported.rows > 0, "an imported file has rows");
  require(run.where() == record::Where::imported, "it says that it was imported");
  for (const auto& fact : run.facts) check(fact);
  for (const auto& mark : run.marks) {
    require(mark.begin_ns <= mark.end_ns && mark.rank >= 0, "a step ends after its begin");
    for (const auto phase : mark.phase_ns)
      require(phase.value_or(0) >= 0 && phase.value_or(0) <= mark.end_ns - mark.begin_ns, "a phase lies in its step");
  }
  require(run.spans.size() <= 1'000'000, "a picture is thinned");
  for (const auto& span : run.spans) require(span.begin_ns < span.end_ns && !span.track.empty(), "a span has a length");
  for (const auto& diagnostic : imported.diagnostics) require(!diagnostic.message.empty(), "diagnostics speak");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint8_t kGzip = 0x1f;  // the first byte of a packed file is no such character
  const bool told = size > 0 && data[0] < kGzip && data[0] != '\t' && data[0] != '\n' && data[0] != '\r';
  const auto form = told ? data[0] : 0;
  std::string text(reinterpret_cast<const char*>(data) + (told ? 1 : 0), size - (told ? 1 : 0));
  if (form == 1 || form == 2) text = doubles::made_gzip(text);
  if (form == 2) text.resize(text.size() / 2);
  const auto imported = ingest::import_text("rank-1.json", std::move(text));
  if (imported) {
    check(*imported);
  } else {
    require(imported.error().code == core::Errc::unusable_input, "a refusal says unusable input");
    require(imported.error().message.find("line ") != std::string::npos, "a refusal names the line");
  }
  return 0;
}

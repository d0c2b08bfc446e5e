#include "gradwatt/ingest/facts_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/fact_list.hpp"
#include "gradwatt/ingest/fact_unit.hpp"
#include "gradwatt/ingest/located_json.hpp"

namespace gradwatt::ingest {
namespace {

using Json = nlohmann::json;
using record::Fact;
using record::FactInfo;
using record::FactKind;

constexpr std::string_view kSchema = "gradwatt.facts/1";
tl::unexpected<core::Error> refuse(std::size_t line, std::string_view what) {
  return core::fail(core::Errc::unusable_input, fmt::format("line {}: {}", line, what));
}

// --- one entry of the list

std::string known_name(std::string_view wrong) {
  std::vector<std::string_view> names;
  for (const auto& info : record::fact_table()) names.push_back(info.name);
  const auto near = core::nearest(wrong, names);
  return near ? fmt::format("; did you mean {}?", *near) : "; docs/metrics.md lists all names";
}

constexpr auto kKeys =
    std::to_array<std::string_view>({"name", "subject", "value", "unit", "how", "coverage", "time_ns", "source"});

/// Part of a whole: a unit of "%" makes sense though the fact is a pure number.
bool is_share(const FactInfo& info) {
  return info.name.ends_with("_share") || info.name == "scaling.efficiency" || info.name == "rank.culprit_stays";
}
/// Parts of one that can be well above one.
bool may_pass_one(const FactInfo& info) { return info.name == "rank.skew_share" || info.name == "scaling.efficiency"; }

/// One entry: each step sets its part of the fact or says what is wrong with it.
class Entry {
 public:
  Entry(const Json& json, std::string place, std::string source)
      : json_(json), place_(std::move(place)), source_(std::move(source)) {}

  core::Result<Fact> read() {
    if (!json_.is_object()) return wrong(R"(is no object such as {"name": …, "subject": …, "value": …, "unit": …})");
    using Step = core::Result<void> (Entry::*)();
    for (const Step step : {&Entry::take_name, &Entry::look_for_typos, &Entry::take_subject, &Entry::take_value,
                            &Entry::take_unit, &Entry::take_origin})
      if (auto done = (this->*step)(); !done) return core::fail(done.error());
    return fact_;
  }

 private:
  tl::unexpected<core::Error> wrong(std::string_view what) const {
    return core::fail(core::Errc::unusable_input, fmt::format("{} {}", place_, what));
  }
  /// Null where the key is missing or null.
  const Json* find(std::string_view key) const {
    const auto it = json_.find(key);
    return it != json_.end() && !it->is_null() ? &*it : nullptr;
  }

  core::Result<void> take_name() {
    const auto* name = find("name");
    if (name == nullptr || !name->is_string()) return wrong(R"(has no "name")");
    fact_.name = name->get<std::string>();
    info_ = record::find_fact(fact_.name);
    if (info_ == nullptr)
      return wrong(fmt::format("has the unknown name {}{}", in_quotes(fact_.name), known_name(fact_.name)));
    place_ += fmt::format(" ({})", fact_.name);
    fact_.unit = info_->unit;
    return {};
  }

  /// Other keys are the writer's notes, unless they look like one of ours.
  core::Result<void> look_for_typos() {
    for (const auto& [key, value] : json_.items()) {
      if (std::ranges::find(kKeys, key) != kKeys.end()) continue;
      const auto meant = core::nearest(key, kKeys);
      if (meant && find(*meant) == nullptr)
        return wrong(fmt::format("has the unknown key {}; did you mean \"{}\"?", in_quotes(key), *meant));
    }
    return {};
  }

  core::Result<void> take_subject() {
    const auto* subject = find("subject");
    if (subject != nullptr && !subject->is_string()) return wrong(R"(has a "subject" that is no text)");
    if (subject != nullptr) fact_.subject = printable(core::trim(subject->get<std::string>()), 120);
    if (!fact_.subject.empty()) return {};
    for (const std::string_view whole : {"job", "host"})
      if (info_->subject.find(whole) != std::string_view::npos) {
        fact_.subject = whole;
        return {};
      }
    return wrong(fmt::format(R"(needs a "subject": which {} it is about)", info_->subject));
  }

  core::Result<void> take_value() {
    const auto* value = find("value");
    if (value == nullptr) return wrong(R"(has no "value")");
    if (info_->kind == FactKind::text) return take_text(*value);
    if (!value->is_number() && !value->is_boolean())
      return wrong(
          fmt::format("has the value {}, but must be a number", in_quotes(value->dump(-1, ' ', false, kSafe))));
    fact_.value = value->is_boolean() ? (value->get<bool>() ? 1.0 : 0.0) : value->get<double>();
    return {};
  }

  core::Result<void> take_text(const Json& value) {
    if (value.is_number_integer()) {  // of an environment variable, say
      fact_.value = value.dump();
      return {};
    }
    if (!value.is_string())
      return wrong(
          fmt::format("has the value {}, but must be text in quotes", in_quotes(value.dump(-1, ' ', false, kSafe))));
    fact_.value = printable(value.get<std::string>());
    return {};
  }

  core::Result<void> take_unit() {
    const auto* unit = find("unit");
    if (unit != nullptr && !unit->is_string()) return wrong(R"(has a "unit" that is no text)");
    const auto written = unit != nullptr ? unit->get<std::string>() : std::string();
    if (info_->kind == FactKind::text)
      return written.empty() ? core::Result<void>()
                             : wrong(fmt::format("is text, but has the unit {}", in_quotes(written)));
    auto& number = std::get<double>(fact_.value);
    if (!written.empty()) {
      const auto factor = fact_unit_factor(written, info_->unit);
      const bool fits = factor && (!info_->unit.empty() || *factor == 1 || is_share(*info_));
      if (!fits) return wrong(fmt::format("has the unit {}, but {}", in_quotes(written), unit_wanted()));
      number *= *factor;
    }
    if (!std::isfinite(number)) return wrong("has a value that is too large");
    if (is_share(*info_) && !may_pass_one(*info_) && number > 1.5)
      return wrong(fmt::format(R"(is {}, but is a part of one; say {} or the unit "%")", number, number / 100));
    return {};
  }
  std::string unit_wanted() const {
    if (info_->unit.empty())
      return is_share(*info_) ? "is a part of one: leave it out or say %" : "is a pure number: leave it out";
    return fmt::format("must be {}", units_for(info_->unit));
  }

  core::Result<void> take_origin() {
    fact_.where = record::Where::imported;
    fact_.source = source_;
    if (const auto* source = find("source"); source != nullptr && source->is_string())
      fact_.source += ": " + printable(source->get<std::string>(), 200);
    if (const auto* how = find("how")) {
      const auto known = how->is_string() ? record::how_from(how->get<std::string>()) : std::nullopt;
      if (!known) return wrong(R"(has a "how" that is none of counter, integrated, modelled, estimated)");
      fact_.how = *known;
    }
    if (const auto* coverage = find("coverage")) {
      if (!coverage->is_number() || !(coverage->get<double>() >= 0 && coverage->get<double>() <= 1))
        return wrong(R"(has a "coverage" that is no number from 0 to 1)");
      fact_.coverage = coverage->get<double>();
    }
    if (const auto* time = find("time_ns")) {
      const bool whole =
          time->is_number_integer() && (!time->is_number_unsigned() || time->get<std::uint64_t>() <= kLatest);
      if (!whole) return wrong(R"(has a "time_ns" that is no whole number of nanoseconds)");
      fact_.time_ns = time->get<std::int64_t>();
    }
    return {};
  }

  static constexpr std::uint64_t kLatest = std::numeric_limits<std::int64_t>::max();
  static constexpr auto kSafe = Json::error_handler_t::replace;
  const Json& json_;
  std::string place_;  // "line 3: fact 2 (gpu.power_avg_w)"
  std::string source_;
  const FactInfo* info_ = nullptr;
  Fact fact_;
};

/// What may be said more than once of one subject.
constexpr auto kRepeated =
    std::to_array<std::string_view>({"comm.warning", "gpu.xid", "sensor.absent", "agent.problem"});

core::Result<void> check_head(const Json& root) {
  if (!root.is_object()) return refuse(1, "it is no JSON object");
  const auto schema = root.find("schema");
  if (schema == root.end() || !schema->is_string())
    return refuse(1, fmt::format("it has no \"schema\": \"{}\"", kSchema));
  if (*schema != kSchema)
    return refuse(
        1, fmt::format("its schema is {}, but this version reads {}", in_quotes(schema->get<std::string>()), kSchema));
  const auto facts = root.find("facts");
  if (facts == root.end() || !facts->is_array()) return refuse(1, "it has no list \"facts\"");
  if (facts->empty()) return refuse(1, "its list \"facts\" is empty");
  return {};
}

}  // namespace

core::Result<std::vector<Fact>> read_facts(std::string_view text, const std::string& name) {
  const auto document = parse_located(text, "facts", kMaxFactsBytes);
  if (!document) return core::fail(document.error());
  if (auto fine = check_head(document->root); !fine) return core::fail(fine.error());
  std::vector<Fact> facts;
  std::map<std::pair<std::string, std::string>, std::size_t> seen;
  for (const auto& json : document->root["facts"]) {
    const auto number = facts.size() + 1;
    const auto line = number <= document->item_lines.size() ? document->item_lines[number - 1] : 1;
    auto fact = Entry(json, fmt::format("line {}: fact {}", line, number), fmt::format("{}:{}", name, line)).read();
    if (!fact) return core::fail(fact.error());
    const auto [other, is_new] = seen.try_emplace({fact->name, fact->subject}, number);
    if (!is_new && std::ranges::find(kRepeated, fact->name) == kRepeated.end())
      return refuse(line, fmt::format("fact {} ({} of {}) was said before, as fact {}; keep one of them", number,
                                      fact->name, in_quotes(fact->subject), other->second));
    facts.push_back(std::move(*fact));
  }
  return facts;
}

core::Result<ImportedFile> read_facts_file(LineReader& lines, const std::string& name, const ImportOptions& /*options*/,
                                           Diagnostics& /*diagnostics*/) {
  const auto text = lines.whole(kMaxFactsBytes);
  if (!text) return core::fail(text.error());
  auto facts = read_facts(*text, name);
  if (!facts) return core::fail(facts.error());
  ImportedFile file{.rows = facts->size()};
  file.run.facts = std::move(*facts);
  describe(file, name, "facts");
  return file;
}

bool may_be_facts(const LineReader& lines) {
  return core::trim(lines.head()).starts_with('{') && lines.head().find("\"gradwatt.facts/") != std::string_view::npos;
}

}  // namespace gradwatt::ingest

#include "gradwatt/diagnosis/fact_sheet.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace gradwatt::diagnosis {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool is_job(const record::Fact& fact) { return fact.subject.empty() || lower(fact.subject) == "job"; }

std::vector<double> numbers(const FactSheet& sheet, std::string_view name) {
  std::vector<double> out;
  for (const auto* fact : sheet.all(name))
    if (const auto number = record::as_number(*fact)) out.push_back(*number);
  return out;
}

}  // namespace

std::vector<const record::Fact*> FactSheet::all(std::string_view name) const {
  std::vector<const record::Fact*> out;
  for (const auto& fact : facts_)
    if (fact.name == name) out.push_back(&fact);
  return out;
}

bool FactSheet::has(std::string_view name) const {
  return std::ranges::any_of(facts_, [&](const auto& fact) { return fact.name == name; });
}

std::optional<double> FactSheet::number(std::string_view name) const {
  for (const auto* fact : all(name))
    if (const auto number = record::as_number(*fact); number && is_job(*fact)) return number;
  auto values = numbers(*this, name);
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::optional<double> FactSheet::number(std::string_view name, std::string_view subject) const {
  for (const auto* fact : all(name))
    if (lower(fact->subject) == lower(subject)) return record::as_number(*fact);
  return std::nullopt;
}

std::optional<double> FactSheet::lowest(std::string_view name) const {
  const auto values = numbers(*this, name);
  return values.empty() ? std::nullopt : std::optional(std::ranges::min(values));
}

std::optional<double> FactSheet::highest(std::string_view name) const {
  const auto values = numbers(*this, name);
  return values.empty() ? std::nullopt : std::optional(std::ranges::max(values));
}

std::optional<double> FactSheet::sum(std::string_view name) const {
  const auto values = numbers(*this, name);
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

std::optional<bool> FactSheet::is(std::string_view name) const {
  if (const auto value = number(name)) return *value != 0;
  const auto word = text(name);
  if (!word) return std::nullopt;
  constexpr std::array<std::string_view, 4> kYes{"1", "on", "true", "yes"}, kNo{"0", "off", "false", "no"};
  if (std::ranges::find(kYes, *word) != kYes.end()) return true;
  if (std::ranges::find(kNo, *word) != kNo.end() || *word == "none") return false;
  return std::nullopt;
}

std::optional<std::string> FactSheet::text(std::string_view name) const {
  std::optional<std::string> first;
  for (const auto* fact : all(name)) {
    const auto word = record::as_text(*fact);
    if (word && is_job(*fact)) return lower(*word);
    if (word && !first) first = lower(*word);
  }
  return first;
}

std::optional<bool> FactSheet::text_holds(std::string_view name, std::string_view part) const {
  std::optional<bool> holds;
  for (const auto* fact : all(name))
    if (const auto word = record::as_text(*fact))
      holds = holds.value_or(false) || lower(*word).find(lower(part)) != std::string::npos;
  return holds;
}

std::optional<std::string> FactSheet::variable(std::string_view name) const {
  for (const auto* fact : all("env.value")) {
    if (lower(fact->subject) != lower(name)) continue;
    if (const auto word = record::as_text(*fact)) return word;
    if (const auto number = record::as_number(*fact)) {
      std::array<char, 32> digits{};
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *number).ptr;
      return std::string(digits.data(), end);
    }
  }
  return std::nullopt;
}

std::vector<SizedFact> sized(const FactSheet& sheet, std::string_view name, std::string_view what) {
  std::vector<SizedFact> out;
  for (const auto* fact : sheet.all(name)) {
    const std::string_view subject = fact->subject;
    const auto space = subject.find(' ');
    if (space == std::string_view::npos || lower(subject.substr(0, space)) != what) continue;
    const auto digits = subject.substr(space + 1);
    double size = 0;
    const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    const auto value = record::as_number(*fact);
    if (wrong != std::errc() || end != digits.data() + digits.size() || !value) continue;
    out.push_back({subject.substr(0, space), size, *value});
  }
  std::ranges::stable_sort(out, {}, &SizedFact::size);
  return out;
}

}  // namespace gradwatt::diagnosis

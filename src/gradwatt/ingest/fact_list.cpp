#include "gradwatt/ingest/fact_list.hpp"

#include <fmt/format.h>

#include <cassert>

namespace gradwatt::ingest {

record::Fact& FactList::put(std::string_view name, std::string subject, std::size_t line) {
  const auto* info = record::find_fact(name);
  assert(info != nullptr);
  auto& fact = facts_.emplace_back();
  fact.name = name;
  fact.subject = printable(subject, 120);
  fact.unit = info->unit;
  fact.where = record::Where::imported;
  fact.source = line == 0 ? file_ : fmt::format("{}:{}", file_, line);
  return fact;
}

record::Fact& FactList::add(std::string_view name, std::string subject, double value, std::size_t line) {
  auto& fact = put(name, std::move(subject), line);
  fact.value = value;
  return fact;
}

record::Fact& FactList::add(std::string_view name, std::string subject, std::string_view value, std::size_t line) {
  auto& fact = put(name, std::move(subject), line);
  fact.value = printable(value);
  return fact;
}

std::string printable(std::string_view text, std::size_t most) {
  const bool cut = text.size() > most;
  std::string shown(text.substr(0, most));
  // A cut may fall inside a UTF-8 character: drop its head.
  const auto is_tail = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  if (cut && is_tail(text[most])) {
    while (!shown.empty() && is_tail(shown.back())) shown.pop_back();
    if (!shown.empty()) shown.pop_back();
  }
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  if (cut) shown += "…";
  return shown;
}

}  // namespace gradwatt::ingest

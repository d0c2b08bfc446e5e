// For tests: imports a text and asks its facts.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "gradwatt/ingest/import.hpp"

namespace gradwatt::ingest {

inline Imported read_well(const std::string& text, const ImportOptions& options = {}) {
  auto imported = import_text("file.log", text, options);
  EXPECT_TRUE(imported) << imported.error().message;
  return imported ? std::move(*imported) : Imported{};
}
inline std::string refused(const std::string& text) {
  const auto imported = import_text("file.log", text);
  EXPECT_FALSE(imported);
  return imported ? "" : imported.error().message;
}
inline const record::Fact* find(const Imported& imported, std::string_view name, std::string_view subject) {
  for (const auto& fact : imported.run.facts)
    if (fact.name == name && fact.subject == subject) return &fact;
  return nullptr;
}
inline std::optional<double> number(const Imported& imported, std::string_view name, std::string_view subject = "job") {
  const auto* fact = find(imported, name, subject);
  return fact != nullptr ? record::as_number(*fact) : std::nullopt;
}
inline std::optional<std::string> text(const Imported& imported, std::string_view name,
                                       std::string_view subject = "job") {
  const auto* fact = find(imported, name, subject);
  return fact != nullptr ? record::as_text(*fact) : std::nullopt;
}
inline std::string said(const Imported& imported) {
  std::string all;
  for (const auto& diagnostic : imported.diagnostics) all += format(diagnostic) + "\n";
  return all;
}

}  // namespace gradwatt::ingest

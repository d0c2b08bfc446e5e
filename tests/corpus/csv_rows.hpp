// Rows of a plain table of the corpus (no quotes), each cell under its column's name.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace gradwatt {

inline std::vector<std::map<std::string, std::string>> csv_rows(const std::filesystem::path& file) {
  std::ifstream in(file);
  const auto cells = [](const std::string& line) {
    std::vector<std::string> out;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, ',');) out.push_back(cell);
    return out;
  };
  std::vector<std::map<std::string, std::string>> out;
  std::string line;
  if (!std::getline(in, line)) return out;
  const auto names = cells(line);
  while (std::getline(in, line)) {
    const auto values = cells(line);
    if (values.size() != names.size()) continue;
    auto& row = out.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = values[i];
  }
  return out;
}

}  // namespace gradwatt

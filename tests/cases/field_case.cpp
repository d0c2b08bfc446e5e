#include "tests/cases/field_case.hpp"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "gradwatt/core/hash.hpp"
#include "gradwatt/ingest/facts_json.hpp"

namespace gradwatt::cases {
namespace {

nlohmann::json parse(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file.string() + ": not found");
  return nlohmann::json::parse(in);
}

std::vector<record::Fact> read_facts(const std::filesystem::path& file) {
  std::ifstream in(file);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  auto facts = ingest::read_facts(text, file.filename().string());
  if (!facts) throw std::runtime_error(file.string() + ": " + facts.error().message);
  return std::move(*facts);
}

Expected expected_of(const std::string& word) {
  if (word == "decidable") return Expected::decidable;
  if (word == "family") return Expected::family;
  if (word == "undecidable") return Expected::undecidable;
  throw std::runtime_error("expectations.json: \"" + word + "\" is none of decidable, family, undecidable");
}

}  // namespace

std::vector<FieldCase> read_field_cases(const std::filesystem::path& folder) {
  std::vector<FieldCase> out;
  const auto expectations = parse(folder / "expectations.json");
  for (const auto& row : expectations.at("cases")) {
    const std::string id = row.at("id");
    out.push_back(
        {id, row.at("cause"), expected_of(row.at("expect")), row.at("why"), read_facts(folder / (id + ".json"))});
  }
  return out;
}

bool is_held_out(const FieldCase& field_case) { return core::hash_of(field_case.id) % 3 == 0; }

}  // namespace gradwatt::cases

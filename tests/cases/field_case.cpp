#include "tests/cases/field_case.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "gradwatt/core/hash.hpp"

namespace gradwatt::cases {
namespace {

nlohmann::json parse(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file.string() + ": not found");
  return nlohmann::json::parse(in);
}

std::vector<record::Fact> read_facts(const std::filesystem::path& file) {
  std::vector<record::Fact> out;
  const auto sheet = parse(file);
  for (const auto& row : sheet.at("facts")) {
    record::Fact fact{.name = row.at("name"),
                      .subject = row.at("subject"),
                      .value = 0.0,
                      .unit = row.at("unit"),
                      .where = record::Where::imported,
                      .source = file.filename().string()};
    if (row.at("value").is_string())
      fact.value = row.at("value").get<std::string>();
    else
      fact.value = row.at("value").get<double>();
    const auto* info = record::find_fact(fact.name);
    if (info == nullptr || info->unit != fact.unit)
      throw std::runtime_error(file.string() + ": the fact table has no " + fact.name + " in \"" + fact.unit + '"');
    out.push_back(std::move(fact));
  }
  return out;
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

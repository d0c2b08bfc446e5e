#include "baseline_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "replace_file.hpp"
#include "run_ref.hpp"

namespace gradwatt::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "gradwatt.baseline/1";

struct Field {
  const char* key;
  std::optional<double> diagnosis::Baseline::*figure;
};
constexpr auto kFigures = std::to_array<Field>({
    {"ranks", &diagnosis::Baseline::ranks},
    {"gpus", &diagnosis::Baseline::gpus},
    {"samples_per_s", &diagnosis::Baseline::samples_per_s},
    {"steps_per_s", &diagnosis::Baseline::steps_per_s},
    {"power_avg_w", &diagnosis::Baseline::power_avg_w},
    {"energy_per_sample_j", &diagnosis::Baseline::energy_per_sample_j},
});
struct Word {
  const char* key;
  std::string diagnosis::Baseline::*text;
};
constexpr auto kWords = std::to_array<Word>({
    {"name", &diagnosis::Baseline::name},
    {"run_id", &diagnosis::Baseline::run_id},
    {"command", &diagnosis::Baseline::command},
    {"origin", &diagnosis::Baseline::origin},
    {"gpu", &diagnosis::Baseline::gpu},
});

std::string to_json(const diagnosis::Baseline& baseline) {
  Json out{{"schema", kSchema}};
  for (const auto& [key, text] : kWords) out[key] = baseline.*text;
  for (const auto& [key, figure] : kFigures) out[key] = baseline.*figure ? Json(*(baseline.*figure)) : Json(nullptr);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

core::Result<diagnosis::Baseline> read(const fs::path& file) {
  std::ifstream in(file);
  const auto json = Json::parse(in, nullptr, false);
  if (json.is_discarded() || !json.is_object() || json.value("schema", "") != kSchema)
    return core::fail(core::Errc::unusable_input, fmt::format("{} is no baseline of this version", file.string()));
  diagnosis::Baseline out;
  for (const auto& [key, text] : kWords)
    if (json.contains(key) && json[key].is_string()) out.*text = json[key].get<std::string>();
  for (const auto& [key, figure] : kFigures)
    if (json.contains(key) && json[key].is_number()) out.*figure = json[key].get<double>();
  return out;
}

bool is_file_name(const std::string& name) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
  return !name.empty() && name.size() <= 100 && name.front() != '.' && std::ranges::all_of(name, allowed);
}

}  // namespace

core::Result<fs::path> baseline_folder(const core::Settings& settings) {
  const auto runs = store_folder(settings);
  if (!runs) return core::fail(runs.error());
  return runs->parent_path() / "baselines";
}

core::Result<void> save_baseline(const fs::path& folder, const diagnosis::Baseline& baseline) {
  if (!is_file_name(baseline.name))
    return core::fail(core::Errc::wrong_use,
                      fmt::format("a baseline cannot be called '{}': letters, digits, - _ and . only", baseline.name));
  std::error_code error;
  fs::create_directories(folder, error);
  return replace_file(folder / (baseline.name + ".json"), to_json(baseline));
}

std::vector<diagnosis::Baseline> list_baselines(const fs::path& folder) {
  std::vector<diagnosis::Baseline> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".json")
      if (auto baseline = read(entry.path())) out.push_back(std::move(*baseline));
  std::ranges::sort(out, {}, &diagnosis::Baseline::name);
  return out;
}

core::Result<diagnosis::Baseline> load_baseline(const fs::path& folder, const std::string& name) {
  const auto file = folder / (name + ".json");
  std::error_code error;
  if (is_file_name(name) && fs::exists(file, error)) return read(file);
  for (const auto& row : diagnosis::published_baselines())
    if (row.name == name) return row;
  std::string known;
  for (const auto& baseline : list_baselines(folder)) known += (known.empty() ? "" : ", ") + baseline.name;
  return core::fail(
      core::Errc::not_found,
      fmt::format("no baseline is called '{}'; {}", name,
                  known.empty() ? "none was saved yet: gradwatt baseline save RUN --name NAME" : "there are " + known));
}

}  // namespace gradwatt::app

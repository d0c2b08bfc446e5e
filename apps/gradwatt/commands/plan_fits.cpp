#include "commands/plan_fits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "gradwatt/report/json_values.hpp"
#include "replace_file.hpp"
#include "run_ref.hpp"

namespace gradwatt::app {
namespace {

namespace fs = std::filesystem;
using planning::ProfileRow;
using report::Json;
using report::value;

constexpr std::string_view kSchema = "gradwatt.fits/1";

std::optional<double> number(const Json& from, const char* key) {
  return from.contains(key) && from[key].is_number() ? std::optional(from[key].get<double>()) : std::nullopt;
}

Json to_json(const ProfileRow& row, const std::vector<planning::Residual>& residuals) {
  const auto& load = row.step.load;
  Json out{{"run_id", row.source},
           {"gpus", row.gpus},
           {"replicas", load.replicas},
           {"nodes", load.nodes},
           {"local_batch", load.local_batch},
           {"accumulation", load.accumulation},
           {"step_s", row.step.step_s},
           {"exposed_s", value(row.step.exposed_s)},
           {"input_s", value(row.input_s)},
           {"start_up_s", value(row.start_up_s)},
           {"cap_w", value(row.cap_w)},
           {"gpu_power_w", value(row.gpu_power_w)},
           {"node_power_w", value(row.node_power_w)},
           {"residuals", Json::array()}};
  for (const auto& r : residuals)
    out["residuals"].push_back({{"term", r.term},
                                {"unit", r.unit},
                                {"predicted", r.predicted.value},
                                {"low90", r.predicted.low90},
                                {"high90", r.predicted.high90},
                                {"measured", r.measured},
                                {"ratio", r.ratio()},
                                {"inside", r.inside()}});
  return out;
}

/// Nothing for a row without what a fit needs.
std::optional<ProfileRow> from_json(const Json& json) {
  const auto gpus = number(json, "gpus"), replicas = number(json, "replicas"), batch = number(json, "local_batch"),
             step = number(json, "step_s");
  if (!json.is_object() || !gpus || !replicas || !batch || !step) return std::nullopt;
  ProfileRow out;
  out.source = json.value("run_id", "");
  out.gpus = *gpus;
  out.step = {{*replicas, number(json, "nodes").value_or(1), *batch, number(json, "accumulation").value_or(1)},
              *step,
              number(json, "exposed_s")};
  out.input_s = number(json, "input_s");
  out.start_up_s = number(json, "start_up_s");
  out.cap_w = number(json, "cap_w");
  out.gpu_power_w = number(json, "gpu_power_w");
  out.node_power_w = number(json, "node_power_w");
  return out;
}

fs::path file_of(const fs::path& folder, const std::string& job) { return folder / (job_file_name(job) + ".json"); }

core::Result<Json> read(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return Json{{"schema", kSchema}, {"rows", Json::array()}};
  std::ifstream in(file);
  auto json = Json::parse(in, nullptr, false);
  if (json.is_discarded() || !json.is_object() || json.value("schema", "") != kSchema || !json["rows"].is_array())
    return core::fail(
        core::Errc::unusable_input,
        fmt::format("{} does not hold what was learnt of runs; move it away to begin anew", file.string()));
  return json;
}

}  // namespace

core::Result<fs::path> fits_folder(const core::Settings& settings) {
  const auto runs = store_folder(settings);
  if (!runs) return core::fail(runs.error());
  return runs->parent_path() / "fits";
}

std::string job_file_name(std::string_view job) {
  std::string out;
  for (const char c : job.substr(0, 100)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
    out += plain && !(out.empty() && c == '.') ? c : '-';
  }
  return out.empty() ? "job" : out;
}

core::Result<std::vector<ProfileRow>> learnt_rows(const fs::path& folder, const std::string& job) {
  const auto json = read(file_of(folder, job));
  if (!json) return core::fail(json.error());
  std::vector<ProfileRow> out;
  for (const auto& row : (*json)["rows"])
    if (auto one = from_json(row)) out.push_back(std::move(*one));
  return out;
}

core::Result<fs::path> learn(const fs::path& folder, const std::string& job, const ProfileRow& row,
                             const std::vector<planning::Residual>& residuals) {
  const auto file = file_of(folder, job);
  auto json = read(file);
  if (!json) return core::fail(json.error());
  auto& rows = (*json)["rows"];
  for (auto it = rows.begin(); it != rows.end();) it = it->value("run_id", "") == row.source ? rows.erase(it) : it + 1;
  rows.push_back(to_json(row, residuals));
  (*json)["job"] = job;
  std::error_code error;
  fs::create_directories(folder, error);
  auto kept = replace_file(file, json->dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  if (!kept) return core::fail(kept.error());
  return file;
}

std::string residuals_to_json(const std::string& job, const ProfileRow& row,
                              const std::vector<planning::Residual>& residuals) {
  Json out{{"schema", kSchema}, {"job", job}, {"rows", Json::array({to_json(row, residuals)})}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gradwatt::app

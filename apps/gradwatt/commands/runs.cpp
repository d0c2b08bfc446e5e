// `gradwatt runs list|show|name|rm`: the runs that are kept.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "commands/table.hpp"
#include "gradwatt/core/text.hpp"
#include "gradwatt/report/figures.hpp"
#include "gradwatt/report/headline.hpp"
#include "run_ref.hpp"
#include "run_store.hpp"

namespace gradwatt::app {
namespace {

using Json = nlohmann::ordered_json;

struct Wanted {
  std::vector<std::string> runs;
  std::string name;
  bool json = false, yes = false;
};

/// What a listing says of one run; unreadable ones are listed with the reason instead of being hidden.
struct Listed {
  std::string id, name, command, problem;
  std::vector<std::string> hosts;
  std::optional<core::WallTime> begin;
  std::optional<double> duration_s;
  std::optional<std::int64_t> exit_status;
  std::size_t gpus = 0;
  bool complete = false;
  std::filesystem::path folder;
};

std::optional<core::WallTime> wall_time(const record::Run& run, std::optional<std::int64_t> time_ns) {
  if (!time_ns) return std::nullopt;
  if (run.text(record::meta::kClock) == "wall") return core::WallTime(core::Duration(*time_ns));
  const auto monotonic = run.number_of(record::meta::kAnchorMonotonic);
  const auto wall = run.number_of(record::meta::kAnchorWall);
  if (!monotonic || !wall) return std::nullopt;
  return core::WallTime(core::Duration(*time_ns - *monotonic + *wall));
}

Listed describe(const std::filesystem::path& folder, std::string id, std::optional<std::string> name) {
  Listed row{.id = std::move(id), .name = name.value_or(""), .folder = folder};
  const auto run = record::load_head(folder);
  if (!run) {
    row.problem = run.error().message;
    return row;
  }
  if (row.name.empty()) row.name = run->text(record::meta::kName).value_or("");
  row.command = report::subject_of(*run);
  row.hosts = report::hosts_of(*run);
  row.begin = wall_time(*run, run->number_of(record::meta::kJobBegin));
  if (const auto extent = run->extent()) row.duration_s = static_cast<double>(extent->end_ns - extent->begin_ns) * 1e-9;
  row.exit_status = run->number_of(record::meta::kExitStatus);
  row.complete = run->complete();
  for (const auto& device : run->devices) row.gpus += device.kind == record::DeviceKind::gpu ? 1 : 0;
  return row;
}

Json to_json(const Listed& row) {
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  return {{"run_id", row.id},
          {"name", text_or_null(row.name)},
          {"begin_utc", row.begin ? Json(core::format_utc(*row.begin)) : Json(nullptr)},
          {"duration_s", row.duration_s ? Json(*row.duration_s) : Json(nullptr)},
          {"exit_status", row.exit_status ? Json(*row.exit_status) : Json(nullptr)},
          {"complete", row.complete},
          {"hosts", row.hosts},
          {"gpus", row.gpus},
          {"command", text_or_null(row.command)},
          {"folder", row.folder.string()},
          {"problem", text_or_null(row.problem)}};
}

void print_json(Context& context, const Json& object) {
  context.out << object.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

std::string state_text(const Listed& row) {
  if (row.exit_status) return "exit " + report::exit_status_text(row.exit_status);
  return row.complete ? "ended" : "not ended";
}

void put_listed(report::Screen& screen, const Listed& row) {
  const auto id = row.name.empty() ? row.id : fmt::format("{} ({})", row.id, row.name);
  if (!row.problem.empty()) {
    screen.line(id, report::Style::strong);
    screen.line("    " + report::printable(row.problem), report::Style::bad);
    return;
  }
  const auto begin = row.begin ? core::format_utc(*row.begin).substr(0, 16) + "Z" : std::string("time unknown");
  std::vector<std::string> facts{begin};
  if (row.duration_s) facts.push_back(report::duration_text(*row.duration_s));
  facts.push_back(state_text(row));
  if (row.gpus > 0) facts.push_back(fmt::format("{} GPU{}", row.gpus, row.gpus == 1 ? "" : "s"));
  screen.line(fmt::format("{}  {}", id, fmt::join(facts, " · ")), report::Style::strong);
  screen.line("    " + report::printable(row.command));
}

core::Result<int> list(Context& context, const RunStore& store, const Wanted& wanted) {
  const auto entries = store.entries();
  if (wanted.json) {
    Json rows = Json::array();
    for (const auto& entry : entries) rows.push_back(to_json(describe(entry.folder, entry.id, entry.name)));
    print_json(context, {{"schema", "gradwatt.runs/1"}, {"store", store.root().string()}, {"runs", rows}});
    return 0;
  }
  report::Screen screen(context.screen);
  for (const auto& entry : entries) put_listed(screen, describe(entry.folder, entry.id, entry.name));
  if (entries.empty()) screen.line("no runs in " + store.root().string());
  context.out << screen.text();
  return 0;
}

core::Result<int> show(Context& context, const core::Settings& settings, const Wanted& wanted) {
  const auto ref = resolve_run(settings, context.working_folder, wanted.runs.empty() ? "" : wanted.runs.front());
  if (!ref) return core::fail(ref.error());
  const auto run = load_run(context, *ref, {std::vector<record::MetricId>{}, false, false, false});
  if (!run) return core::fail(run.error());
  if (wanted.json) {
    Json meta = Json::object(), devices = Json::array();
    for (const auto& [key, value] : run->meta) meta[key] = value;
    for (const auto& d : run->devices)
      devices.push_back({{"kind", name_of(d.kind)},
                         {"uuid", d.uuid},
                         {"name", d.name},
                         {"host", d.host},
                         {"attributes", d.attributes}});
    print_json(context,
               {{"schema", "gradwatt.run/1"}, {"path", ref->path.string()}, {"meta", meta}, {"devices", devices}});
    return 0;
  }
  std::string text = fmt::format("{}\n", ref->path.string());
  for (const auto& [key, value] : run->meta) text += fmt::format("  {:<22} {}\n", key, report::printable(value));
  for (const auto& d : run->devices)
    text += fmt::format("  {:<22} {} {} {}\n", name_of(d.kind), report::printable(d.name), d.uuid, d.host);
  context.out << text;
  return 0;
}

/// All runs of the command line, before anything is touched. Each must be one of the store: a path is refused, so that
/// nothing outside it can be meant.
core::Result<std::vector<RunStore::Entry>> entries_of(const RunStore& store, const std::vector<std::string>& words) {
  std::vector<RunStore::Entry> entries;
  for (const auto& word : words) {
    if (word.find('/') != std::string::npos)
      return core::fail(core::Errc::wrong_use,
                        fmt::format("'{}' is a path; only runs kept in {} can be named or removed, by their id", word,
                                    store.root().string()));
    auto entry = store.find(word);
    if (!entry) return core::fail(entry.error());
    entries.push_back(std::move(*entry));
  }
  return entries;
}

core::Result<void> confirm(Context& context, const std::vector<RunStore::Entry>& entries) {
  if (!context.in_is_terminal)
    return core::fail(core::Errc::wrong_use, "runs rm: nobody to ask here; say --yes to remove without asking");
  std::vector<std::string> ids;
  for (const auto& entry : entries) ids.push_back(entry.id);
  context.err << fmt::format("remove {} for good? [y/N] ", fmt::join(ids, ", "));
  context.err.flush();
  std::string answer;
  std::getline(context.in, answer);
  const auto word = core::to_lower(core::trim(answer));
  if (word == "y" || word == "yes") return {};
  return core::fail(core::Errc::wrong_use, "runs rm: nothing was removed");
}

core::Result<int> remove(Context& context, const RunStore& store, const Wanted& wanted) {
  const auto entries = entries_of(store, wanted.runs);
  if (!entries) return core::fail(entries.error());
  if (!wanted.yes)
    if (auto agreed = confirm(context, *entries); !agreed) return core::fail(agreed.error());
  for (const auto& entry : *entries) {
    if (auto removed = store.remove(entry); !removed) return core::fail(removed.error());
    context.out << "removed " << entry.id << '\n';
  }
  return 0;
}

core::Result<int> name(Context& context, const RunStore& store, const Wanted& wanted) {
  const auto entries = entries_of(store, wanted.runs);
  if (!entries) return core::fail(entries.error());
  if (auto named = store.set_name(entries->front(), wanted.name); !named) return core::fail(named.error());
  context.out << fmt::format("{} is now called {}\n", entries->front().id, wanted.name);
  return 0;
}

}  // namespace

core::Result<int> run_runs(Context& context, Arguments arguments) {
  Options options(context, "runs", "Lists, shows, names and removes the runs that are kept.");
  Wanted wanted;
  std::string run;
  options.app().add_flag("--json", wanted.json, "print JSON");
  auto* list_action = options.add_action("list", "all runs, latest first (also without an action)");
  list_action->add_flag("--json", wanted.json, "print JSON");
  auto* show_action = options.add_action("show", "what a run knows of itself: command, host, devices, versions");
  show_action->add_option("RUN", wanted.runs, "the latest if left out")->expected(0, 1)->type_name("");
  show_action->add_flag("--json", wanted.json, "print JSON");
  auto* name_action = options.add_action("name", "give a run a name that every verb understands");
  name_action->add_option("RUN", run, "id, name or `last`")->type_name("")->required();
  name_action->add_option("NAME", wanted.name, "letters, digits, '.', '_', '-'")->type_name("")->required();
  auto* rm_action = options.add_action("rm", "remove runs for good");
  rm_action->add_option("RUN", wanted.runs, "ids, names or `last`")->type_name("")->required();
  rm_action->add_flag("--yes,-y", wanted.yes, "do not ask");
  const auto parsed = options.parse(arguments);
  if (!parsed) return core::fail(parsed.error());
  if (*parsed == Options::Parsed::done) return 0;
  const auto settings = options.settings();
  if (!settings) return core::fail(settings.error());
  if (show_action->parsed()) return show(context, *settings, wanted);
  const auto folder = store_folder(*settings);
  if (!folder) return core::fail(folder.error());
  const RunStore store(*folder);
  if (name_action->parsed()) wanted.runs = {run};
  if (name_action->parsed()) return name(context, store, wanted);
  if (rm_action->parsed()) return remove(context, store, wanted);
  return list(context, store, wanted);
}

}  // namespace gradwatt::app

#include "own_measurement.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "context.hpp"
#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/energy/summary.hpp"
#include "gradwatt/launch/environment.hpp"
#include "gradwatt/launch/identity.hpp"
#include "measure/conclusion.hpp"

namespace gradwatt::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// What `gradwatt run` gave the job, if it runs on this host.
fs::path marks_folder_of_run() {
  const char* folder = std::getenv("GRADWATT_MARKS");
  std::error_code ignored;
  return folder != nullptr && *folder != '\0' && fs::is_directory(folder, ignored) ? fs::path(folder) : fs::path();
}

/// A private folder in memory, else on disk; empty where none can be made: steps are then not seen.
fs::path new_marks_folder() {
  const char* temporary = std::getenv("TMPDIR");
  for (const auto& root : {fs::path("/dev/shm"), fs::path(temporary != nullptr ? temporary : ""), fs::path("/tmp")}) {
    auto name = (root / "gradwatt-train-XXXXXX").string();
    if (root.is_absolute() && ::mkdtemp(name.data()) != nullptr) return name;
  }
  return {};
}

struct Introduction {
  bool leads = false;           ///< lowest rank of its host
  bool below_run = false;       ///< the leader's: `gradwatt run` measures this host
  std::string marks_folder;     ///< the leader's
  Json visible_gpus = nullptr;  ///< its CUDA_VISIBLE_DEVICES; null: not set
};

Introduction introduce(bool leads) {
  Introduction own{.leads = leads};
  if (const char* gpus = std::getenv("CUDA_VISIBLE_DEVICES")) own.visible_gpus = gpus;
  if (!leads) return own;
  const auto of_run = marks_folder_of_run();
  own.below_run = !of_run.empty();
  own.marks_folder = own.below_run ? of_run : new_marks_folder();
  return own;
}

std::vector<Introduction> exchange(training::Communicator& ranks, const Introduction& own) {
  const auto lines = ranks.all_gather(Json{
      {"leads", own.leads},
      {"below_run", own.below_run},
      {"marks_folder", own.marks_folder},
      {"visible_gpus", own.visible_gpus}}.dump());
  std::vector<Introduction> all;
  for (const auto& line : lines) {
    const auto json = Json::parse(line);
    all.push_back({json["leads"], json["below_run"], json["marks_folder"], json["visible_gpus"]});
  }
  return all;
}

/// All tasks of a launch name the same run; where the launcher says nothing, rank 0 chooses.
std::string agree_on_run_id(training::Communicator& ranks, core::Clock& clock) {
  const auto identity = launch::identify(launch::current_environment(), core::FileTree(), ::getppid());
  return ranks.broadcast(launch::run_id_of(identity, clock.wall_now(), launch::random_number()), 0);
}

}  // namespace

core::Result<void> OwnMeasurement::begin(training::Communicator& ranks) {
  const auto run_id = agree_on_run_id(ranks, clock_);
  const auto& peers = ranks.peers();
  const auto& host = peers[static_cast<std::size_t>(ranks.rank())].host;
  const auto all = exchange(ranks, introduce(ranks.local_rank() == 0));
  std::vector<std::string> visible_gpus;  // of this host's ranks that are restricted
  std::vector<pid_t> processes;
  Introduction leader;
  pid_t leading_process = 0;
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (peers[r].host != host) continue;
    if (all[r].leads && leading_process == 0) leader = all[r], leading_process = peers[r].pid;
    if (all[r].visible_gpus.is_string()) visible_gpus.push_back(all[r].visible_gpus);
    processes.push_back(peers[r].pid);
  }
  {
    const std::lock_guard lock(mutex_);
    marks_folder_ = leader.marks_folder;
    own_folder_ = !leader.below_run;
    leader_ = leading_process;
  }
  if (leader.below_run || ranks.local_rank() != 0) return {};
  job_.update([&](auto& scope) {
    scope.roots = processes;
    scope.all_gpus = visible_gpus.size() < processes.size();
    if (!scope.all_gpus) scope.visible_gpus = visible_gpus;
  });
  return start_recording(run_id);
}

core::Result<void> OwnMeasurement::start_recording(const std::string& run_id) {
  const auto environment = launch::current_environment();
  const auto identity = launch::identify(environment, core::FileTree(), ::getppid());
  const auto context = context_of_process(clock_);
  auto settings = core::Settings::load(core::usual_sources(context.environment, context.working_folder));
  if (!settings) return core::fail(settings.error());
  RunRequest request{.settings = std::move(*settings)};
  request.command = request_.command;
  request.name = request_.name;
  if (!request_.out.empty()) request.out = context.working_folder / request_.out;
  const auto place = choose_place(context, request, run_id, identity.shared_run_id.has_value());
  if (!place) return core::fail(place.error());
  auto plan = plan_recording(request, *place, run_id, identity, "command");
  if (!plan) return core::fail(plan.error());
  plan->marks_folder = marks_folder_;
  plan->process_is_ours = false;
  const std::lock_guard lock(mutex_);
  place_ = *place;
  recorder_ = std::make_unique<Recorder>(clock_, job_, std::move(*plan));
  recorder_->start();
  recorder_->job_began(clock_.now());
  if (!place->note.empty()) fmt::print(stderr, "gradwatt train: {}\n", place->note);
  return {};
}

HostCost OwnMeasurement::close_record(int exit_status) {
  const auto finished = recorder_->finish(clock_.now(), exit_status);
  for (const auto& problem : finished.problems) fmt::print(stderr, "gradwatt train: {}\n", problem);
  left_thread_behind_ = finished.thread_left_behind;
  // Its destructor would wait for what hangs.
  if (left_thread_behind_) (void)recorder_.release();
  recorder_.reset();
  if (!finished.kept) place_ = {};
  return finished.run.meta.empty() ? HostCost{.by = HostCost::MeasuredBy::trainer}
                                   : cost_of(energy::summarize(finished.run));
}

void OwnMeasurement::keep() {
  const std::lock_guard lock(mutex_);
  kept_ = true;
}

TrainingCost OwnMeasurement::end(training::Communicator& ranks) {
  ranks.barrier();  // every mark is in its ring
  HostCost own;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    if (recorder_) own = close_record(0);
    remove_own_folder();
  }
  const bool leads = ranks.local_rank() == 0;
  std::vector<HostCost> hosts;
  for (const auto& line : ranks.all_gather(leads ? to_line(own) : "")) {
    if (line.empty()) continue;
    if (auto cost = host_cost_from(line)) hosts.push_back(std::move(*cost));
  }
  return sum_of(hosts);
}

void OwnMeasurement::end_early() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(ended_, true)) return;
  if (recorder_) (void)close_record(training::kFailedRank);
  if (!kept_) take_record_away();
  if (own_folder_ && leader_ != ::getpid()) wait_for_leader();
  remove_own_folder();
}

void OwnMeasurement::take_record_away() {
  std::error_code ignored;
  if (!place_.file.empty()) fs::remove(place_.file, ignored);
  if (!place_.folder.empty()) fs::remove(place_.folder, ignored);  // only when empty
}

/// A launcher ends a host's ranks by force soon after the first of them has gone: who keeps no record stays until the
/// record is closed.
void OwnMeasurement::wait_for_leader() const {
  constexpr std::chrono::milliseconds kPatience{3000}, kPause{20};
  const auto deadline = clock_.now() + kPatience;
  while (!training::process_is_gone(leader_) && clock_.now() < deadline) std::this_thread::sleep_for(kPause);
}

/// The lowest rank removes it; when that one was killed, whoever ends after it.
void OwnMeasurement::remove_own_folder() const {
  if (!own_folder_ || marks_folder_.empty()) return;
  if (leader_ != ::getpid() && !training::process_is_gone(leader_)) return;
  std::error_code ignored;
  fs::remove_all(marks_folder_, ignored);
}

}  // namespace gradwatt::app

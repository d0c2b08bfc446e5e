#include "gradwatt/backends/proc/job_sensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "gradwatt/backends/proc/node_files.hpp"
#include "gradwatt/backends/proc/ports_and_disks.hpp"
#include "gradwatt/core/text.hpp"

namespace gradwatt::proc {
namespace {

using record::DeviceKind;
using record::metric;
using record::MetricId;

constexpr auto kCpuTime = metric(DeviceKind::job, "cpu_time");
constexpr auto kMemory = metric(DeviceKind::job, "memory");
constexpr auto kProcesses = metric(DeviceKind::job, "processes");
constexpr auto kThreads = metric(DeviceKind::job, "threads");
constexpr auto kCpuWait = metric(DeviceKind::job, "cpu_wait");
constexpr auto kThrottled = metric(DeviceKind::job, "cpu_throttled");
constexpr auto kRead = metric(DeviceKind::job, "read");
constexpr auto kWritten = metric(DeviceKind::job, "written");
constexpr auto kRunning = metric(DeviceKind::job, "threads_running");
constexpr auto kSleeping = metric(DeviceKind::job, "threads_sleeping");
constexpr auto kBlocked = metric(DeviceKind::job, "threads_blocked");
constexpr auto kWorkers = metric(DeviceKind::job, "workers");
constexpr auto kWorkersCpu = metric(DeviceKind::job, "workers_cpu");
constexpr auto kWorkersBlocked = metric(DeviceKind::job, "workers_blocked");

constexpr std::size_t kJob = 0;  // the only device

telemetry::SeriesSpec spec(MetricId id, const std::string& scope, std::string source, core::Duration cadence = {}) {
  telemetry::SeriesSpec out;
  out.metric = id;
  const bool counts = record::info(id).type == record::MetricType::counter;
  out.how = counts ? record::How::counter : record::How::integrated;
  out.scope = scope;
  out.source = std::move(source);
  out.cadence = cadence;
  return out;
}

}  // namespace

void JobSensor::CpuClock::advance(std::int64_t now_us) {
  // The first value of the first source counts in full; a source that takes over goes on from its own first value.
  if (!last_us && total_us == 0)
    total_us = now_us;
  else if (last_us)
    total_us += std::max<std::int64_t>(0, now_us - *last_us);
  last_us = now_us;
}

JobSensor::JobSensor(core::FileTree tree, const core::Clock& clock, const telemetry::JobScope::Snapshot& job,
                     std::shared_ptr<std::atomic<bool>> census_asked, Options options)
    : tree_(tree),
      clock_(clock),
      census_asked_(std::move(census_asked)),
      options_(options),
      processes_(tree, clock, options.tree_budget),
      census_(tree, clock, options.ticks_per_s) {
  // Before the command runs its limits are ours: it is started in the same group.
  groups_ = Cgroups::of(tree_, job.roots.empty() ? 0 : job.roots.front());
  has_throttling_ = groups_.throttled_us().has_value();
  describe(job.whole_host);
  follow(job);
}

void JobSensor::describe(bool whole_host) {
  const std::string scope = whole_host ? "host" : "process tree";
  telemetry::SensorDevice job;
  job.device.kind = DeviceKind::job;
  job.device.uuid = "job";
  job.device.name = whole_host ? "everything on this host" : "process tree of the job";
  job.series.push_back(spec(kCpuTime, scope, whole_host ? "/proc/stat" : "/proc/PID/stat"));
  job.series.push_back(spec(kMemory, scope, whole_host ? "/proc/meminfo" : "/proc/PID/stat"));
  job.series.push_back(spec(kThreads, scope, whole_host ? "/proc/loadavg" : "/proc/PID/stat"));
  job.series.push_back(spec(kRead, scope, whole_host ? "/proc/diskstats" : "/proc/PID/io"));
  job.series.push_back(spec(kWritten, scope, whole_host ? "/proc/diskstats" : "/proc/PID/io"));
  if (!whole_host) {
    job.series.push_back(spec(kProcesses, scope, "/proc/PID/stat"));
    if (has_throttling_) job.series.push_back(spec(kThrottled, "control group", "cgroup cpu.stat"));
    for (const auto id : {kRunning, kSleeping, kBlocked, kWorkers, kWorkersCpu, kWorkersBlocked})
      job.series.push_back(spec(id, scope, "/proc/PID/task", options_.census_period));
    job.series.push_back(spec(kCpuWait, scope, "/proc/PID/task/TID/schedstat", options_.census_period));
    job.device.attributes["cgroup_version"] = groups_.version();
  }
  devices_ = {std::move(job)};
}

bool JobSensor::follow(const telemetry::JobScope::Snapshot& job) {
  whole_host_ = job.whole_host;
  if (job.roots == roots_) return false;
  if (roots_.empty() && !job.roots.empty()) groups_ = Cgroups::of(tree_, job.roots.front());
  roots_ = job.roots;
  processes_.set_roots(roots_);
  return false;
}

void JobSensor::read(telemetry::Reading& reading) {
  if (whole_host_)
    read_host(reading);
  else if (!roots_.empty())
    read_tree(reading);
}

void JobSensor::read_tree(telemetry::Reading& reading) {
  processes_.update();
  if (has_throttling_) read_throttled(reading);
  // Until all of the job's processes have been found nothing is due: a part of them is not the job.
  const auto totals = processes_.totals();
  if (!totals) return;
  read_cpu_time(reading, *totals);
  reading.set_stored(kJob, kMemory, totals->resident_pages * options_.page_bytes);
  reading.set_stored(kJob, kProcesses, totals->processes);
  reading.set_stored(kJob, kThreads, totals->threads);
  read_storage(reading, *totals);
  begin_census_if_due();
  read_census(reading);
}

std::optional<core::Duration> JobSensor::backlog() const {
  if (whole_host_) return std::nullopt;
  if (processes_.behind()) return options_.tree_pause;
  if (census_.under_way()) return census_pause_;
  return std::nullopt;
}

void JobSensor::catch_up() {
  if (processes_.behind())
    processes_.catch_up();
  else if (census_.under_way())
    go_on_with_census(options_.census_budget);
}

bool JobSensor::group_is_the_jobs() const {
  const auto path = groups_.cpu_path();
  if (!path || *path == "/" || path == Cgroups::of(tree_, 0).cpu_path()) return false;
  const auto members = groups_.members();
  return !members.empty() && !groups_.has_children() &&
         std::ranges::all_of(members, [&](pid_t pid) { return processes_.contains(pid); });
}

void JobSensor::choose_cpu_source() {
  constexpr auto kCheckPeriod = std::chrono::seconds(10);
  const auto now = clock_.now();
  if (source_chosen_ && (!by_group_ || now < next_group_check_)) return;
  next_group_check_ = now + kCheckPeriod;
  // A group that is empty now held the job until it ended: its count stays right.
  const bool ended = source_chosen_ && by_group_ && groups_.members().empty();
  const bool ours = ended || group_is_the_jobs();
  if (source_chosen_ && ours != by_group_) cpu_.last_us.reset();
  by_group_ = ours && groups_.cpu_usage_us().has_value();
  source_chosen_ = true;
}

void JobSensor::read_cpu_time(telemetry::Reading& reading, const ProcessTree::Totals& totals) {
  choose_cpu_source();
  if (by_group_) {
    if (const auto usage_us = groups_.cpu_usage_us()) {
      cpu_.advance(*usage_us);
    } else {
      // The group was removed; the tree still knows what it saw.
      by_group_ = false;
      cpu_.last_us.reset();
    }
  }
  if (!by_group_) cpu_.advance(totals.cpu_ticks * 1'000'000 / options_.ticks_per_s);
  reading.set_stored(kJob, kCpuTime, cpu_.total_us);
}

void JobSensor::read_storage(telemetry::Reading& reading, const ProcessTree::Totals& totals) {
  for (const auto& [id, bytes] : {std::pair{kRead, totals.read_bytes}, std::pair{kWritten, totals.written_bytes}})
    if (bytes)
      reading.set_stored(kJob, id, *bytes);
    else
      reading.fail(kJob, id, "no process of the job lets us read /proc/PID/io");
}

void JobSensor::read_throttled(telemetry::Reading& reading) {
  if (const auto throttled_us = groups_.throttled_us())
    reading.set_stored(kJob, kThrottled, *throttled_us);
  else
    reading.fail(kJob, kThrottled, "the control group's cpu.stat cannot be read");
}

void JobSensor::begin_census_if_due() {
  const auto now = clock_.now();
  const bool asked = census_asked_->exchange(false);
  // A short job is looked at sooner: the distance grows with its age.
  if (!first_census_) first_census_ = now;
  const auto distance = std::clamp<core::Duration>(
      (now - *first_census_) / 2, std::min<core::Duration>(std::chrono::seconds(2), options_.census_period),
      options_.census_period);
  const bool due = !census_.under_way() && (!last_census_ || now - *last_census_ >= distance);
  if (!asked && !due) return;
  census_.begin(processes_.processes());
  last_census_ = now;
  census_in_haste_ = asked;
  census_pause_ = {};
}

void JobSensor::go_on_with_census(core::Duration budget) {
  const auto begin = clock_.now();
  counted_ = census_.advance(budget);
  // On a host that is overloaded most of a piece is waiting for a CPU, which costs nobody anything.
  census_pause_ = options_.census_pause_per_cost * std::min<core::Duration>(clock_.now() - begin, 2 * budget);
}

void JobSensor::read_census(telemetry::Reading& reading) {
  if (census_.under_way() && census_in_haste_) go_on_with_census(options_.census_budget_asked);
  const auto counts = std::exchange(counted_, std::nullopt);
  if (!counts) return;
  reading.set_stored(kJob, kRunning, counts->running);
  reading.set_stored(kJob, kSleeping, counts->sleeping);
  reading.set_stored(kJob, kBlocked, counts->blocked);
  reading.set_stored(kJob, kWorkers, counts->workers);
  reading.set_stored(kJob, kWorkersBlocked, counts->workers_blocked);
  if (counts->workers_cpu) reading.set_stored(kJob, kWorkersCpu, std::llround(*counts->workers_cpu * 1000));
  if (counts->cpu_wait_ns)
    reading.set_stored(kJob, kCpuWait, *counts->cpu_wait_ns);
  else
    reading.fail(kJob, kCpuWait, "this kernel keeps no schedstat, or no thread could be read");
}

std::vector<record::Fact> JobSensor::facts() {
  std::vector<record::Fact> facts;
  const auto say = [&](const char* name, double value, const char* source) {
    facts.push_back({name, "job", value, "", {}, record::How::counter, record::Where::live, {}, source});
  };
  if (const auto cpus = census_.cpus_used(); cpus > 0)
    say("job.cpus_used_distinct", static_cast<double>(cpus), "/proc/PID/task/TID/stat");
  if (const auto share = census_.nccl_wait_share())
    say("comm.proxy_wait_share", *share, "/proc/PID/task/TID/schedstat");
  return facts;
}

void JobSensor::read_host(telemetry::Reading& reading) {
  const auto stat_text = tree_.read("proc/stat");
  if (const auto stat = stat_text ? parse_stat(*stat_text) : std::nullopt)
    reading.set_stored(kJob, kCpuTime, (stat->cpus.busy() - stat->cpus.steal) * 1'000'000 / options_.ticks_per_s);
  else
    reading.fail(kJob, kCpuTime, "/proc/stat cannot be read");
  const auto memory_text = tree_.read("proc/meminfo");
  if (const auto memory = memory_text ? parse_meminfo(*memory_text) : std::nullopt)
    reading.set_stored(kJob, kMemory, memory->total_bytes - memory->available_bytes);
  else
    reading.fail(kJob, kMemory, "/proc/meminfo cannot be read");
  // "0.20 0.18 0.12 1/80 11206": the fourth figure is running/all threads.
  const auto load_text = tree_.read("proc/loadavg");
  const auto words = load_text ? core::split_words(*load_text) : std::vector<std::string_view>{};
  const auto threads = words.size() > 3 ? core::parse_int(words[3].substr(words[3].find('/') + 1)) : std::nullopt;
  if (threads)
    reading.set_stored(kJob, kThreads, *threads);
  else
    reading.fail(kJob, kThreads, "/proc/loadavg cannot be read");
  const auto disk_text = tree_.read("proc/diskstats");
  if (!disk_text) {
    for (const auto id : {kRead, kWritten}) reading.fail(kJob, id, disk_text.error().message);
    return;
  }
  const auto counters = parse_diskstats(*disk_text);
  std::int64_t read = 0, written = 0;
  for (const auto& disk : find_disks(tree_)) {
    const auto it = counters.find(disk);
    if (it == counters.end()) continue;
    read += it->second.read_bytes;
    written += it->second.written_bytes;
  }
  reading.set_stored(kJob, kRead, read);
  reading.set_stored(kJob, kWritten, written);
}

}  // namespace gradwatt::proc

#include "gradwatt/backends/proc/process_tree.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gradwatt::proc {
namespace {

using namespace std::chrono_literals;

constexpr auto kShortestPause = 1s;
// A look may take this share of the time: on hosts with many processes it comes less often.
constexpr int kPausePerCost = 300;
// Above this many processes storage bytes are read in every fourth round only: /proc/PID/io costs as much as stat.
constexpr std::size_t kManyProcesses = 50;
constexpr std::uint64_t kIoRounds = 4;
constexpr std::uint64_t kGraveRounds = 3;

}  // namespace

void ProcessTree::Ledger::take(std::int64_t& amount) {
  for (auto* rise : {&rise_before, &rise_now}) {
    const auto matched = std::min(*rise, amount);
    *rise -= matched;
    amount -= matched;
  }
}

ProcessTree::ProcessTree(core::FileTree tree, const core::Clock& clock, core::Duration budget)
    : tree_(std::move(tree)), clock_(clock), budget_(budget), loadavg_(tree_, "proc/loadavg") {}

void ProcessTree::set_roots(const std::vector<pid_t>& roots) {
  const std::set<pid_t> wanted(roots.begin(), roots.end());
  if (wanted == roots_) return;
  roots_ = wanted;
  const bool list_comes = look_ == Look::listing && !listing_;  // they will be on it
  roots_changed_ = !list_comes;
}

void ProcessTree::update() {
  const auto deadline = clock_.now() + budget_;
  look(deadline);
  visit_in_turn(deadline);
  publish();
}

void ProcessTree::catch_up() {
  if (behind()) look(clock_.now() + budget_);
}

void ProcessTree::begin_look_if_due() {
  const auto newest = newest_pid();
  const bool born = newest.empty() || newest != last_pid_;
  if (!roots_changed_ && !(born && clock_.now() >= next_look_)) return;
  roots_changed_ = false;
  look_cost_ = {};
  look_ = Look::listing;
}

std::string_view ProcessTree::newest_pid() {
  const auto text = loadavg_.read(buffer_);
  return text ? text->substr(text->rfind(' ') + 1) : std::string_view();
}

void ProcessTree::look(core::Instant deadline) {
  const auto begin = clock_.now();
  if (look_ == Look::none) begin_look_if_due();
  if (look_ == Look::none) return;
  if (look_ == Look::listing) list(deadline);
  if (look_ == Look::opening) open_unknown(deadline);
  if (look_ == Look::adopting) adopt(deadline);
  look_cost_ += clock_.now() - begin;
  if (look_ == Look::none)
    next_look_ = clock_.now() + std::max<core::Duration>(kShortestPause, kPausePerCost * look_cost_);
}

void ProcessTree::list(core::Instant deadline) {
  if (!listing_) {
    last_pid_ = newest_pid();
    listing_.emplace(tree_);
  }
  while (listing_->advance())
    if (clock_.now() >= deadline) return;
  const auto pids = listing_->take();
  listing_.reset();
  forget_gone(pids);
  std::ranges::copy_if(pids.rbegin(), pids.rend(), std::back_inserter(unknown_),
                       [&](pid_t pid) { return !processes_.contains(pid) && !others_.contains(pid); });
  look_ = Look::opening;
}

void ProcessTree::open_unknown(core::Instant deadline) {
  while (!unknown_.empty()) {
    const pid_t pid = unknown_.back();
    unknown_.pop_back();
    if (const auto stat = read_pid_stat(tree_, pid)) others_.emplace(pid, stat->parent);
    if (clock_.now() >= deadline) break;
  }
  if (!unknown_.empty()) return;
  newcomers_ = descendants();
  std::ranges::reverse(newcomers_);
  look_ = Look::adopting;
}

std::vector<std::pair<pid_t, pid_t>> ProcessTree::descendants() const {
  std::vector<std::pair<pid_t, pid_t>> ours;
  std::set<pid_t> found;
  const auto belongs = [&](pid_t pid, pid_t parent) {
    return roots_.contains(pid) || processes_.contains(parent) || found.contains(parent);
  };
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& [pid, parent] : others_) {
      if (found.contains(pid) || !belongs(pid, parent)) continue;
      found.insert(pid);
      ours.emplace_back(pid, parent);
      grew = true;
    }
  }
  return ours;
}

void ProcessTree::adopt(core::Instant deadline) {
  while (!newcomers_.empty()) {
    const auto [pid, parent] = newcomers_.back();
    newcomers_.pop_back();
    others_.erase(pid);
    Process process;
    process.parent = parent;
    if (refresh(pid, process, true)) adopted_.emplace_back(pid, process);
    if (clock_.now() >= deadline) break;
  }
  if (newcomers_.empty()) end_look();
}

void ProcessTree::end_look() {
  for (auto& [pid, process] : adopted_) processes_[pid] = process;
  adopted_.clear();
  look_ = Look::none;
  // Roots that were named while the list was made may not be on it; the next look finds them.
  complete_ = complete_ || (!roots_.empty() && !roots_changed_);
  publish();
}

void ProcessTree::forget_gone(const std::vector<pid_t>& pids) {
  const auto there = [&](pid_t pid) { return std::ranges::binary_search(pids, pid); };
  std::erase_if(others_, [&](const auto& entry) { return !there(entry.first); });
  std::vector<pid_t> gone;
  for (const auto& [pid, process] : processes_)
    if (!there(pid)) gone.push_back(pid);
  ++notice_;
  for (const pid_t pid : gone) retire(pid);
}

void ProcessTree::visit_in_turn(core::Instant deadline) {
  if (processes_.empty()) return;
  const bool with_io = processes_.size() <= kManyProcesses || round_ % kIoRounds == 0;
  std::size_t left = processes_.size();  // never more than one round a tick
  while (left-- > 0 && !processes_.empty()) {
    auto it = processes_.lower_bound(next_);
    if (it == processes_.end()) it = processes_.begin();
    const pid_t pid = it->first;
    next_ = pid + 1;
    if (!refresh(pid, it->second, with_io)) {
      ++notice_;
      retire(pid);
    }
    if (processes_.lower_bound(next_) == processes_.end()) {
      end_round();
      return;
    }
    if (clock_.now() >= deadline) return;
  }
}

void ProcessTree::end_round() {
  next_ = 0;
  ++round_;
  for (auto& [pid, process] : processes_)
    for (auto& ledger : process.ledgers) ledger.rise_before = std::exchange(ledger.rise_now, 0);
  std::erase_if(graves_, [&](const auto& entry) { return entry.second.round + kGraveRounds < round_; });
}

KeptPidFiles* ProcessTree::kept_files(pid_t pid) {
  if (processes_.size() > kManyProcesses) {
    files_.clear();
    return nullptr;
  }
  return &files_.try_emplace(pid, tree_, pid).first->second;
}

core::Result<PidStat> ProcessTree::read_stat(pid_t pid) {
  auto* kept = kept_files(pid);
  return kept != nullptr ? kept->stat(buffer_) : read_pid_stat(tree_, pid);
}

core::Result<PidIo> ProcessTree::read_io(pid_t pid) {
  auto* kept = kept_files(pid);
  return kept != nullptr ? kept->io(buffer_) : read_pid_io(tree_, pid);
}

bool ProcessTree::refresh(pid_t pid, Process& process, bool with_io) {
  const auto stat = read_stat(pid);
  if (!stat) return false;
  if (process.seen && stat->start_ticks != process.start_ticks) return false;
  auto& cpu = process.ledgers[kCpu];
  if (process.seen) cpu.rise_now += std::max<std::int64_t>(0, stat->reaped_ticks - process.reaped_ticks);
  cpu.value = std::max(cpu.value, stat->own_ticks + stat->reaped_ticks);
  process.seen = true;
  process.start_ticks = stat->start_ticks;
  process.reaped_ticks = stat->reaped_ticks;
  process.parent = stat->parent;
  process.ended = stat->ended();
  process.notice = notice_;
  process.threads = stat->threads;
  process.resident_pages = stat->resident_pages;
  if (!with_io) return true;
  const auto io = read_io(pid);
  if (!io) return true;  // another user's process; its time still counts
  io_known_ = true;
  for (const auto& [account, bytes] : {std::pair{kRead, io->read_bytes}, std::pair{kWritten, io->written_bytes}}) {
    auto& ledger = process.ledgers[account];
    if (process.io_seen) ledger.rise_now += std::max<std::int64_t>(0, bytes - ledger.value);
    ledger.value = std::max(ledger.value, bytes);
  }
  process.io_seen = true;
  return true;
}

void ProcessTree::retire(pid_t pid) {
  files_.erase(pid);
  const auto it = processes_.find(pid);
  if (it == processes_.end()) return;
  const Process gone = it->second;
  processes_.erase(it);
  graves_[pid] = {gone.parent, round_};
  auto* heir = living_ancestor(gone.parent);
  for (std::size_t i = 0; i < kAccounts; ++i) {
    auto amount = gone.ledgers[i].value;
    if (heir != nullptr) heir->ledgers[i].take(amount);
    ended_[i] += amount;
  }
}

ProcessTree::Process* ProcessTree::living_ancestor(pid_t pid) {
  // The bound is against a loop of graves after pids were given out again.
  for (std::size_t steps = 0; steps <= processes_.size() + graves_.size(); ++steps) {
    if (const auto it = processes_.find(pid); it != processes_.end()) {
      const bool fresh = it->second.notice == notice_;
      if (fresh || refresh(pid, it->second, true)) return &it->second;
      ++notice_;
      retire(pid);
    }
    const auto grave = graves_.find(pid);
    if (grave == graves_.end()) return nullptr;
    pid = grave->second.parent;
  }
  return nullptr;
}

void ProcessTree::publish() {
  auto sums = ended_;
  for (const auto& [pid, process] : processes_)
    for (std::size_t i = 0; i < kAccounts; ++i) sums[i] += process.ledgers[i].value;
  for (std::size_t i = 0; i < kAccounts; ++i) published_[i] = std::max(published_[i], sums[i]);
}

std::optional<ProcessTree::Totals> ProcessTree::totals() const {
  if (!complete_) return std::nullopt;
  Totals totals;
  totals.cpu_ticks = published_[kCpu];
  if (io_known_) {
    totals.read_bytes = published_[kRead];
    totals.written_bytes = published_[kWritten];
  }
  for (const auto& [pid, process] : processes_) {
    if (process.ended) continue;
    ++totals.processes;
    totals.threads += process.threads;
    totals.resident_pages += process.resident_pages;
  }
  return totals;
}

std::vector<std::pair<pid_t, pid_t>> ProcessTree::processes() const {
  std::vector<std::pair<pid_t, pid_t>> list;
  for (const auto& [pid, process] : processes_)
    if (!process.ended) list.emplace_back(pid, process.parent);
  return list;
}

}  // namespace gradwatt::proc

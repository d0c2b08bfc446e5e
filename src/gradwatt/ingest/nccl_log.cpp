#include "gradwatt/ingest/nccl_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/fact_join.hpp"
#include "gradwatt/ingest/nccl_line.hpp"
#include "gradwatt/ingest/text_scan.hpp"

namespace gradwatt::ingest {
namespace {

/// Hosts, variables and warnings without end are no log of one job.
constexpr std::size_t kMost = 4096;
constexpr std::size_t kMostWarnings = 64;

/// "GPU 1 - GPU 0" of "… between NVLINK connected GPUs 1 and 0. …".
std::string pair_of(std::string_view text) {
  TextScan scan(text);
  scan.skip_past(" GPUs ");
  const auto first = scan.integer();
  const auto second = scan.eat("and") ? scan.integer() : std::nullopt;
  return first && second ? fmt::format("GPU {} - GPU {}", *first, *second) : "job";
}

struct Count {
  std::size_t number = 0, line = 0;  ///< how often, and where first
};

class NcclLog final : public LineWitness {
 public:
  [[nodiscard]] std::string_view name() const override { return "NCCL log"; }

  bool take(const Line& line) override {
    line_ = line.number;
    if (const auto said = parse_nccl_line(line.text)) {
      take_said(*said);
      return true;
    }
    return take_version(line.text) || take_watchdog(line.text);
  }

  void finish(Testimony& to) override;

 private:
  void take_said(const NcclLine& said) {
    host_ = said.host;
    if (!host_.empty() && hosts_.size() < kMost) hosts_.emplace(host_);
    if (said.warning) return take_warning(said.text);
    using Step = bool (NcclLog::*)(std::string_view);
    for (const Step step : {&NcclLog::take_channel, &NcclLog::take_setting, &NcclLog::take_communicator,
                            &NcclLog::take_version, &NcclLog::take_network, &NcclLog::take_cards, &NcclLog::take_hints})
      if ((this->*step)(said.text)) return;
  }

  void count(std::map<std::string, Count>& in, std::string key) const {
    if (in.size() >= kMost && !in.contains(key)) return;
    auto& seen = in[std::move(key)];
    if (seen.number++ == 0) seen.line = line_;
  }

  // "Channel 00/0 : 0[7000] -> 4[7000] [send] via NET/IB/0/GDRDMA"
  bool take_channel(std::string_view text) {
    TextScan scan(text);
    if (!scan.eat("Channel ") || !scan.skip_past(" via ")) return false;
    const auto via = scan.rest().substr(0, 80);
    const auto transport = transport_of(via);
    if (transport.empty()) return true;
    count(transports_, transport);
    if (!transport.starts_with("net-")) return true;
    // Sockets never reach GPU memory themselves: that says nothing of the card.
    if (transport != "net-socket") ++(via.find("GDRDMA") != std::string_view::npos ? gdr_ : not_gdr_);
    const auto card = via.find('/', 4);
    const auto number = card != std::string_view::npos ? TextScan(via.substr(card + 1)).integer() : std::nullopt;
    if (number && *number >= 0 && cards_used_.size() < kMost) cards_used_.insert({transport, *number});
    return true;
  }

  // "NCCL_SOCKET_IFNAME set by environment to hsn."
  bool take_setting(std::string_view text) {
    TextScan scan(text);
    const auto variable = scan.word();
    const bool is_name = variable.starts_with("NCCL_") && std::ranges::all_of(variable, [](char c) {
                           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
                         });
    if (!is_name || !scan.eat("set by environment to")) return false;
    auto value = scan.word();
    if (value.ends_with('.')) value.remove_suffix(1);
    const bool cut_in = value.find(':') != std::string_view::npos && scan.rest().find("NCCL") != std::string_view::npos;
    if (value.empty() || cut_in) return true;  // another process wrote into the line
    auto& values = settings_[std::string(variable)];
    if (settings_.size() <= kMost && values.size() < 8) count(values, std::string(value));
    return true;
  }

  // "comm 0x55d… rank 4 nranks 8 cudaDev 0 …", "comm 0x… rank 4 nRanks 8 nNodes 2 localRanks 4 …"
  bool take_communicator(std::string_view text) {
    if (!text.starts_with("comm ") && !text.starts_with("ncclCommInit")) return false;
    const auto largest = [&](std::optional<double> seen, std::optional<Count>& kept) {
      if (!seen || *seen < 1 || *seen > 1e7) return;
      const auto number = static_cast<std::size_t>(*seen);
      if (!kept || number > kept->number) kept = Count{number, line_};
    };
    largest(number_after(text, " nranks "), ranks_);
    largest(number_after(text, " nRanks "), ranks_);
    largest(number_after(text, " nNodes "), nodes_);
    return true;
  }

  // "NCCL version 2.20.5+cuda12.4", also as a line of its own
  bool take_version(std::string_view text) {
    TextScan scan(text);
    if (!scan.skip_past("NCCL version ")) return false;
    const auto version = scan.word();
    if (version.empty() || version.front() < '0' || version.front() > '9' || version.size() > 40) return false;
    count(versions_, std::string(version));
    return true;
  }

  // "Using network IB", "Bootstrap : Using [0]ib0:10.0.0.1<0>"
  bool take_network(std::string_view text) {
    TextScan scan(text);
    if (scan.eat("Using network ")) {
      count(networks_, std::string(core::trim(scan.rest().substr(0, 40))));
      return true;
    }
    if (scan.eat("Bootstrap") && scan.eat(":") && scan.eat("Using")) {
      if (const auto name = card_name(scan.rest()); !name.empty()) count(bootstraps_, name);
      return true;
    }
    return false;
  }

  // "NET/Socket : Using [0]bond0:10.1.2.3<0> [1]hsn0:…", "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB …"
  bool take_cards(std::string_view text) {
    if (!text.starts_with("NET/")) return false;
    const auto transport = transport_of(text.substr(0, text.find(' ')));
    TextScan scan(text);
    scan.word();
    scan.eat(":");
    if (scan.eat("No device found")) {
      ports_[std::string(host_)] = {0, line_};
      return true;
    }
    if (!scan.eat("Using ") || transport.empty()) return take_hints(text);
    auto list = scan.rest().substr(0, scan.rest().find(';'));
    auto& cards = cards_[transport];
    std::size_t listed = 0;
    for (auto open = list.find('['); open != std::string_view::npos; open = list.find('[', open + 1)) {
      TextScan entry(list.substr(open + 1));
      const auto number = entry.integer();
      if (!number || *number < 0 || *number > 1024 || !entry.eat("]")) continue;
      if (const auto name = card_name(entry.rest()); !name.empty()) cards.try_emplace(*number, name), ++listed;
    }
    if (transport == "net-ib" && listed > 0 && ports_.size() < kMost) ports_[std::string(host_)] = {listed, line_};
    if (cards_line_ == 0) cards_line_ = line_;
    return true;
  }
  /// "bond0" of "[0]bond0:10.1.2.3<0> …"
  static std::string card_name(std::string_view text) {
    TextScan scan(text);
    if (scan.eat("[")) scan.skip_past("]");
    const auto name = scan.word(":/<");
    return name.size() <= 32 ? std::string(name) : std::string();
  }

  bool take_hints(std::string_view text) {
    if (text.find("DMA-BUF is available on GPU device") != std::string_view::npos) {
      peermem_.try_emplace(std::string(host_), line_);
    } else if (text.find("P2P is disabled between") != std::string_view::npos) {
      count(no_p2p_, pair_of(text));
    } else if (const auto channels = TextScan(text).integer(); channels && *channels > 0 && *channels <= 1024) {
      if (text.find(" coll channels") != std::string_view::npos && !channels_)
        channels_ = Count{static_cast<std::size_t>(*channels), line_};
    }
    return true;
  }

  void take_warning(std::string_view text) {
    if (text.find("P2P is disabled between") != std::string_view::npos) take_hints(text);
    if (warnings_.size() < kMostWarnings || warnings_.contains(std::string(text)))
      count(warnings_, std::string(text));
    else
      ++warnings_more_;
  }

  // PyTorch: "[rank0]:[E ProcessGroupNCCL.cpp:563] [Rank 0] Watchdog caught collective operation timeout:
  // WorkNCCL(SeqNum=3, OpType=BROADCAST, …, Timeout(ms)=600000) ran for 600029 milliseconds before timing out."
  bool take_watchdog(std::string_view text) {
    if (text.find("ProcessGroupNCCL") == std::string_view::npos) return false;
    TextScan scan(text);
    if (!scan.skip_past("Watchdog caught collective operation timeout: ")) return true;
    const auto waited = number_after(scan.rest(), " ran for ");
    const auto operation = [&] {
      TextScan work(scan.rest());
      return work.skip_past("OpType=") ? std::string(work.word(",)")) : std::string("collective");
    }();
    if (!hang_) hang_ = Hang{operation.substr(0, 40), {}, line_};
    if (waited && *waited > 0 && *waited < 1e12) hang_->waited_s = std::max(hang_->waited_s.value_or(0), *waited / 1e3);
    return true;
  }

  void finish_transport(FactList& facts) const;
  void finish_settings(Testimony& to) const;

  struct Hang {
    std::string operation;
    std::optional<double> waited_s;
    std::size_t line = 0;
  };

  std::size_t line_ = 0;
  std::string_view host_;  // of the line that is read
  std::set<std::string, std::less<>> hosts_;
  std::map<std::string, Count> transports_, versions_, networks_, bootstraps_, warnings_, no_p2p_;
  std::map<std::string, std::map<std::string, Count>> settings_;      // variable -> values
  std::map<std::string, std::map<std::int64_t, std::string>> cards_;  // transport -> number -> name
  std::set<std::pair<std::string, std::int64_t>> cards_used_;         // transport, number
  std::map<std::string, Count> ports_;                                // host -> RDMA ports
  std::map<std::string, std::size_t> peermem_;                        // host -> line
  std::optional<Count> ranks_, nodes_, channels_;
  std::optional<Hang> hang_;
  std::size_t gdr_ = 0, not_gdr_ = 0, warnings_more_ = 0, cards_line_ = 0;
};

/// The way that holds up the whole job: what goes between hosts before what stays within one, copies through host
/// memory before direct ones.
const std::pair<const std::string, Count>* slowest(const std::map<std::string, Count>& transports) {
  const std::pair<const std::string, Count>* worst = nullptr;
  for (const auto& entry : transports)
    if (worst == nullptr || weight_of_transport(entry.first) > weight_of_transport(worst->first)) worst = &entry;
  return worst;
}

void NcclLog::finish_transport(FactList& facts) const {
  if (const auto* worst = slowest(transports_)) facts.add("comm.transport", "job", worst->first, worst->second.line);
  std::map<std::string, Count> within, between;
  for (const auto& entry : transports_) (entry.first.starts_with("net-") ? between : within).insert(entry);
  if (const auto* worst = slowest(within))
    facts.add("comm.transport", "within hosts", worst->first, worst->second.line);
  if (const auto* worst = slowest(between))
    facts.add("comm.transport", "between hosts", worst->first, worst->second.line);
  // Without a channel yet, the network that was chosen says where the bytes between hosts would go.
  if (between.empty() && networks_.size() == 1 && nodes_.value_or(Count{}).number > 1) {
    const auto& [network, seen] = *networks_.begin();
    if (const auto transport = transport_of("NET/" + network); !transport.empty())
      facts.add("comm.transport", "between hosts", transport, seen.line);
  }
  if (gdr_ + not_gdr_ > 0)
    facts.add("comm.gpudirect_rdma", "job", gdr_ > not_gdr_ ? 1 : 0, between.begin()->second.line);
  std::string interfaces;
  for (const auto& [transport, number] : cards_used_) {
    const auto cards = cards_.find(transport);
    if (cards == cards_.end() || !cards->second.contains(number)) continue;
    interfaces += (interfaces.empty() ? "" : ", ") + cards->second.at(number);
  }
  if (!interfaces.empty()) facts.add("comm.interface", "job", interfaces, cards_line_);
  for (const auto& [name, seen] : bootstraps_) facts.add("comm.interface", "bootstrap", name, seen.line);
}

void NcclLog::finish_settings(Testimony& to) const {
  for (const auto& [variable, values] : settings_) {
    const auto most = std::ranges::max_element(values, {}, [](const auto& entry) { return entry.second.number; });
    if (most == values.end()) continue;
    to.facts.add("env.value", variable, most->first, most->second.line);
    if (values.size() > 1)
      to.notes.add({}, most->second.line,
                   fmt::format("{} has {} different values in this log; the most frequent one, {}, is kept", variable,
                               values.size(), in_quotes(most->first)));
  }
}

void NcclLog::finish(Testimony& to) {
  auto& facts = to.facts;
  const auto host = [](const std::string& name) { return name.empty() ? std::string("host") : name; };
  for (const auto& [version, seen] : versions_) facts.add("comm.nccl_version", "job", version, seen.line);
  if (versions_.size() > 1) to.notes.note("holds more than one NCCL version");
  if (ranks_) facts.add("job.world_size", "job", static_cast<double>(ranks_->number), ranks_->line);
  if (nodes_) facts.add("job.nodes", "job", static_cast<double>(nodes_->number), nodes_->line);
  finish_transport(facts);
  finish_settings(to);
  if (channels_) facts.add("comm.channels", "job", static_cast<double>(channels_->number), channels_->line);
  for (const auto& [name, seen] : ports_)
    facts.add("comm.rdma_ports_active", host(name), static_cast<double>(seen.number), seen.line);
  for (const auto& [name, line] : peermem_) facts.add("host.peermem", host(name), 1, line);
  for (const auto& [pair, seen] : no_p2p_) facts.add("comm.p2p_possible", pair, 0, seen.line);
  for (const auto& [text, seen] : warnings_) facts.add("comm.warning", "job", text, seen.line);
  if (warnings_more_ > 0) to.notes.note(fmt::format("{} more NCCL warnings are not kept", warnings_more_));
  if (!hang_) return;
  facts.add("comm.hangs", "job", 1, hang_->line);
  facts.add("comm.warning", "job", fmt::format("the watchdog gave up waiting for {}", hang_->operation), hang_->line);
  facts.add("job.stalls_at", "job", "collective", hang_->line);
  if (hang_->waited_s) facts.add("job.no_progress_s", "job", *hang_->waited_s, hang_->line);
}

}  // namespace

std::unique_ptr<LineWitness> make_nccl_log() { return std::make_unique<NcclLog>(); }

}  // namespace gradwatt::ingest

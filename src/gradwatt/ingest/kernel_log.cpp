#include "gradwatt/ingest/kernel_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/file_clock.hpp"
#include "gradwatt/ingest/line_time.hpp"
#include "gradwatt/ingest/pci_address.hpp"
#include "gradwatt/ingest/text_scan.hpp"

namespace gradwatt::ingest {
namespace {

constexpr std::size_t kMostKinds = 4096;
constexpr std::size_t kMostEvents = 10'000;

struct KernelLine {
  std::string_view text;  ///< without what stands before the message
  std::optional<ParsedTime> time;
};

/// "[Sun Feb 23 16:24:18 2025] text" of dmesg -T, "[  201.650687] text"; programs write brackets too, but not these.
std::optional<KernelLine> bracketed(std::string_view line) {
  const auto close = line.find(']');
  if (close == std::string_view::npos || close > 32) return std::nullopt;
  const auto inside = line.substr(1, close - 1);
  const auto text = core::trim(line.substr(close + 1));
  const auto point = inside.rfind('.');
  const bool since_boot = point != std::string_view::npos && inside.size() - point == 7 && core::parse_number(inside);
  if (since_boot) return KernelLine{text, {}};
  const bool weekday =
      inside.size() > 20 && inside[3] == ' ' && inside[0] >= 'F' && inside[0] <= 'W' && !text.starts_with('[');
  const auto time = weekday ? line_time(line) : std::nullopt;
  return time ? std::optional(KernelLine{text, time}) : std::nullopt;
}

/// The two above, "<6>[  201.65] text", "6,3964,206764307,-;text",
/// "kern  :warn  : 2025-01-21T04:41:44,285060+00:00 text", "Aug 17 06:18:01 host kernel: text". Nothing: no such line.
std::optional<KernelLine> parse(std::string_view line) {
  TextScan scan(line);
  if (scan.eat("<") && (!scan.integer() || !scan.eat(">"))) return std::nullopt;
  const auto begin = scan.rest();
  if (begin.starts_with('[')) return bracketed(begin);
  if (begin.starts_with("kern ")) {
    if (!scan.skip_past(" : ")) return std::nullopt;
    const auto time = line_time(scan.rest());
    scan.word();
    return KernelLine{scan.spaces().rest(), time};
  }
  if (scan.integer() && scan.eat(",") && scan.integer() && scan.eat(",") && scan.integer() && scan.eat(","))
    return scan.skip_past(";") ? std::optional(KernelLine{scan.rest(), {}}) : std::nullopt;
  // syslog: month, day, time of day, host, program
  scan = TextScan(line);
  constexpr auto kMonths = std::to_array<std::string_view>(
      {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"});
  const auto iso = line_time(line);
  if (!iso && std::ranges::find(kMonths, scan.word()) == kMonths.end()) return std::nullopt;
  if (!iso && (!scan.integer() || !scan.integer() || !scan.eat(":") || !scan.integer() || !scan.eat(":")))
    return std::nullopt;
  scan.word();
  scan.word();
  const auto program = scan.word();
  if (!program.ends_with(':') || !(program.starts_with("kernel") || program.find('[') != std::string_view::npos))
    return std::nullopt;
  return KernelLine{scan.spaces().rest(), iso};
}

struct Xid {
  std::string pci;  ///< "0000:9b:00"
  int number = 0;
};

std::optional<Xid> xid_of(std::string_view text) {
  TextScan scan(text);
  if (!scan.skip_past("NVRM: Xid (")) return std::nullopt;
  const auto close = scan.rest().find(')');
  if (close == std::string_view::npos) return std::nullopt;
  Xid xid{pci_address(scan.rest().substr(0, close))};
  scan.skip_past(")");
  if (!scan.eat(":")) return std::nullopt;
  const auto number = scan.integer();
  if (xid.pci.empty() || !number || *number < 1 || *number > 100'000) return std::nullopt;
  xid.number = static_cast<int>(*number);
  return xid;
}

class KernelLog final : public LineWitness {
 public:
  explicit KernelLog(const ImportOptions& options) : clock_(options) {}
  [[nodiscard]] std::string_view name() const override { return "kernel log"; }

  [[nodiscard]] bool clean_is_news() const override { return true; }

  bool take(const Line& line) override {
    const auto said = parse(line.text);
    // A line of the driver is known without its head: pasted into a report, say.
    const auto driver = line.text.find("NVRM: ");
    if (!said && driver == std::string_view::npos) return false;
    line_ = line.number;
    ++lines_;
    const auto time = said && said->time ? place(*said->time) : std::nullopt;
    take_message(said ? said->text : line.text.substr(driver), time);
    return true;
  }

  void finish(Testimony& to) override;

 private:
  struct Seen {
    std::size_t times = 0, line = 0;
    std::optional<std::int64_t> time_ns;
    std::string text;
  };
  struct Noted {
    std::int64_t time_ns;
    std::string pci, text;
  };

  std::optional<std::int64_t> place(const ParsedTime& time) {
    Diagnostics jumps("");
    return clock_.place(time, line_, jumps);
  }

  template <class Key>
  void see(std::map<Key, Seen>& in, Key key, std::string_view text, std::optional<std::int64_t> time) {
    if (in.size() >= kMostKinds && !in.contains(key)) return;
    auto& seen = in[std::move(key)];
    if (seen.times++ == 0) seen.line = line_, seen.time_ns = time, seen.text = text.substr(0, 300);
  }

  void take_message(std::string_view text, std::optional<std::int64_t> time) {
    if (const auto xid = xid_of(text)) {
      see(xids_, {xid->pci, xid->number}, text, time);
      constexpr int kFallenOff = 79;
      if (xid->number == kFallenOff) see(lost_, xid->pci, text, time);
      if (time && events_.size() < kMostEvents) events_.push_back({*time, xid->pci, printable(text, 300)});
      return;
    }
    TextScan scan(text);
    if (scan.eat("NVRM: GPU at ")) {  // PCI:0000:9b:00: GPU-509665ad-…
      const auto place = scan.rest().find(": GPU-");
      if (place == std::string_view::npos) return;
      const auto pci = pci_address(scan.rest().substr(0, place));
      const auto uuid = TextScan(scan.rest().substr(place + 2)).word();
      if (!pci.empty() && uuids_.size() < kMostKinds) uuids_.try_emplace(pci, uuid.substr(0, 60));
      return;
    }
    const auto says = [&](std::string_view words) { return text.find(words) != std::string_view::npos; };
    if (says("has fallen off the bus") && scan.eat("GPU ")) {
      if (const auto pci = pci_address(scan.word()); !pci.empty()) see(lost_, pci, text, time);
    } else if (says(": lost carrier") || says(": Lost carrier") || says("Link is Down") || says("link is not ready")) {
      if (const auto port = scan.word(": "); !port.empty()) see(carrier_, std::string(port.substr(0, 32)), text, time);
    } else if (says("Out of memory: Killed process") || says("oom-kill:")) {
      if (says("Killed process")) see(killed_, std::string("memory"), text, time);
    } else if ((says("segfault") && says("libnccl")) || (says("nvidia-peermem") && says("ERROR")) || says("SXid (")) {
      // Addresses differ from line to line: the words before the first one tell kinds apart.
      see(warnings_, std::string(text.substr(0, std::min<std::size_t>(text.find(" at "), 80))), text, time);
    }
  }

  [[nodiscard]] std::string subject_of(const std::string& pci) const {
    const auto uuid = uuids_.find(pci);
    return uuid != uuids_.end() ? uuid->second : "PCI " + pci;
  }

  FileClock clock_;
  std::size_t line_ = 0, lines_ = 0;
  std::map<std::pair<std::string, int>, Seen> xids_;
  std::map<std::string, Seen> lost_, carrier_, killed_, warnings_;
  std::map<std::string, std::string> uuids_;  // PCI address -> UUID
  std::vector<Noted> events_;
};

void KernelLog::finish(Testimony& to) {
  const auto add = [&](std::string_view name, std::string subject, double value, const Seen& seen) {
    to.facts.add(name, std::move(subject), value, seen.line).time_ns = seen.time_ns;
  };
  for (const auto& [key, seen] : xids_) {
    add("gpu.xid", subject_of(key.first), key.second, seen);
    to.notes.add({}, seen.line,
                 fmt::format("Xid {} of {}, {} in all", key.second, subject_of(key.first),
                             seen.times == 1 ? "once" : fmt::format("{} times", seen.times)));
  }
  for (const auto& [pci, seen] : lost_) add("gpu.lost", subject_of(pci), 1, seen);
  for (const auto& [port, seen] : carrier_) add("host.link_flaps", port, static_cast<double>(seen.times), seen);
  for (const auto& [what, seen] : killed_) add("host.oom_kills", "host", static_cast<double>(seen.times), seen);
  for (const auto& [kind, seen] : warnings_)
    to.facts.add("comm.warning", "host", seen.text, seen.line).time_ns = seen.time_ns;
  if (xids_.empty() && lost_.empty() && carrier_.empty() && killed_.empty() && warnings_.empty())
    to.notes.note(fmt::format("{} lines of the kernel, none about a GPU or link in trouble", lines_));
  std::map<std::string, std::uint32_t> devices;
  for (const auto& [pci, uuid] : uuids_) {
    devices.emplace(pci, static_cast<std::uint32_t>(to.run.devices.size()));
    record::Device device{.kind = record::DeviceKind::gpu, .uuid = uuid};
    device.attributes.emplace("pci_bus_id", pci + ".0");
    to.run.devices.push_back(std::move(device));
  }
  for (auto& [time, pci, text] : events_) {
    const auto device = devices.find(pci);
    to.run.events.push_back(
        {time, device != devices.end() ? std::optional(device->second) : std::nullopt, "gpu.xid", std::move(text)});
  }
  if (!events_.empty() && !to.run.text(record::meta::kZoneKnown))
    to.run.set(record::meta::kZoneKnown, std::string(clock_.zone_known() ? "1" : "0"));
}

}  // namespace

std::unique_ptr<LineWitness> make_kernel_log(const ImportOptions& options) {
  return std::make_unique<KernelLog>(options);
}

}  // namespace gradwatt::ingest

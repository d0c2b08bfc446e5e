#include "gradwatt/ingest/smi_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"

namespace gradwatt::ingest {
namespace {

struct Known {
  std::string_view name, query, unit;
};
constexpr auto kColumns = std::to_array<Known>({
    {"gpu", "index", ""},
    {"pwr", "power.draw", " W"},
    {"gtemp", "temperature.gpu", " C"},
    {"temp", "temperature.gpu", " C"},
    {"mtemp", "temperature.memory", " C"},
    {"sm", "utilization.gpu", " %"},
    {"mem", "utilization.memory", " %"},
    {"mclk", "clocks.mem", " MHz"},
    {"pclk", "clocks.sm", " MHz"},
    {"fb", "memory.used", " MiB"},
});

/// "20240131" and "12:00:00" as one moment.
std::optional<ParsedTime> time_of(std::string_view date, std::string_view time) {
  if (date.empty()) return parse_time(time);
  if (date.size() != 8) return std::nullopt;
  return parse_time(fmt::format("{}-{}-{} {}", date.substr(0, 4), date.substr(4, 2), date.substr(6, 2), time));
}

}  // namespace

bool SmiMonitor::take(const Line& line) {
  if (line.text.size() > 1000) return false;
  if (columns_.empty() && !line.text.starts_with('#')) return false;
  std::string head;
  auto text = core::trim(line.text);
  if (text.starts_with('#')) {
    head = core::to_lower(text.substr(1));
    return take_head(core::split_words(head));
  }
  return !columns_.empty() && take_row(core::split_words(text), line.number);
}

bool SmiMonitor::take_head(const std::vector<std::string_view>& words) {
  // The second line gives units: "# Idx      W      C …", with date and time "#YYYYMMDD   HH:MM:SS    Idx      W …".
  const bool units = std::ranges::find(words, "idx") != words.end();
  if (units) return !columns_.empty();
  const auto gpu = std::ranges::find(words, "gpu");
  const bool date_or_time = words.empty() || words.front() == "date" || words.front() == "time";
  if (gpu == words.end() || words.size() < 3 || (gpu != words.begin() && !date_or_time)) return false;
  columns_.clear();
  date_.reset(), time_.reset(), gpu_.reset();
  processes_ = std::ranges::find(words, "pid") != words.end();
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "date") date_ = i;
    if (words[i] == "time") time_ = i;
    const auto* known = std::ranges::find(kColumns, words[i], &Known::name);
    if (known != kColumns.end() && known->name == "gpu") gpu_ = i;
    columns_.push_back(known != kColumns.end() ? Column{known->query, known->unit} : Column{});
  }
  last_gpu_ = -1;
  return true;
}

bool SmiMonitor::take_row(const std::vector<std::string_view>& words, std::size_t line) {
  const bool fits = processes_ ? words.size() >= columns_.size() - 1 : words.size() == columns_.size();
  const auto index = fits && gpu_ && *gpu_ < words.size() ? core::parse_int(words[*gpu_]) : std::nullopt;
  if (!index || *index < 0) {
    columns_.clear();
    return false;
  }
  if (processes_) return true;
  std::optional<ParsedTime> time;
  if (time_) time = time_of(date_ ? words[*date_] : std::string_view(), words[*time_]);
  if (!time && options_.interval) {
    if (*index <= last_gpu_) ++tick_;
    std::int64_t ns = 0;
    if (!__builtin_mul_overflow(tick_, options_.interval->count(), &ns))
      time = ParsedTime{ns, TimeKind::relative, false};
  }
  last_gpu_ = *index;
  looks_.at(time, line);
  SmiLook look{{}, line};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (columns_[i].query.empty()) continue;
    const bool number = core::parse_number(words[i]).has_value();
    look.fields.push_back({std::string(columns_[i].query),
                           number ? fmt::format("{}{}", words[i], columns_[i].unit) : std::string(words[i])});
  }
  looks_.add(std::move(look));
  return true;
}

}  // namespace gradwatt::ingest

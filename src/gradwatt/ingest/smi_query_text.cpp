#include "gradwatt/ingest/smi_query_text.hpp"

#include <algorithm>
#include <array>

#include "gradwatt/core/text.hpp"

namespace gradwatt::ingest {
namespace {

constexpr std::string_view kHead = "==============NVSMI LOG==============";
constexpr std::size_t kDeepest = 12;

struct Entry {
  std::string_view key;
  std::optional<std::string_view> value;  ///< nothing: a section
};
/// "Driver Version    : 535.86.10"; a bus id has colons, so the one with spaces around it separates.
Entry split(std::string_view text) {
  const auto colon = text.find(" : ");
  if (colon != std::string_view::npos) return {core::trim(text.substr(0, colon)), core::trim(text.substr(colon + 3))};
  if (text.ends_with(" :")) return {core::trim(text.substr(0, text.size() - 2)), std::string_view()};
  return {core::trim(text), std::nullopt};
}

}  // namespace

bool SmiQueryText::take(const Line& line) {
  const auto text = core::trim(line.text);
  if (text == kHead) {
    end();
    inside_ = true;
    looks_.at(std::nullopt, line.number);  // until the listing says it
    return true;
  }
  const bool section_alone = text == "Clocks Throttle Reasons" || text == "Clocks Event Reasons";
  if (!inside_ && section_alone && !line.text.starts_with(' ')) {  // people paste this part
    inside_ = in_snippet_ = true;
    looks_.at(std::nullopt, line.number);
    gpu_.emplace(line.number);
    sections_.clear();
  }
  if (!inside_) return false;
  if (text.empty()) return true;
  const auto indent = line.text.find_first_not_of(' ');
  if (indent == 0 && !in_snippet_) return take_top(text, line);
  if (!gpu_) return false;
  take_entry(text, indent);
  return true;
}

bool SmiQueryText::take_top(std::string_view text, const Line& line) {
  if (text.starts_with("GPU ")) {
    end_gpu();
    gpu_.emplace(line.number);
    gpu_->add_bus_id(text.substr(4));
    sections_.clear();
    return true;
  }
  const auto [key, value] = split(text);
  if (!value) {  // something else begins
    end();
    return false;
  }
  if (key == "Timestamp") looks_.at(parse_time(*value), line.number);
  if (key == "Driver Version") driver_ = value->substr(0, 40);
  return true;
}

void SmiQueryText::take_entry(std::string_view text, std::size_t indent) {
  while (!sections_.empty() && sections_.back().indent >= indent) sections_.pop_back();
  const auto [key, value] = split(text);
  const auto above = sections_.empty() ? std::string() : sections_.back().path + "/";
  auto path = above + listing_key(key.substr(0, 80));
  if (path == "mig_device") gpu_->add_slice();
  if (path == "processes/process_id" || path.ends_with("/process_id")) gpu_->add_process();
  if (value) gpu_->add(path, *value);
  if (sections_.size() < kDeepest) sections_.push_back({indent, std::move(path)});
}

void SmiQueryText::end_gpu() {
  if (gpu_ && !gpu_->empty()) looks_.add(gpu_->take(driver_));
  gpu_.reset();
}

void SmiQueryText::end() {
  end_gpu();
  inside_ = in_snippet_ = false;
  driver_.clear();
  sections_.clear();
}

}  // namespace gradwatt::ingest

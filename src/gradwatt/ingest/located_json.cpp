#include "gradwatt/ingest/located_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/ingest/fact_list.hpp"

namespace gradwatt::ingest {
namespace {

using Json = nlohmann::json;

/// A list of flat objects needs three levels; the writer's notes may be somewhat deeper.
constexpr int kDeepest = 16;

tl::unexpected<core::Error> refuse(std::size_t line, std::string_view what) {
  return core::fail(core::Errc::unusable_input, fmt::format("line {}: {}", line, what));
}

/// Counts lines as the parser reads on.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  CountingIterator(const char* at, std::size_t* line) : at_(at), line_(line) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *line_ += *at_++ == '\n' ? 1 : 0;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  std::size_t* line_;
};

/// Why the watch below ends the parse; never leaves parse_located().
struct Stop {
  std::string reason;
};

struct Watch {
  const std::size_t& line;
  std::string_view list;
  std::string outer_key;                    ///< the last key of the outermost object
  std::vector<std::set<std::string>> keys;  ///< of each object that is open
  std::vector<std::size_t> item_lines;      ///< where the entries of the list begin

  bool see(int depth, Json::parse_event_t event, const Json& parsed) {
    if (depth > kDeepest) throw Stop{fmt::format("nested deeper than {} levels; no file of this kind is", kDeepest)};
    using enum Json::parse_event_t;
    const bool begins = event == object_start || event == array_start || event == value;
    if (begins && depth == 2 && outer_key == list) item_lines.push_back(line);
    if (event == object_start) keys.emplace_back();
    if (event == object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto key = parsed.get<std::string>();
      if (depth == 1) outer_key = key;
      if (!keys.back().insert(key).second) throw Stop{fmt::format("the key {} stands twice", in_quotes(key))};
    }
    return true;
  }
};

/// Without the library's own number and place: "[json.exception.parse_error.101] parse error at line 1, column 2: …".
std::string words_of(const Json::exception& error) {
  std::string_view text = error.what();
  if (text.starts_with('[')) text.remove_prefix(std::min(text.find("] ") + 2, text.size()));
  if (const auto place = text.find(": "); text.starts_with("parse error") && place != std::string_view::npos)
    text.remove_prefix(place + 2);
  return printable(text, 160);
}

}  // namespace

core::Result<LocatedJson> parse_located(std::string_view text, std::string_view list, std::size_t most) {
  if (text.size() > most)
    return refuse(1, fmt::format("{} bytes; a file of this kind has at most {} MiB", text.size(), most >> 20U));
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return refuse(1, "the file is UTF-16, but JSON is UTF-8; save it so");
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::size_t line = 1;
  Watch watch{line, list, {}, {}, {}};
  const auto see = [&](int depth, Json::parse_event_t event, Json& parsed) { return watch.see(depth, event, parsed); };
  try {
    auto root =
        Json::parse(CountingIterator(text.data(), &line), CountingIterator(text.data() + text.size(), &line), see);
    return LocatedJson{std::move(root), std::move(watch.item_lines)};
  } catch (const Stop& stop) {
    return refuse(line, stop.reason);
  } catch (const Json::exception& error) {
    return refuse(line, fmt::format("no valid JSON: {}", words_of(error)));
  }
}

}  // namespace gradwatt::ingest

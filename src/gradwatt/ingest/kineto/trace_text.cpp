#include "gradwatt/ingest/kineto/trace_text.hpp"

#include <fmt/format.h>

#include <optional>

#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/ingest/kineto/element_ends.hpp"
#include "gradwatt/ingest/kineto/text_window.hpp"

namespace gradwatt::ingest::kineto {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

class Walker {
 public:
  Walker(ByteSource& source, TraceVisitor& visitor) : window_(source), visitor_(visitor) {}

  core::Result<TextEnd> walk() {
    window_.more();
    if (window_.rest().starts_with("\xEF\xBB\xBF")) window_.take(3);
    if (!skip_space())
      return core::fail(core::Errc::unusable_input,
                        "line 1: " + (window_.failure().empty() ? "nothing but white space" : window_.failure()));
    const char first = window_.rest().front();
    if (first != '{' && first != '[')
      return core::fail(core::Errc::unusable_input, fmt::format("line 1: {} begins neither a JSON object nor an array",
                                                                in_quotes(window_.rest().substr(0, 60))));
    window_.take(1);
    if (first == '[') {
      end_.whole = events();
    } else {
      members();
    }
    return std::move(end_);
  }

 private:
  /// False at the end of the text.
  bool skip_space() {
    for (;;) {
      const auto rest = window_.rest();
      const auto at = rest.find_first_not_of(kSpace);
      window_.take(at == std::string_view::npos ? rest.size() : at);
      if (at != std::string_view::npos) return true;
      if (!window_.more()) return false;
    }
  }

  /// The text ended where it should not.
  bool cut() {
    if (!window_.failure().empty()) {
      end_.why = window_.failure();
    } else if (window_.full()) {
      end_.why = fmt::format("one piece of it is longer than {} MiB", TextWindow::kMostBytes >> 20U);
    } else {
      end_.why = "it is cut off";
    }
    return false;
  }

  bool malformed() {
    end_.why = fmt::format("{} is no JSON", in_quotes(window_.rest().substr(0, 60)));
    return false;
  }

  void members() {
    while (member()) continue;
  }

  /// One member of the outer object, or its end; false when there is nothing more to read.
  bool member() {
    if (!skip_space()) return cut();
    switch (window_.rest().front()) {
      case '}':
        end_.whole = true;
        return false;
      case ',':
        window_.take(1);
        return true;
      case '"':
        break;
      default:
        return malformed();
    }
    const auto length = string_length();
    if (!length) return cut();
    const std::string key(window_.rest().substr(1, *length - 2));
    window_.take(*length);
    if (!skip_space()) return cut();
    if (window_.rest().front() != ':') return malformed();
    window_.take(1);
    if (!skip_space()) return cut();
    return value(key);
  }

  bool value(const std::string& key) {
    const char first = window_.rest().front();
    if (first == '[' && key == "traceEvents") {
      window_.take(1);
      return events();
    }
    if (first == '[' || first == '{') return bracketed_value(key);
    const auto length = first == '"' ? string_length() : word_length();
    if (!length) return cut();
    if (*length == 0) return malformed();
    if (visitor_.wants(key)) visitor_.section(key, window_.rest().substr(0, *length));
    window_.take(*length);
    return true;
  }

  bool bracketed_value(const std::string& key) {
    bool wanted = visitor_.wants(key);
    ElementEnds ends;
    for (std::size_t at = 1;;) {
      auto found = ends.scan(window_.rest().substr(at));
      const bool last = !found.close && !window_.more() && !window_.full();
      if (last) {
        at += found.scanned;
        found = ends.finish(window_.rest().substr(at));
        if (!found.close) return cut();
      }
      if (found.close) {
        const auto length = at + *found.close + 1;
        if (wanted) visitor_.section(key, window_.rest().substr(0, length));
        window_.take(length);
        return true;
      }
      at += found.scanned;
      wanted = wanted && !window_.full();
      if (!wanted) window_.take(at), at = 0;
    }
  }

  /// Of a string from its quote to its closing quote.
  std::optional<std::size_t> string_length() {
    for (std::size_t at = 1;; ++at) {
      if (at >= window_.rest().size() && !window_.more()) return std::nullopt;
      const char c = window_.rest()[at];
      if (c == '"') return at + 1;
      if (c != '\\') continue;
      ++at;
      if (at >= window_.rest().size() && !window_.more()) return std::nullopt;
    }
  }

  /// Of a number, true, false or null. It ends with the text where nothing follows.
  std::optional<std::size_t> word_length() {
    std::size_t at = 0;
    for (;; ++at) {
      if (at >= window_.rest().size() && !window_.more()) break;
      if (std::string_view(",}] \t\r\n").find(window_.rest()[at]) != std::string_view::npos) break;
    }
    return at;
  }

  /// The array of events up to its closing bracket; false when it has none, or the visitor had enough.
  bool events() {
    end_.has_events = true;
    ElementEnds ends;
    for (std::size_t at = 0;;) {
      const auto found = ends.scan(window_.rest().substr(at));
      const auto next = hand_out(found, at);
      if (!next) return closed_;
      at = *next;
      if (!window_.more()) return last_events(ends, at);
    }
  }

  bool last_events(ElementEnds& ends, std::size_t at) {
    if (!window_.full() && !hand_out(ends.finish(window_.rest().substr(at)), at)) return closed_;
    return cut();
  }

  /// Gives the visitor what ended. Where the next look begins, or nothing when the array has ended (closed_) or the
  /// visitor had enough.
  std::optional<std::size_t> hand_out(const ElementEnds::Found& found, std::size_t at) {
    auto next = at + found.scanned;
    auto close = found.close ? std::optional(at + *found.close) : std::nullopt;
    if (found.last_end > 0) {
      const auto ready = at + found.last_end;
      if (!hand_out(ready)) return std::nullopt;
      next -= std::min(next, ready);
      if (close) *close -= ready;
    }
    if (!close) return next;
    window_.take(*close + 1);
    closed_ = true;
    return std::nullopt;
  }

  bool hand_out(std::size_t bytes) {
    const auto first = window_.rest().substr(0, bytes).find_first_not_of(" \t\r\n,");
    window_.take(first);  // an end was found, so there is a bracket
    const auto length = bytes - first;
    end_.stopped = !visitor_.events(window_.bracketed(length).text());
    window_.take(length);
    return !end_.stopped;
  }

  TextWindow window_;
  TraceVisitor& visitor_;
  TextEnd end_;
  bool closed_ = false;
};

}  // namespace

core::Result<TextEnd> walk_trace(ByteSource& source, TraceVisitor& visitor) { return Walker(source, visitor).walk(); }

}  // namespace gradwatt::ingest::kineto

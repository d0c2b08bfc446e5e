#include "gradwatt/ingest/kineto/trace_text.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

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
    ElementEnds elements;
    for (std::size_t at = 1;;) {
      auto found = elements.scan(window_.rest().substr(at), ends_);
      const bool last = !found.close && !window_.more() && !window_.full();
      if (last) {
        at += found.scanned;
        found = elements.finish(window_.rest().substr(at), ends_);
        if (!found.close) return cut();
      }
      ends_.clear();
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
    ElementEnds elements;
    for (std::size_t at = 0;;) {
      const auto found = elements.scan(window_.rest().substr(at), ends_);
      const auto taken = hand_out(at);
      if (end_.stopped) return false;
      if (found.close) return end_events(at + *found.close - taken);
      at += found.scanned - taken;
      if (!window_.more()) return !window_.full() && last_events(elements, at) ? true : cut();
    }
  }

  /// What is shorter than a stride at the end of the text.
  bool last_events(ElementEnds& elements, std::size_t at) {
    const auto found = elements.finish(window_.rest().substr(at), ends_);
    const auto taken = hand_out(at);
    return !end_.stopped && found.close && end_events(at + *found.close - taken);
  }

  bool end_events(std::size_t close) {
    window_.take(close + 1);
    return true;
  }

  /// Gives the visitor the events that ended, at places counted from `at`. Returns and takes the bytes up to the last
  /// end.
  std::size_t hand_out(std::size_t at) {
    const auto rest = window_.rest();
    std::size_t begin = 0;
    for (const auto end : ends_) {
      const auto event = rest.substr(begin, at + end - begin);
      begin = at + end;
      end_.stopped = !visitor_.event(event.substr(event.find_first_of("{[")));
      if (end_.stopped) break;
    }
    ends_.clear();
    window_.take(begin);
    return begin;
  }

  TextWindow window_;
  TraceVisitor& visitor_;
  TextEnd end_;
  std::vector<std::size_t> ends_;  // kept for its memory
};

}  // namespace

core::Result<TextEnd> walk_trace(ByteSource& source, TraceVisitor& visitor) { return Walker(source, visitor).walk(); }

}  // namespace gradwatt::ingest::kineto

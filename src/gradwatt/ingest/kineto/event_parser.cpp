#include "gradwatt/ingest/kineto/event_parser.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/kineto/event_time.hpp"
#include "gradwatt/ingest/kineto/host_role.hpp"

namespace gradwatt::ingest::kineto {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::error_code;

enum class Source : std::uint8_t { kernel, copy, set, call, op };
struct Category {
  std::string_view name;
  Source source;
};
// Kineto's names: first those of 2021, then today's.
constexpr auto kCategories = std::to_array<Category>({
    {"Kernel", Source::kernel},
    {"Memcpy", Source::copy},
    {"Memset", Source::set},
    {"Runtime", Source::call},
    {"Operator", Source::op},
    {"kernel", Source::kernel},
    {"gpu_memcpy", Source::copy},
    {"gpu_memset", Source::set},
    {"cuda_runtime", Source::call},
    {"cuda_driver", Source::call},
    {"cpu_op", Source::op},
    {"user_annotation", Source::op},
});

struct ElementType {
  std::string_view name;
  std::uint64_t bytes;
};
// As "dtype" and "Input type" write them.
constexpr auto kElementTypes = std::to_array<ElementType>({
    {"Float", 4},         {"float", 4},       {"Half", 2},   {"c10::Half", 2}, {"BFloat16", 2},
    {"c10::BFloat16", 2}, {"Double", 8},      {"double", 8}, {"Long", 8},      {"long int", 8},
    {"Int", 4},           {"int", 4},         {"Short", 2},  {"Byte", 1},      {"unsigned char", 1},
    {"Char", 1},          {"signed char", 1}, {"Bool", 1},   {"bool", 1},      {"Float8_e4m3fn", 1},
    {"Float8_e5m2", 1},
});

std::optional<std::uint64_t> element_bytes(std::string_view type) {
  const auto* row = std::ranges::find(kElementTypes, type, &ElementType::name);
  return row != kElementTypes.end() ? std::optional(row->bytes) : std::nullopt;
}

template <class Integer>
std::optional<Integer> parse_whole(std::string_view text) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// A number, word or string as it is written: no quotes, escapes left as they are.
std::string_view token_of(ondemand::value& value) {
  auto token = value.raw_json_token();
  const auto last = token.find_last_not_of(" \t\r\n");
  token = token.substr(0, last == std::string_view::npos ? 0 : last + 1);
  if (token.size() >= 2 && token.front() == '"') token = token.substr(1, token.size() - 2);
  return token;
}

/// What an event says outside of its args.
struct Outline {
  std::string_view phase, category, name, process, thread, begin, duration;
  bool args_passed = false;  ///< args came before the rest, so they were not read
};

/// What some events say in their args.
struct Details {
  std::optional<std::uint32_t> correlation;
  std::optional<std::uint64_t> bytes, elements;
  std::optional<std::uint64_t> element_size;
  std::string_view stream, device;
  std::optional<std::uint64_t> tensor_elements;  ///< of the first input
  std::uint32_t shapes = 0;                      ///< hash of all inputs' shapes

  [[nodiscard]] std::uint64_t size() const {
    if (bytes) return *bytes;
    const auto count = elements ? elements : tensor_elements;
    std::uint64_t product = 0;
    if (!count || !element_size || __builtin_mul_overflow(*count, *element_size, &product)) return kBytesUnknown;
    return product;
  }
};

/// Elements of the first tensor of "Input Dims": [[1024, 3], …].
std::optional<std::uint64_t> elements_of_first(std::string_view dims) {
  const auto begin = dims.find_first_of("0123456789]");
  const auto end = dims.find(']');
  if (begin >= end || end == std::string_view::npos) return std::nullopt;
  std::uint64_t product = 1;
  for (const auto side : core::split(dims.substr(begin, end - begin), ',')) {
    const auto number = parse_whole<std::uint64_t>(core::trim(side));
    if (!number || __builtin_mul_overflow(product, *number, &product)) return std::nullopt;
  }
  return product;
}

/// The first word of "Input type": ["float", …].
std::string_view first_word(std::string_view types) {
  const auto begin = types.find('"');
  if (begin == std::string_view::npos) return {};
  return types.substr(begin + 1, types.find('"', begin + 1) - begin - 1);
}

error_code read_details(ondemand::object args, Details& details) {
  for (auto member : args) {
    ondemand::field field;
    if (const auto error = std::move(member).get(field)) return error;
    const auto key = field.key();
    if (key.unsafe_is_equal("correlation")) {
      details.correlation = parse_whole<std::uint32_t>(token_of(field.value()));
    } else if (key.unsafe_is_equal("stream")) {
      details.stream = token_of(field.value());
    } else if (key.unsafe_is_equal("device")) {
      details.device = token_of(field.value());
    } else if (key.unsafe_is_equal("bytes") || key.unsafe_is_equal("size")) {
      details.bytes = parse_whole<std::uint64_t>(token_of(field.value()));
    } else if (key.unsafe_is_equal("In msg nelems")) {
      details.elements = parse_whole<std::uint64_t>(token_of(field.value()));
    } else if (key.unsafe_is_equal("dtype")) {
      details.element_size = element_bytes(token_of(field.value()));
    } else if (key.unsafe_is_equal("Input Dims")) {
      std::string_view dims;
      if (const auto error = simdjson::to_json_string(field.value()).get(dims)) return error;
      details.shapes = static_cast<std::uint32_t>(std::hash<std::string_view>{}(dims));
      details.tensor_elements = elements_of_first(dims);
    } else if (key.unsafe_is_equal("Input type")) {
      std::string_view types;
      if (const auto error = simdjson::to_json_string(field.value()).get(types)) return error;
      if (!details.element_size) details.element_size = element_bytes(first_word(types));
    }
  }
  return simdjson::SUCCESS;
}

/// Objects of an array of events one by one, whatever stands between them.
template <class Visit>
void for_each_object(std::string_view array, Visit visit) {
  std::size_t begin = 0;
  int depth = 0;
  bool inside = false;
  for (std::size_t i = 1; i + 1 < array.size(); ++i) {
    const char c = array[i];
    if (inside) {
      if (c == '\\') ++i;
      if (c == '"') inside = false;
    } else if (c == '"') {
      inside = true;
    } else if (c == '{' || c == '[') {
      if (depth++ == 0) begin = i;
    } else if (c == '}' || c == ']') {
      if (--depth == 0) visit(array.substr(begin, i + 1 - begin));
    }
  }
}

}  // namespace

class EventParser::Parser {
 public:
  explicit Parser(Trace& trace) : trace_(trace) {}

  void parse(std::string_view array) {
    const auto device = trace_.device.size(), host = trace_.host.size();
    const auto events = trace_.events, unreadable = trace_.unreadable;
    if (parse_array(array) == simdjson::SUCCESS) return;
    // Something in the block is no JSON: take back what came before it and read the events singly.
    trace_.device.resize(device);
    trace_.host.resize(host);
    trace_.events = events;
    trace_.unreadable = unreadable;
    for_each_object(array, [this](std::string_view text) {
      const simdjson::padded_string padded(text);
      ondemand::document document;
      ondemand::object object;
      if (parser_.iterate(padded).get(document) || document.get_object().get(object) ||
          add(object) != simdjson::SUCCESS)
        ++trace_.unreadable;
    });
  }

 private:
  error_code parse_array(std::string_view array) {
    ondemand::document document;
    if (const auto error = parser_.iterate(array, array.size() + simdjson::SIMDJSON_PADDING).get(document))
      return error;
    ondemand::array events;
    if (const auto error = document.get_array().get(events)) return error;
    for (auto event : events) {
      ondemand::object object;
      if (const auto error = event.get_object().get(object)) return error;
      if (const auto error = add(object)) return error;
    }
    return simdjson::SUCCESS;
  }

  error_code add(ondemand::object object) {
    Outline outline;
    Details details;
    for (auto member : object) {
      ondemand::field field;
      if (const auto error = std::move(member).get(field)) return error;
      const auto key = field.key();
      if (key.unsafe_is_equal("args")) {
        if (outline.phase.empty() || outline.category.empty() || outline.name.empty()) {
          outline.args_passed = true;
        } else if (needs_details(outline)) {
          if (const auto error = read_args(field.value(), details)) return error;
        }
        continue;
      }
      auto* const part = part_of(outline, key);
      if (part == nullptr) continue;
      *part = token_of(field.value());
      if (part == &outline.phase && outline.phase != "X") return simdjson::SUCCESS;  // flows, instants, metadata
    }
    if (outline.phase != "X") return simdjson::SUCCESS;
    if (outline.args_passed && needs_details(outline)) {
      if (const auto error = object.reset().error()) return error;
      ondemand::value args;
      if (const auto error = object.find_field_unordered("args").get(args)) return error;
      if (const auto error = read_args(args, details)) return error;
    }
    add_row(outline, details);
    return simdjson::SUCCESS;
  }

  static error_code read_args(ondemand::value& value, Details& details) {
    ondemand::object args;
    if (const auto error = value.get_object().get(args))
      return error == simdjson::INCORRECT_TYPE ? simdjson::SUCCESS : error;
    return read_details(args, details);
  }

  static std::string_view* part_of(Outline& outline, const ondemand::raw_json_string& key) {
    if (key.unsafe_is_equal("ph")) return &outline.phase;
    if (key.unsafe_is_equal("cat")) return &outline.category;
    if (key.unsafe_is_equal("name")) return &outline.name;
    if (key.unsafe_is_equal("pid")) return &outline.process;
    if (key.unsafe_is_equal("tid")) return &outline.thread;
    if (key.unsafe_is_equal("ts")) return &outline.begin;
    if (key.unsafe_is_equal("dur")) return &outline.duration;
    return nullptr;
  }

  [[nodiscard]] static const Category* category_of(const Outline& outline) {
    const auto* row = std::ranges::find(kCategories, outline.category, &Category::name);
    return row != kCategories.end() ? row : nullptr;
  }

  /// The role of a host event's name, looked up once a name.
  HostRole role(NameId name, Source source) {
    auto& known = source == Source::call ? call_roles_ : operator_roles_;
    if (known.size() <= name) known.resize(trace_.calls.size());
    if (!known[name])
      known[name] =
          source == Source::call ? role_of_call(trace_.calls.text(name)) : role_of_operator(trace_.calls.text(name));
    return *known[name];
  }

  bool needs_details(const Outline& outline) {
    const auto* category = category_of(outline);
    if (category == nullptr) return false;
    if (category->source != Source::call && category->source != Source::op) return true;
    switch (role(trace_.calls.id(outline.name), category->source)) {
      case HostRole::launch:
      case HostRole::collective:
      case HostRole::comm_call:
      case HostRole::shaped:
        return true;
      default:
        return false;
    }
  }

  void add_row(const Outline& outline, const Details& details) {
    const auto* category = category_of(outline);
    ++trace_.events;
    if (category == nullptr) return;
    const auto begin = parse_microseconds(outline.begin), duration = parse_microseconds(outline.duration);
    if (!begin || !duration || *duration < 0) {
      ++trace_.unreadable;
      return;
    }
    const auto end = *begin + *duration;
    trace_.first_ns = std::min(trace_.first_ns.value_or(*begin), *begin);
    trace_.last_ns = std::max(trace_.last_ns.value_or(end), end);
    if (category->source == Source::call || category->source == Source::op) {
      const auto name = trace_.calls.id(outline.name);
      const auto known = role(name, category->source);
      if (known == HostRole::none) return;
      trace_.host.push_back({.begin_ns = *begin,
                             .end_ns = end,
                             .bytes = details.size(),
                             .name = name,
                             .detail = known == HostRole::shaped ? details.shapes : details.correlation.value_or(0),
                             .thread = trace_.threads.id(outline.thread),
                             .role = known});
      return;
    }
    trace_.device.push_back({.begin_ns = *begin,
                             .end_ns = end,
                             .bytes = details.size(),
                             .name = trace_.kernels.id(outline.name),
                             .correlation = details.correlation.value_or(0),
                             .track = track(outline, details),
                             .work = work_of(category->source)});
  }

  static Work work_of(Source source) {
    if (source == Source::copy) return Work::copy;
    return source == Source::set ? Work::set : Work::kernel;
  }

  NameId track(const Outline& outline, const Details& details) {
    const auto device = details.device.empty() ? outline.process : details.device;
    const auto stream = details.stream.empty() ? outline.thread : details.stream;
    track_.assign("GPU ").append(device).append(stream.starts_with("stream") ? " " : " stream ").append(stream);
    return trace_.tracks.id(track_);
  }

  Trace& trace_;
  ondemand::parser parser_;
  std::vector<std::optional<HostRole>> call_roles_, operator_roles_;  // by NameId
  std::string track_;                                                 // kept for its memory
};

EventParser::EventParser(Trace& trace) : parser_(std::make_unique<Parser>(trace)) {}
EventParser::~EventParser() = default;
void EventParser::parse(std::string_view array) { parser_->parse(array); }

}  // namespace gradwatt::ingest::kineto

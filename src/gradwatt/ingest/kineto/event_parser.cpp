#include "gradwatt/ingest/kineto/event_parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/kineto/event_time.hpp"
#include "gradwatt/ingest/kineto/host_role.hpp"

namespace gradwatt::ingest::kineto {

enum class Source : std::uint8_t { kernel, copy, set, call, operation };

struct EventParser::Category {
  std::string_view name;
  Source source;
  [[nodiscard]] bool on_host() const { return source == Source::call || source == Source::operation; }
};

/// What an event says outside of its args.
struct EventParser::Outline {
  std::string_view phase, name, process, thread, begin, duration;
  std::string_view category_name;
  const Category* category = nullptr;  ///< null: none that is known
  bool has_duration = false;           ///< ph is "X"
};

/// What some events say in their args.
struct EventParser::Details {
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

namespace {

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

}  // namespace

const EventParser::Category* EventParser::category_of(std::string_view name) {
  // Kineto's names: today's, then those of 2021.
  static constexpr auto kCategories = std::to_array<Category>({
      {"cpu_op", Source::operation},
      {"cuda_runtime", Source::call},
      {"kernel", Source::kernel},
      {"gpu_memcpy", Source::copy},
      {"gpu_memset", Source::set},
      {"cuda_driver", Source::call},
      {"user_annotation", Source::operation},
      {"Operator", Source::operation},
      {"Runtime", Source::call},
      {"Kernel", Source::kernel},
      {"Memcpy", Source::copy},
      {"Memset", Source::set},
  });
  const auto* row = std::ranges::find(kCategories, name, &Category::name);
  return row != kCategories.end() ? row : nullptr;
}

void EventParser::add(std::string_view json) {
  Outline outline;
  Details details;
  if (!read(json, outline, details)) {
    ++trace_.unreadable;
  } else if (outline.has_duration) {
    ++trace_.events;
    // A PyTorch built without Kineto (Debian's) names no category, and its host this way.
    if (outline.category_name.empty() && outline.process == "CPU functions") outline.category = category_of("cpu_op");
    if (outline.category != nullptr) add_row(outline, details);
  }
}

namespace {

template <class Details>
bool read_details(JsonCursor& args, Details& details) {
  return for_each_member(args, [&](std::string_view key, JsonCursor& cursor) {
    const auto value = cursor.value();
    if (key == "correlation") {
      details.correlation = parse_whole<std::uint32_t>(value);
    } else if (key == "stream") {
      details.stream = value;
    } else if (key == "device") {
      details.device = value;
    } else if (key == "bytes" || key == "size") {
      details.bytes = parse_whole<std::uint64_t>(value);
    } else if (key == "In msg nelems") {
      details.elements = parse_whole<std::uint64_t>(value);
    } else if (key == "dtype") {
      details.element_size = element_bytes(value);
    } else if (key == "Input Dims") {
      details.shapes = static_cast<std::uint32_t>(std::hash<std::string_view>{}(value));
      details.tensor_elements = elements_of_first(value);
    } else if (key == "Input type" && !details.element_size) {
      details.element_size = element_bytes(first_word(value));
    }
    return true;
  });
}

}  // namespace

/// False for what is no JSON. Stops at the first member that makes the rest unneeded.
bool EventParser::read(std::string_view json, Outline& outline, Details& details) {
  JsonCursor event(json);
  std::string_view late_args;  // args that came before what says whether they are needed
  const bool fine = for_each_member(event, [&](std::string_view key, JsonCursor& cursor) {
    if (key == "args") {
      if (outline.phase.empty() || outline.category_name.empty() || outline.name.empty()) {
        late_args = cursor.value();
      } else if (needs_details(outline)) {
        read_details(cursor, details);
      } else {
        cursor.value();
      }
      return true;
    }
    const auto value = cursor.value();
    if (key == "ph") {
      outline.phase = value;
      outline.has_duration = value == "X";  // not flows, instants, metadata
      return outline.has_duration;
    }
    if (key == "cat") outline.category_name = value, outline.category = category_of(value);
    if (key == "name") outline.name = value;
    if (key == "pid") outline.process = value;
    if (key == "tid") outline.thread = value;
    if (key == "ts") outline.begin = value;
    if (key == "dur") outline.duration = value;
    return true;
  });
  if (fine && outline.has_duration && !late_args.empty() && needs_details(outline)) {
    JsonCursor args(late_args);
    read_details(args, details);
  }
  return fine;
}

/// The role of a host event's name.
HostRole EventParser::role(NameId name, bool is_call) {
  auto& known = is_call ? call_roles_ : operator_roles_;
  if (known.size() <= name) known.resize(trace_.calls.size());
  const auto& text = trace_.calls.text(name);
  if (!known[name]) known[name] = is_call ? role_of_call(text) : role_of_operator(text);
  return *known[name];
}

bool EventParser::needs_details(const Outline& outline) {
  if (outline.category == nullptr) return false;
  if (!outline.category->on_host()) return true;
  switch (role(trace_.calls.id(outline.name), outline.category->source == Source::call)) {
    case HostRole::launch:
    case HostRole::collective:
    case HostRole::comm_call:
    case HostRole::shaped:
      return true;
    default:
      return false;
  }
}

void EventParser::add_row(const Outline& outline, const Details& details) {
  const auto begin = parse_microseconds(outline.begin), duration = parse_microseconds(outline.duration);
  if (!begin || !duration || *duration < 0) {
    ++trace_.unreadable;
    return;
  }
  const auto end = *begin + *duration;
  trace_.first_ns = std::min(trace_.first_ns.value_or(*begin), *begin);
  trace_.last_ns = std::max(trace_.last_ns.value_or(end), end);
  const auto source = outline.category->source;
  if (!outline.category->on_host()) {
    const auto work = source == Source::kernel ? Work::kernel : source == Source::copy ? Work::copy : Work::set;
    trace_.device.push_back({.begin_ns = *begin,
                             .end_ns = end,
                             .bytes = details.size(),
                             .name = trace_.kernels.id(outline.name),
                             .correlation = details.correlation.value_or(0),
                             .track = track(outline, details),
                             .work = work});
    return;
  }
  const auto name = trace_.calls.id(outline.name);
  const auto known = role(name, source == Source::call);
  if (known == HostRole::none) return;
  trace_.host.push_back({.begin_ns = *begin,
                         .end_ns = end,
                         .bytes = details.size(),
                         .name = name,
                         .detail = known == HostRole::shaped ? details.shapes : details.correlation.value_or(0),
                         .thread = trace_.threads.id(outline.thread),
                         .role = known});
}

NameId EventParser::track(const Outline& outline, const Details& details) {
  constexpr std::size_t kLongest = 32;  // both are small numbers in any real trace
  const auto device = (details.device.empty() ? outline.process : details.device).substr(0, kLongest);
  const auto stream = (details.stream.empty() ? outline.thread : details.stream).substr(0, kLongest);
  track_.assign("GPU ").append(device).append(stream.starts_with("stream") ? " " : " stream ").append(stream);
  return trace_.tracks.id(track_);
}

}  // namespace gradwatt::ingest::kineto

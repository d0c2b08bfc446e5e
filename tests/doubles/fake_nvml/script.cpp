#include "tests/doubles/fake_nvml/script.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace gradwatt::doubles {
namespace {

struct Trouble {
  std::string text;
};

std::string_view trim(std::string_view s) {
  const auto begin = s.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return s.substr(begin, s.find_last_not_of(" \t\r\n") - begin + 1);
}

/// Pieces at `separator`, but not inside parentheses.
std::vector<std::string_view> split(std::string_view s, char separator) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= s.size(); ++i) {
    if (i == s.size() || (s[i] == separator && depth == 0)) {
      pieces.push_back(trim(s.substr(begin, i - begin)));
      begin = i + 1;
    } else if (s[i] == '(') {
      ++depth;
    } else if (s[i] == ')') {
      --depth;
    }
  }
  return pieces;
}

/// "12", "0x4", "1e9", "nan", and with a time unit ("250ms") in seconds.
double number(std::string_view text) {
  const std::string copy(trim(text));
  char* end = nullptr;
  const double value = copy.starts_with("0x") ? static_cast<double>(std::strtoull(copy.c_str(), &end, 16))
                                              : std::strtod(copy.c_str(), &end);
  const std::string_view unit(end);
  if (end == copy.c_str()) throw Trouble{"not a number: " + copy};
  if (unit.empty() || unit == "s" || unit == "W") return value;
  if (unit == "ms") return value * 1e-3;
  if (unit == "us") return value * 1e-6;
  if (unit == "ns") return value * 1e-9;
  throw Trouble{"unknown unit in: " + copy};
}
std::int64_t nanoseconds(std::string_view text) { return std::llround(number(text) * 1e9); }

struct Function {
  std::string_view name;
  std::vector<std::string_view> arguments;
};
Function parse_function(std::string_view text) {
  const auto open = text.find('(');
  if (open == std::string_view::npos) return {trim(text), {}};
  if (text.back() != ')') throw Trouble{"missing ) in: " + std::string(text)};
  return {trim(text.substr(0, open)), split(text.substr(open + 1, text.size() - open - 2), ',')};
}

Waveform parse_waveform(std::string_view text) {
  const Function f = parse_function(text);
  Waveform wave;
  const auto argument = [&](std::size_t i) {
    if (i >= f.arguments.size()) throw Trouble{"too few arguments: " + std::string(text)};
    return number(f.arguments[i]);
  };
  wave.low_w = wave.high_w = argument(0);
  if (f.name == "constant") return wave;
  if (f.name != "square" && f.name != "saw") throw Trouble{"unknown waveform: " + std::string(text)};
  wave.shape = f.name == "square" ? Waveform::Shape::square : Waveform::Shape::saw;
  wave.high_w = argument(1);
  wave.period_s = argument(2);
  if (f.arguments.size() > 3) wave.duty = argument(3);
  if (!(wave.period_s > 0) || !(wave.duty >= 0 && wave.duty <= 1)) throw Trouble{"bad waveform: " + std::string(text)};
  return wave;
}

/// "2s..5s", "2s..", or by occurrence "#3..#5".
void parse_window(std::string_view text, FakeFault& fault) {
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) throw Trouble{"a window needs ..: " + std::string(text)};
  const auto from = trim(text.substr(0, dots));
  const auto to = trim(text.substr(dots + 2));
  if (from.starts_with("#")) {
    fault.first_call = static_cast<std::int64_t>(number(from.substr(1)));
    if (to.starts_with("#")) fault.last_call = static_cast<std::int64_t>(number(to.substr(1)));
    return;
  }
  fault.begin_ns = nanoseconds(from);
  if (!to.empty()) fault.end_ns = nanoseconds(to);
}

double value_type(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames{"f64", "u32", "ulong", "u64", "s64", "s32", "u16"};
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<double>(i);
  throw Trouble{"unknown value type: " + std::string(name)};
}

FakeFault parse_fault(std::string_view text) {
  using enum FakeFault::Kind;
  struct Row {
    std::string_view name;
    FakeFault::Kind kind;
    std::size_t arguments;
  };
  constexpr auto kKinds = std::to_array<Row>({{"return", return_code, 2},
                                              {"value", value, 2},
                                              {"type", type, 2},
                                              {"hang", hang, 2},
                                              {"energy_wrap", wrap, 1},
                                              {"energy_reset", reset, 0},
                                              {"energy_backward", backward, 1},
                                              {"energy_stuck", stuck, 0}});
  const auto words = split(text, ' ');
  const Function f = parse_function(words.front());
  FakeFault fault;
  const Row* row = nullptr;
  for (const Row& candidate : kKinds)
    if (candidate.name == f.name) row = &candidate;
  if (row == nullptr || row->arguments != f.arguments.size()) throw Trouble{"unknown fault: " + std::string(text)};
  fault.kind = row->kind;
  if (row->arguments == 2) fault.target = f.arguments[0];
  if (row->arguments > 0)
    fault.number = fault.kind == type ? value_type(f.arguments.back()) : number(f.arguments.back());
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].empty()) continue;
    if (words[i].starts_with("@"))
      fault.gpu = static_cast<std::size_t>(number(words[i].substr(1)));
    else
      parse_window(words[i], fault);
  }
  return fault;
}

void set_gpu(FakeGpu& gpu, std::string_view key, std::string_view value) {
  if (key == "power") {
    gpu.power = parse_waveform(value);
  } else if (key == "energy_update") {
    gpu.energy_update_ns = nanoseconds(value);
  } else if (key == "power_update") {
    gpu.power_update_ns = nanoseconds(value);
  } else if (key == "processes") {
    gpu.pids.clear();
    for (const auto pid : split(value, ',')) gpu.pids.push_back(static_cast<unsigned>(number(pid)));
  } else if (key == "mig") {
    gpu.mig.clear();
    for (const auto profile : split(value, ',')) gpu.mig.push_back({static_cast<unsigned>(profile.front() - '0')});
  } else {
    gpu.numbers.insert_or_assign(std::string(key), number(value));
  }
}

void add_gpus(FakeScript& script, std::string_view statement) {
  const auto star = statement.find('*');
  const auto key = trim(statement.substr(0, star));
  const auto count = star == std::string_view::npos ? 1 : static_cast<int>(number(statement.substr(star + 1)));
  for (const DeviceClass& model : kDeviceClasses) {
    if (model.key != key) continue;
    FakeGpu gpu;
    gpu.model = &model;
    // Without any word on it: half of the default limit.
    gpu.power.low_w = gpu.power.high_w = model.limit_default_w > 0 ? model.limit_default_w / 2.0 : 30.0;
    script.gpus.insert(script.gpus.end(), static_cast<std::size_t>(count), gpu);
    return;
  }
  throw Trouble{"unknown device class: " + std::string(key)};
}

void parse_statement(FakeScript& script, std::string_view statement) {
  const auto equals = statement.find('=');
  if (equals == std::string_view::npos) {
    if (statement != "none") add_gpus(script, statement);
    return;
  }
  auto key = trim(statement.substr(0, equals));
  const auto value = trim(statement.substr(equals + 1));
  if (key == "fault") {
    script.faults.push_back(parse_fault(value));
  } else if (key == "driver") {
    script.driver = value;
  } else if (key == "latency") {
    script.latency_ns = nanoseconds(value);
  } else if (const auto at = key.find('@'); at != std::string_view::npos) {
    const auto index = static_cast<std::size_t>(number(key.substr(at + 1)));
    if (index >= script.gpus.size()) throw Trouble{"no such GPU: " + std::string(key)};
    set_gpu(script.gpus[index], key.substr(0, at), value);
  } else {
    for (FakeGpu& gpu : script.gpus) set_gpu(gpu, key, value);
  }
}

}  // namespace

ParsedScript parse_fake_script(std::string_view text) {
  ParsedScript parsed;
  try {
    for (const auto line : split(text, '\n'))
      for (const auto statement : split(line.substr(0, line.find("//")), ';'))
        if (!statement.empty()) parse_statement(parsed.script, statement);
  } catch (const Trouble& trouble) {
    parsed.error = trouble.text;
  }
  return parsed;
}

}  // namespace gradwatt::doubles

// Prints all rings of a folder, one JSON object a line: what the C++ reader makes of what Python wrote.
//
//   print_marks FOLDER          what is there now
//   print_marks FOLDER --watch  polls until a line comes on standard input, as gradwatt does beside a job
//   print_marks FOLDER --ask N STEM   asks the living processes for a profile of N steps
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "gradwatt/launch/marks/ring_directory.hpp"

namespace {

using gradwatt::launch::marks::Batch;
using gradwatt::launch::marks::RingDirectory;
using nlohmann::json;
namespace record = gradwatt::record;

json to_json(const record::Mark& mark) {
  json line{{"kind", record::name_of(mark.kind)}, {"rank", mark.rank},    {"name", mark.name}, {"number", mark.number},
            {"begin_ns", mark.begin_ns},          {"end_ns", mark.end_ns}};
  line["samples"] = mark.samples ? json(*mark.samples) : json();
  line["clock"] = mark.clock == record::PhaseClock::host ? "host" : "device_events";
  for (std::size_t i = 0; i < record::kPhases; ++i)
    line[std::string(record::name_of(static_cast<record::Phase>(i)))] =
        mark.phase_ns[i] ? json(*mark.phase_ns[i]) : json();
  return line;
}

json to_json(const record::Fact& fact) {
  json line{{"kind", "fact"}, {"name", fact.name}, {"subject", fact.subject}, {"unit", fact.unit}};
  line["known"] = record::find_fact(fact.name) != nullptr;
  line["how"] = record::name_of(fact.how);
  if (const auto number = record::as_number(fact)) line["value"] = *number;
  if (const auto text = record::as_text(fact)) line["value"] = *text;
  return line;
}

void print(const Batch& batch) {
  for (const auto& mark : batch.marks) std::cout << to_json(mark).dump() << "\n";
  for (const auto& fact : batch.facts) std::cout << to_json(fact).dump() << "\n";
  if (batch.overruns + batch.torn + batch.malformed > 0)
    std::cout << json{{"kind", "lost"},
                      {"overruns", batch.overruns},
                      {"torn", batch.torn},
                      {"malformed", batch.malformed}}
                     .dump()
              << "\n";
}

void watch(RingDirectory& rings) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (::poll(&input, 1, /*milliseconds=*/100) == 0) print(rings.poll());
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  if (argc < 2) return 2;
  RingDirectory rings(arguments[1]);
  if (argc == 5 && std::string_view(arguments[2]) == "--ask") {
    rings.poll();
    std::cout << rings.request_profile(static_cast<std::uint32_t>(std::stoul(arguments[3])), arguments[4]) << "\n";
    return 0;
  }
  if (argc == 3 && std::string_view(arguments[2]) == "--watch") watch(rings);
  print(rings.poll());
  print(rings.finish());
  for (const auto& ring : rings.rings())
    std::cout << json{{"kind", "ring"},        {"pid", ring.pid},
                      {"rank", ring.rank},     {"local_rank", ring.local_rank},
                      {"writer", ring.writer}, {"world_size", ring.world_size}}
                     .dump()
              << "\n";
  for (const auto& problem : rings.problems()) std::cout << json{{"kind", "problem"}, {"text", problem}}.dump() << "\n";
}

// Facts as they are collected: each gets the table's unit, its origin and the share of the window that it rests on.
// Private to this folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gradwatt/energy/window.hpp"
#include "gradwatt/record/run.hpp"

namespace gradwatt::diagnosis {

class FactList {
 public:
  explicit FactList(record::Where where) : where_(where) {}

  /// Nothing is added for a missing value.
  void add(std::string_view name, std::string subject, std::optional<double> value,
           record::How how = record::How::counter, std::optional<double> coverage = std::nullopt) {
    if (value) push(name, std::move(subject), *value, how, coverage);
  }
  void add_text(std::string_view name, std::string subject, std::string value) {
    push(name, std::move(subject), std::move(value), record::How::counter, std::nullopt);
  }
  [[nodiscard]] std::vector<record::Fact> take() { return std::move(facts_); }
  [[nodiscard]] const std::vector<record::Fact>& facts() const { return facts_; }

 private:
  void push(std::string_view name, std::string subject, std::variant<double, std::string> value, record::How how,
            std::optional<double> coverage) {
    const auto* row = record::find_fact(name);
    facts_.push_back({.name = std::string(name),
                      .subject = std::move(subject),
                      .value = std::move(value),
                      .unit = row != nullptr ? std::string(row->unit) : std::string(),
                      .time_ns = std::nullopt,
                      .how = how,
                      .where = where_,
                      .coverage = coverage,
                      .source = "this run"});
  }

  record::Where where_;
  std::vector<record::Fact> facts_;
};

// One file each.
void add_step_facts(const record::Run& run, energy::Window window, FactList& out);
void add_rank_facts(const record::Run& run, energy::Window window, FactList& out);
void add_gpu_facts(const record::Run& run, energy::Window window, FactList& out);
void add_host_facts(const record::Run& run, energy::Window window, FactList& out);
void add_environment_facts(const record::Run& run, FactList& out);

[[nodiscard]] std::vector<record::MetricId> columns_for_gpu_facts();
[[nodiscard]] std::vector<record::MetricId> columns_for_host_facts();

}  // namespace gradwatt::diagnosis

#include "gradwatt/diagnosis/causes/opinion.hpp"

#include <algorithm>

namespace gradwatt::diagnosis {

Opinion& Opinion::supports(double weight, std::string text, std::vector<std::string> facts) {
  evidence_.push_back({weight, std::move(text), std::move(facts)});
  return *this;
}

Opinion& Opinion::fits(double weight, std::string text, std::vector<std::string> facts) {
  evidence_.push_back({weight, std::move(text), std::move(facts), true});
  return *this;
}

Opinion& Opinion::speaks_against(double weight, std::string text, std::vector<std::string> facts) {
  evidence_.push_back({-weight, std::move(text), std::move(facts)});
  return *this;
}

Opinion& Opinion::rules_out(std::string text, std::vector<std::string> facts) {
  if (!ruled_out_) ruled_out_ = Evidence{0, std::move(text), std::move(facts)};
  return *this;
}

Opinion& Opinion::wants(std::string_view fact, double weight) {
  wanted_.push_back({std::string(fact), weight});
  return *this;
}

double Opinion::sum() const {
  double sum = 0;
  for (const auto& piece : evidence_) sum += piece.weight;
  return sum;
}

bool Opinion::has_support() const {
  return std::ranges::any_of(evidence_, [](const auto& piece) { return piece.weight > 0 && !piece.circumstance; });
}

}  // namespace gradwatt::diagnosis

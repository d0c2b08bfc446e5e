#include "gradwatt/energy/holding.hpp"

#include <algorithm>

namespace gradwatt::energy {
namespace {

/// A longer silence than this many cadences is a gap: two lost readings in a row may still be bridged, more may hide
/// a change of load.
constexpr std::int64_t kBridgedCadences = 3;

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

class Rule {
 public:
  explicit Rule(const Series& series)
      : time_ns_(series.readings.time_ns()),
        stratified_(series.sampling == record::Sampling::stratified && series.cadence_ns > 0),
        cadence_ns_(series.cadence_ns),
        phase_ns_(series.phase_ns) {}

  /// Period of reading i. A reading that came late lies in the period after its own, beside that one's reading.
  [[nodiscard]] std::int64_t stratum(std::size_t i) const {
    const auto own = raw(i);
    const bool shares = i + 1 < time_ns_.size() && raw(i + 1) == own;
    const bool before_is_empty = i > 0 && raw(i - 1) < own - 1;
    return shares && before_is_empty ? own - 1 : own;
  }
  [[nodiscard]] bool joined(std::size_t i) const {
    if (stratified_) return stratum(i + 1) - stratum(i) <= 1;
    return time_ns_[i + 1] - time_ns_[i] <= kBridgedCadences * cadence_ns_;
  }
  /// The border of its period behind or before reading i; itself where a reading stands only for its instant.
  [[nodiscard]] std::int64_t stands_until(std::size_t i) const {
    return stratified_ ? std::max(time_ns_[i], phase_ns_ + (stratum(i) + 1) * cadence_ns_) : time_ns_[i];
  }
  [[nodiscard]] std::int64_t stands_from(std::size_t i) const {
    return stratified_ ? std::min(time_ns_[i], phase_ns_ + stratum(i) * cadence_ns_) : time_ns_[i];
  }

 private:
  [[nodiscard]] std::int64_t raw(std::size_t i) const { return floor_div(time_ns_[i] - phase_ns_, cadence_ns_); }

  std::span<const std::int64_t> time_ns_;
  bool stratified_;
  std::int64_t cadence_ns_, phase_ns_;
};

void add_piece(Holding& holding, Window piece) {
  holding.covered_ns += static_cast<double>(piece.length_ns());
  if (!holding.pieces.empty() && holding.pieces.back().end_ns >= piece.begin_ns)
    holding.pieces.back().end_ns = piece.end_ns;
  else
    holding.pieces.push_back(piece);
}

/// The reading's level stands unchanged over the stretch.
void add_flat(Holding& holding, std::size_t i, Window stretch, Window window) {
  const auto piece = overlap(stretch, window);
  if (piece.empty()) return;
  holding.weight_ns[i - holding.first] += static_cast<double>(piece.length_ns());
  add_piece(holding, piece);
}

/// The level runs straight from reading i to the next; each gets its share of the part inside the window.
void add_sloped(Holding& holding, std::size_t i, Window segment, Window window) {
  const auto piece = overlap(segment, window);
  if (piece.empty()) return;
  const auto length = static_cast<double>(piece.length_ns());
  const auto middle = static_cast<double>(piece.begin_ns - segment.begin_ns) + length / 2;
  const double later = length * middle / static_cast<double>(segment.length_ns());
  holding.weight_ns[i - holding.first] += length - later;
  holding.weight_ns[i - holding.first + 1] += later;
  add_piece(holding, piece);
}

}  // namespace

Holding hold(const Series& series, Window window) {
  Holding out;
  const auto time_ns = series.readings.time_ns();
  if (time_ns.empty() || window.empty()) return out;
  const auto inside = series.readings.first_at_or_after(window.begin_ns);
  out.first = inside > 0 ? inside - 1 : 0;
  const auto last = std::min(series.readings.first_at_or_after(window.end_ns), time_ns.size() - 1);
  out.weight_ns.assign(last + 1 - out.first, 0.0);

  const Rule rule(series);
  if (out.first == 0) add_flat(out, 0, {rule.stands_from(0), time_ns[0]}, window);
  for (auto i = out.first; i < last; ++i) {
    if (rule.joined(i)) {
      add_sloped(out, i, {time_ns[i], time_ns[i + 1]}, window);
    } else {
      add_flat(out, i, {time_ns[i], rule.stands_until(i)}, window);
      add_flat(out, i + 1, {rule.stands_from(i + 1), time_ns[i + 1]}, window);
    }
  }
  if (last + 1 == time_ns.size()) add_flat(out, last, {time_ns[last], rule.stands_until(last)}, window);
  return out;
}

const Holding& SharedHolding::of(const Series& series) {
  const auto t = series.readings.time_ns();
  const Key key{series.readings.borrowed() ? t.data() : nullptr, t.size(), series.sampling, series.cadence_ns,
                series.phase_ns};
  // Times that a series owns may be gone, and their memory used again, by the next call.
  if (key.times == nullptr || !(key == key_)) {
    last_ = hold(series, window_);
    key_ = key;
  }
  return last_;
}

}  // namespace gradwatt::energy

#include "gradwatt/training/models/mode_selection.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace gradwatt::training {
namespace {

std::int64_t kept_of(std::int64_t length, double fraction) {
  return static_cast<std::int64_t>(static_cast<double>(length / 2 + 1) * fraction);
}

}  // namespace

std::optional<ModeSelection> ModeSelection::make(std::int64_t rows, std::int64_t columns, double fraction,
                                                 bool corrected) {
  ModeSelection selection;
  selection.rows_ = rows;
  selection.half_columns_ = columns / 2 + 1;
  const auto kept = kept_of(rows, fraction);
  const auto kept_columns = corrected ? kept_of(columns, fraction) : kept;
  if (kept < 1 || kept_columns < 1) return std::nullopt;
  selection.kept_columns_ = std::min(kept_columns, selection.half_columns_);
  const auto middle = rows / 2 + 1;
  if (!corrected) {
    selection.row_spans_ = {{middle - kept, std::min(middle + kept, rows)}};
  } else if (2 * kept - 1 >= rows) {
    selection.row_spans_ = {{0, rows}};
  } else {
    // Frequencies 0 … kept−1, then −(kept−1) … −1 at the end of the axis.
    selection.row_spans_ = {{0, kept}};
    if (kept > 1) selection.row_spans_.push_back({rows - kept + 1, rows});
  }
  return selection;
}

std::int64_t ModeSelection::kept_rows() const {
  std::int64_t count = 0;
  for (const auto& span : row_spans_) count += span.end - span.begin;
  return count;
}

torch::Tensor ModeSelection::gather(const torch::Tensor& spectrum) const {
  const auto columns = spectrum.slice(2, 0, kept_columns_);
  std::vector<torch::Tensor> pieces;
  for (const auto& span : row_spans_) pieces.push_back(columns.slice(1, span.begin, span.end));
  return pieces.size() == 1 ? pieces.front() : at::cat(pieces, 1);
}

torch::Tensor ModeSelection::scatter(const torch::Tensor& kept) const {
  std::vector<torch::Tensor> pieces;
  std::int64_t taken = 0, filled = 0;
  for (std::size_t i = 0; i < row_spans_.size(); ++i) {
    const auto& span = row_spans_[i];
    const auto length = span.end - span.begin;
    const auto above = span.begin - filled;
    const auto below = i + 1 == row_spans_.size() ? rows_ - span.end : 0;
    pieces.push_back(at::constant_pad_nd(kept.slice(1, taken, taken + length),
                                         {0, 0, 0, half_columns_ - kept_columns_, above, below}));
    taken += length;
    filled = span.end;
  }
  return pieces.size() == 1 ? pieces.front() : at::cat(pieces, 1);
}

}  // namespace gradwatt::training

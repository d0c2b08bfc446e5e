// Which Fourier modes of a field an AFNO filter sees; the others are set to zero.
//
// The reference implementation keeps `fraction` of (rows/2 + 1) modes and applies that one count to both axes: rows
// around the Nyquist row, zonal columns from 0 on. On a field twice as wide as high, all rows and only half of the
// columns pass at fraction 1, and below 1 the *high* meridional frequencies stay. `corrected` keeps the low frequencies
// of both axes, each by its own count; at fraction 1 that is every mode.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace gradwatt::training {

class ModeSelection {
 public:
  /// For fields of `rows` × `columns` tokens, 0 < fraction ≤ 1. Nothing when no mode would be kept.
  [[nodiscard]] static std::optional<ModeSelection> make(std::int64_t rows, std::int64_t columns, double fraction,
                                                         bool corrected);

  /// `spectrum`: batch × rows × (columns/2 + 1) × features, as rfft2 gives it. Returns the kept rows and columns.
  [[nodiscard]] torch::Tensor gather(const torch::Tensor& spectrum) const;
  /// The inverse, with zeros where nothing was kept.
  [[nodiscard]] torch::Tensor scatter(const torch::Tensor& kept) const;

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t half_columns() const { return half_columns_; }
  [[nodiscard]] std::int64_t kept_rows() const;
  [[nodiscard]] std::int64_t kept_columns() const { return kept_columns_; }

 private:
  struct Span {
    std::int64_t begin, end;
  };
  std::int64_t rows_ = 0, half_columns_ = 0, kept_columns_ = 0;
  std::vector<Span> row_spans_;  ///< ascending, one or two
};

}  // namespace gradwatt::training

// Least squares for models with few observations: Levenberg-Marquardt on the logarithms of bounded parameters, with a
// Gaussian prior on each and a loss that outliers cannot dominate. It says how well the data determine each parameter.
//
// The step: Levenberg 1944, Marquardt 1963 (damping by the diagonal). Outliers: Student's t as iterated weights (Lange,
// Little & Taylor 1989). Scatter of the observations: estimated, drawn towards the expected one as if that had been
// seen in `kScatterWeight` observations. Covariance: inverse of JᵀWJ with the priors in it (Laplace's approximation).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "gradwatt/core/result.hpp"

namespace gradwatt::planning {

/// A positive parameter. Its logarithm has the prior N(log prior, prior_spread²) and stays within the bounds.
struct Parameter {
  std::string_view name;
  std::string_view unit;
  double prior = 1;         ///< median
  double prior_spread = 1;  ///< standard deviation of the logarithm: 0.7 means "within a factor 2, most likely"
  double low = 1e-12, high = 1e12;
};

/// Fills one residual an observation, log(predicted / observed) or any other difference with the expected scatter.
using Residuals = std::function<void(std::span<const double> parameters, std::span<double> residuals)>;

struct Problem {
  std::vector<Parameter> parameters;
  std::size_t observations = 0;
  Residuals residuals;
  double expected_scatter = 0.05;  ///< standard deviation of a residual before any was seen
  /// The observations are too few to judge their scatter, or to tell an outlier from the curve: all count alike.
  bool scatter_is_known = false;
};

/// Observations that the expected scatter counts as.
inline constexpr double kScatterWeight = 4;
/// A parameter whose spread the data left above this share of the prior's is said by the prior, not by the data.
inline constexpr double kUnidentified = 0.7;

struct Fit {
  std::vector<double> values;       ///< one a parameter, in its unit
  std::vector<double> covariance;   ///< of the logarithms, row by row
  std::vector<double> prior_share;  ///< spread that is left / the prior's, 0 (data decide) to 1 (prior decides)
  std::vector<std::string_view> unidentified;  ///< names of those above kUnidentified
  double scatter = 0;                          ///< standard deviation of the residuals, outliers weighted down
  double freedom = 0;                          ///< degrees of freedom of `scatter`, the prior's included
  int iterations = 0;

  [[nodiscard]] std::size_t size() const { return values.size(); }
};

/// Wrong use: no parameter, a prior outside its bounds, a residual that is no number at the prior. Data that say
/// nothing are no error: the fit is then the prior.
[[nodiscard]] core::Result<Fit> fit(const Problem& problem);

/// A figure of the model: its value at the fitted parameters, and where the truth lies nine times in ten.
struct Figure {
  double value = 0, low90 = 0, high90 = 0;
};

/// A positive figure of the fitted parameters, as a new measurement would show it: the interval holds what the
/// parameters leave open, the scatter of a measurement and `more_spread` (of the logarithm), what the caller knows
/// besides. Delta method on the logarithm, Student's t.
[[nodiscard]] Figure figure_of(const Fit& fit, const std::function<double(std::span<const double>)>& model,
                               double more_spread = 0);

/// Standard deviation of the figure's logarithm that the parameters leave open.
[[nodiscard]] double spread_of(const Fit& fit, const std::function<double(std::span<const double>)>& model);

/// 95 % quantile of Student's t (the 90 % interval is ± this), to 0.5 % from one degree of freedom on.
[[nodiscard]] double student_t90(double freedom);

}  // namespace gradwatt::planning

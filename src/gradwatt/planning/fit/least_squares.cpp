#include "gradwatt/planning/fit/least_squares.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace gradwatt::planning {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

/// Student's t with four degrees of freedom: at 5 scatters an observation weighs a sixth.
constexpr double kStudentFreedom = 4;
/// Step of the numerical derivative, in the logarithm.
constexpr double kDerivativeStep = 1e-5;
constexpr int kMostIterations = 200;
/// The scatter is estimated, and the weights with it, until it moves by less than this share.
constexpr double kScatterTolerance = 1e-3;
constexpr int kMostRounds = 12;
/// Repeats that agree exactly still scatter in the next run.
constexpr double kLeastScatter = 1e-4;
/// Student's t of a known scatter is the normal distribution.
constexpr double kKnownFreedom = 1e6;
constexpr double kWorstCost = 1e300;
/// 95 % quantile of the normal distribution.
constexpr double kNormal90 = 1.6448536269514722;

struct Box {
  Vector prior, spread, low, high;
};

Box box_of(const std::vector<Parameter>& parameters) {
  const auto size = static_cast<Eigen::Index>(parameters.size());
  Box box{Vector(size), Vector(size), Vector(size), Vector(size)};
  for (Eigen::Index i = 0; i < size; ++i) {
    const auto& p = parameters[static_cast<std::size_t>(i)];
    box.prior[i] = std::log(p.prior);
    box.spread[i] = p.prior_spread;
    box.low[i] = std::log(p.low);
    box.high[i] = std::log(p.high);
  }
  return box;
}

std::vector<double> values_of(const Vector& logs) {
  std::vector<double> out(static_cast<std::size_t>(logs.size()));
  for (Eigen::Index i = 0; i < logs.size(); ++i) out[static_cast<std::size_t>(i)] = std::exp(logs[i]);
  return out;
}

class Fitter {
 public:
  explicit Fitter(const Problem& problem)
      : problem_(problem),
        box_(box_of(problem.parameters)),
        logs_(box_.prior),
        scatter_(problem.expected_scatter),
        weights_(Vector::Ones(static_cast<Eigen::Index>(problem.observations))) {}

  [[nodiscard]] bool starts() const { return residuals(logs_).allFinite(); }

  void run() {
    for (int round = 0; round < kMostRounds; ++round) {
      descend();
      if (problem_.scatter_is_known) return;
      const double before = scatter_;
      reweigh();
      if (std::abs(scatter_ - before) < kScatterTolerance * before && round > 1) return;
    }
  }

  [[nodiscard]] Fit result() const {
    Fit out;
    const Matrix covariance = information().ldlt().solve(Matrix::Identity(logs_.size(), logs_.size()));
    out.values = values_of(logs_);
    out.scatter = scatter_;
    out.freedom = problem_.scatter_is_known ? kKnownFreedom : kScatterWeight + std::max(0.0, freedom(covariance));
    out.iterations = iterations_;
    for (Eigen::Index i = 0; i < logs_.size(); ++i) {
      for (Eigen::Index j = 0; j < logs_.size(); ++j) out.covariance.push_back(covariance(i, j));
      out.prior_share.push_back(std::min(1.0, std::sqrt(std::max(0.0, covariance(i, i))) / box_.spread[i]));
      if (out.prior_share.back() > kUnidentified)
        out.unidentified.push_back(problem_.parameters[static_cast<std::size_t>(i)].name);
    }
    return out;
  }

 private:
  [[nodiscard]] Vector residuals(const Vector& logs) const {
    Vector out(static_cast<Eigen::Index>(problem_.observations));
    const auto values = values_of(logs);
    problem_.residuals(values, {out.data(), problem_.observations});
    return out;
  }
  [[nodiscard]] Matrix jacobian(const Vector& logs) const {
    Matrix out(static_cast<Eigen::Index>(problem_.observations), logs.size());
    for (Eigen::Index i = 0; i < logs.size(); ++i) {
      Vector above = logs, below = logs;
      above[i] += kDerivativeStep;
      below[i] -= kDerivativeStep;
      out.col(i) = (residuals(above) - residuals(below)) / (2 * kDerivativeStep);
    }
    return out;
  }
  [[nodiscard]] double cost(const Vector& logs, const Vector& r) const {
    const double priors = ((logs - box_.prior).cwiseQuotient(box_.spread)).squaredNorm();
    const double all = (weights_.array() * r.array().square()).sum() / (scatter_ * scatter_) + priors;
    return std::isfinite(all) ? all : kWorstCost;
  }
  [[nodiscard]] Matrix information() const {
    const Matrix j = jacobian(logs_);
    Matrix out = j.transpose() * weights_.asDiagonal() * j / (scatter_ * scatter_);
    out.diagonal() += box_.spread.array().square().inverse().matrix();
    return out;
  }

  void descend() {
    double damping = 1e-3;
    Vector r = residuals(logs_);
    double now = cost(logs_, r);
    for (int i = 0; i < kMostIterations; ++i, ++iterations_) {
      const Matrix j = jacobian(logs_);
      const double inverse = 1 / (scatter_ * scatter_);
      Matrix normal = j.transpose() * weights_.asDiagonal() * j * inverse;
      Vector slope = j.transpose() * weights_.cwiseProduct(r) * inverse;
      const Vector precision = box_.spread.array().square().inverse();
      normal.diagonal() += precision;
      slope += precision.cwiseProduct(logs_ - box_.prior);
      bool better = false;
      double gain = 0;
      for (; !better && damping < 1e12; damping *= 4) {
        Matrix damped = normal;
        damped.diagonal() *= 1 + damping;
        const Vector next = (logs_ - damped.ldlt().solve(slope)).cwiseMax(box_.low).cwiseMin(box_.high);
        const Vector there = residuals(next);
        if (const double then = cost(next, there); then < now) {
          better = true;
          gain = now - then;
          logs_ = next;
          r = there;
          now = then;
        }
      }
      if (!better || gain < 1e-10 * (1 + now)) return;
      damping = std::max(1e-9, damping / 40);
    }
  }

  /// Scatter and weights that belong together (Lange et al. 1989), for the present parameters.
  void reweigh() {
    if (problem_.observations == 0) return;
    const Vector r = residuals(logs_);
    const Matrix covariance = information().ldlt().solve(Matrix::Identity(logs_.size(), logs_.size()));
    const double left = std::max(0.0, freedom(covariance));
    const double expected = problem_.expected_scatter * problem_.expected_scatter * kScatterWeight;
    const double sum = (weights_.array() * r.array().square()).sum();
    scatter_ = std::max(kLeastScatter, std::sqrt((expected + sum) / (kScatterWeight + left)));
    weights_ = (kStudentFreedom + 1) / (kStudentFreedom + (r / scatter_).array().square());
  }

  /// Observations less the parameters that they, and not the priors, determine.
  [[nodiscard]] double freedom(const Matrix& covariance) const {
    const double by_prior = (covariance.diagonal().array() / box_.spread.array().square()).sum();
    return static_cast<double>(problem_.observations) - (static_cast<double>(logs_.size()) - by_prior);
  }

  const Problem& problem_;
  Box box_;
  Vector logs_;
  double scatter_;
  Vector weights_;
  int iterations_ = 0;
};

core::Result<void> check(const Problem& problem) {
  if (problem.parameters.empty()) return core::fail(core::Errc::wrong_use, "a fit needs at least one parameter");
  for (const auto& p : problem.parameters)
    if (!(p.low > 0 && p.low <= p.prior && p.prior <= p.high && p.prior_spread > 0))
      return core::fail(core::Errc::wrong_use, fmt::format("the fit's parameter {} has the prior {} {}, which must lie "
                                                           "between its bounds {} and {} with a spread above zero",
                                                           p.name, p.prior, p.unit, p.low, p.high));
  return {};
}

}  // namespace

core::Result<Fit> fit(const Problem& problem) {
  if (auto ok = check(problem); !ok) return core::fail(ok.error());
  Fitter fitter(problem);
  if (!fitter.starts())
    return core::fail(core::Errc::unusable_input,
                      "an observation gives no number: check that all times, powers and counts are above zero");
  fitter.run();
  return fitter.result();
}

double spread_of(const Fit& fit, const std::function<double(std::span<const double>)>& model) {
  const auto size = static_cast<Eigen::Index>(fit.size());
  Vector slope(size);
  auto values = fit.values;
  const double step = std::exp(kDerivativeStep);
  for (std::size_t i = 0; i < fit.size(); ++i) {
    const double value = values[i];
    values[i] = value * step;
    const double above = model(values);
    values[i] = value / step;
    const double below = model(values);
    values[i] = value;
    slope[static_cast<Eigen::Index>(i)] = std::log(above / below) / (2 * kDerivativeStep);
  }
  const Eigen::Map<const Matrix> covariance(fit.covariance.data(), size, size);
  return std::sqrt(std::max(0.0, slope.dot(covariance * slope)));
}

Figure figure_of(const Fit& fit, const std::function<double(std::span<const double>)>& model, double more_spread) {
  const double value = model(fit.values);
  // The scatter was estimated, so Student's t; what the caller adds is said, not estimated.
  const double estimated = student_t90(fit.freedom) * std::hypot(spread_of(fit, model), fit.scatter);
  const double factor = std::exp(std::hypot(estimated, kNormal90 * more_spread));
  return {value, value / factor, value * factor};
}

double student_t90(double freedom) {
  // Abramowitz & Stegun 26.7.5 (Cornish-Fisher) from three degrees of freedom on; below that exact values,
  // interpolated.
  constexpr double z = kNormal90;
  if (freedom < 3) {
    constexpr double exact[] = {6.3137515, 2.9199856, 2.3533634};
    const double at = std::clamp(freedom, 1.0, 3.0) - 1;
    const auto i = std::min<std::size_t>(1, static_cast<std::size_t>(at));
    const double share = at - static_cast<double>(i);
    return exact[i] * (1 - share) + exact[i + 1] * share;
  }
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  const double n = freedom;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

}  // namespace gradwatt::planning

#include "gradwatt/training/data/shallow_water.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "gradwatt/training/data/example_random.hpp"

namespace gradwatt::training {
namespace {

constexpr double kRadians = std::numbers::pi / 180.0;
/// RK4 is stable for ω·dt below this on the imaginary axis.
constexpr double kRungeKuttaLimit = 2.8284;
constexpr double kSafety = 0.7;
/// Random flows are made of waves around the globe up to this number, across it up to the next.
constexpr int kWavesAround = 8, kWavesAcross = 6;

}  // namespace

ShallowWater::ShallowWater(const ShallowWaterSettings& settings)
    : settings_(settings),
      nx_(settings.columns),
      ny_(settings.rows),
      cells_(static_cast<std::size_t>(nx_) * static_cast<std::size_t>(ny_)),
      dx_(settings.radius_m * 2 * std::numbers::pi / nx_),
      dy_(settings.radius_m * 2 * settings.latitude_limit_deg * kRadians / ny_) {
  const double height = 2 * settings.latitude_limit_deg / ny_;
  for (int j = 0; j < ny_; ++j) cos_cell_.push_back(std::cos(latitude_deg(j) * kRadians));
  for (int j = 0; j <= ny_; ++j) {
    const double latitude = (-settings.latitude_limit_deg + j * height) * kRadians;
    cos_side_.push_back(std::cos(latitude));
    coriolis_side_.push_back(2 * settings.rotation_per_s * std::sin(latitude));
  }
  const auto sides = cells_ + static_cast<std::size_t>(nx_);
  state_.assign(2 * cells_ + sides, 0.0);
  std::fill_n(state_.begin(), cells_, settings.mean_depth_m);
  flux_u_.resize(cells_);
  head_.resize(cells_);
  flux_v_.assign(sides, 0.0);     // the first and last row stay 0: walls
  vorticity_.assign(sides, 0.0);  // likewise: nothing flows along them there
  change_.assign(state_.size(), 0.0);
  sum_ = stage_ = state_;
}

double ShallowWater::latitude_deg(int row) const {
  return -settings_.latitude_limit_deg + (row + 0.5) * 2 * settings_.latitude_limit_deg / ny_;
}

void ShallowWater::fluxes(const double* h, const double* u, const double* v) {
  for (int j = 0; j < ny_; ++j) {
    const auto r = row(j);
    flux_u_[r] = u[r] * 0.5 * (h[r + static_cast<std::size_t>(nx_) - 1] + h[r]);
    for (int i = 1; i < nx_; ++i) {
      const auto at = r + static_cast<std::size_t>(i);
      flux_u_[at] = u[at] * 0.5 * (h[at - 1] + h[at]);
    }
  }
  for (int j = 1; j < ny_; ++j) {
    const double half = 0.5 * cos_side_[static_cast<std::size_t>(j)];
    for (auto at = row(j); at < row(j + 1); ++at)
      flux_v_[at] = v[at] * half * (h[at - static_cast<std::size_t>(nx_)] + h[at]);
  }
}

void ShallowWater::vorticity_and_head(const double* h, const double* u, const double* v) {
  const auto nx = static_cast<std::size_t>(nx_);
  for (int j = 1; j < ny_; ++j) {
    const auto jj = static_cast<std::size_t>(j);
    const double f = coriolis_side_[jj], across = 1 / (dx_ * cos_side_[jj]), along = 1 / (dy_ * cos_side_[jj]);
    const double north = cos_cell_[jj], south = cos_cell_[jj - 1];
    const auto corner = [&](std::size_t at, std::size_t west) {
      const double curl = (v[at] - v[west]) * across - (u[at] * north - u[at - nx] * south) * along;
      return (curl + f) / (0.25 * (h[at] + h[west] + h[at - nx] + h[west - nx]));
    };
    const auto r = row(j);
    vorticity_[r] = corner(r, r + nx - 1);
    for (std::size_t at = r + 1; at < r + nx; ++at) vorticity_[at] = corner(at, at - 1);
  }
  for (int j = 0; j < ny_; ++j) {
    const auto jj = static_cast<std::size_t>(j);
    const double south = 0.25 * cos_side_[jj] / cos_cell_[jj], north = 0.25 * cos_side_[jj + 1] / cos_cell_[jj];
    const auto head = [&](std::size_t at, std::size_t east) {
      return settings_.gravity_m_s2 * h[at] + 0.25 * (u[at] * u[at] + u[east] * u[east]) + south * v[at] * v[at] +
             north * v[at + nx] * v[at + nx];
    };
    const auto r = row(j);
    for (std::size_t at = r; at + 1 < r + nx; ++at) head_[at] = head(at, at + 1);
    head_[r + nx - 1] = head(r + nx - 1, r);
  }
}

void ShallowWater::change_depth(double* dh) const {
  const auto nx = static_cast<std::size_t>(nx_);
  for (int j = 0; j < ny_; ++j) {
    const double cosine = cos_cell_[static_cast<std::size_t>(j)];
    const double across = 1 / (dx_ * cosine), along = 1 / (dy_ * cosine);
    const auto r = row(j);
    const auto change = [&](std::size_t at, std::size_t east) {
      return (flux_u_[at] - flux_u_[east]) * across + (flux_v_[at] - flux_v_[at + nx]) * along;
    };
    for (std::size_t at = r; at + 1 < r + nx; ++at) dh[at] = change(at, at + 1);
    dh[r + nx - 1] = change(r + nx - 1, r);
  }
}

void ShallowWater::change_u(const double* u, double* du) const {
  const auto nx = static_cast<std::size_t>(nx_);
  for (int j = 0; j < ny_; ++j) {
    const double cosine = cos_cell_[static_cast<std::size_t>(j)];
    const double quarter = 0.25 / cosine, slope = 1 / (dx_ * cosine);
    const double smooth_x = settings_.viscosity_m2_s * slope * slope, smooth_y = settings_.viscosity_m2_s / (dy_ * dy_);
    const auto r = row(j);
    // At a wall the flow slips: the row beyond is the row itself.
    const double* const below = j > 0 ? u - nx : u;
    const double* const above = j + 1 < ny_ ? u + nx : u;
    const auto change = [&](std::size_t at, std::size_t west, std::size_t east) {
      const double turning = vorticity_[at] * (flux_v_[at] + flux_v_[west]) +
                             vorticity_[at + nx] * (flux_v_[at + nx] + flux_v_[west + nx]);
      return quarter * turning - (head_[at] - head_[west]) * slope + smooth_x * (u[west] - 2 * u[at] + u[east]) +
             smooth_y * (below[at] - 2 * u[at] + above[at]);
    };
    du[r] = change(r, r + nx - 1, r + 1);
    for (std::size_t at = r + 1; at + 1 < r + nx; ++at) du[at] = change(at, at - 1, at + 1);
    du[r + nx - 1] = change(r + nx - 1, r + nx - 2, r);
  }
}

void ShallowWater::change_v(const double* v, double* dv) const {
  const auto nx = static_cast<std::size_t>(nx_);
  for (int j = 1; j < ny_; ++j) {
    const double slope = 1 / (dx_ * cos_side_[static_cast<std::size_t>(j)]);
    const double smooth_x = settings_.viscosity_m2_s * slope * slope, smooth_y = settings_.viscosity_m2_s / (dy_ * dy_);
    const auto r = row(j);
    const auto change = [&](std::size_t at, std::size_t west, std::size_t east) {
      const double turning =
          vorticity_[at] * (flux_u_[at] + flux_u_[at - nx]) + vorticity_[east] * (flux_u_[east] + flux_u_[east - nx]);
      return -0.25 * turning - (head_[at] - head_[at - nx]) / dy_ + smooth_x * (v[west] - 2 * v[at] + v[east]) +
             smooth_y * (v[at - nx] - 2 * v[at] + v[at + nx]);
    };
    dv[r] = change(r, r + nx - 1, r + 1);
    for (std::size_t at = r + 1; at + 1 < r + nx; ++at) dv[at] = change(at, at - 1, at + 1);
    dv[r + nx - 1] = change(r + nx - 1, r + nx - 2, r);
  }
}

void ShallowWater::tendency(const std::vector<double>& state, std::vector<double>& change) {
  const double *const h = state.data(), *const u = h + cells_, *const v = u + cells_;
  fluxes(h, u, v);
  vorticity_and_head(h, u, v);
  change_depth(change.data());
  change_u(u, change.data() + cells_);
  change_v(v, change.data() + 2 * cells_);  // its wall rows stay 0
}

void ShallowWater::step(double seconds) {
  constexpr double kShare[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  constexpr double kNext[] = {0.5, 0.5, 1.0};
  sum_ = state_;
  stage_ = state_;
  for (int k = 0; k < 4; ++k) {
    tendency(stage_, change_);
    const double share = kShare[k] * seconds;
    for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += share * change_[i];
    if (k == 3) break;
    const double ahead = kNext[k] * seconds;
    for (std::size_t i = 0; i < stage_.size(); ++i) stage_[i] = state_[i] + ahead * change_[i];
  }
  std::copy(sum_.begin(), sum_.end(), state_.begin());  // in place: callers hold views of the state
}

bool ShallowWater::advance(double seconds) {
  // The wave speed changes slowly beside the steps: measured once, with the safety of stable_step_s().
  const double longest = stable_step_s();
  if (!std::isfinite(longest) || longest <= 0) return false;
  const auto steps = std::max(1, static_cast<int>(std::ceil(seconds / longest)));
  for (int i = 0; i < steps; ++i) step(seconds / steps);
  const auto depth = std::span<const double>(state_).subspan(0, cells_);
  return std::all_of(depth.begin(), depth.end(), [](double h) { return std::isfinite(h) && h > 0; });
}

double ShallowWater::stable_step_s() const {
  const auto h = std::span(state_).subspan(0, cells_), flow = std::span(state_).subspan(cells_);
  const double deepest = *std::max_element(h.begin(), h.end());
  double fastest = 0;
  for (const double speed : flow) fastest = std::max(fastest, std::abs(speed));
  const double narrow = dx_ * std::min(cos_side_.front(), cos_side_.back());
  const double cells = std::sqrt(1 / (narrow * narrow) + 1 / (dy_ * dy_));
  const double waves = 2 * (std::sqrt(settings_.gravity_m_s2 * deepest) + fastest) * cells;
  return kSafety * kRungeKuttaLimit / (waves + 2 * settings_.rotation_per_s);
}

void ShallowWater::begin_random(std::uint64_t seed) {
  ExampleRandom random = example_random(seed, 0x57A7E, 0);
  const auto nx = static_cast<std::size_t>(nx_);
  std::vector<double> stream((static_cast<std::size_t>(ny_) + 1) * nx, 0.0);  // at the corners
  for (int m = 0; m <= kWavesAround; ++m) {
    for (int n = 1; n <= kWavesAcross; ++n) {
      // Amplitudes fall with the wave number, so that a few large vortices rule.
      const double size = random.normal() / (1.0 + m * m + n * n), phase = random.uniform(0, 2 * std::numbers::pi);
      for (int j = 1; j < ny_; ++j) {
        const double y = static_cast<double>(j) / ny_;
        const double rest_at_walls = std::pow(1 - (2 * y - 1) * (2 * y - 1), 2);
        const double across = size * rest_at_walls * std::sin(n * std::numbers::pi * y);
        for (std::size_t i = 0; i < nx; ++i) {
          stream[row(j) + i] += across * std::cos(m * (static_cast<double>(i) / nx_) * 2 * std::numbers::pi + phase);
        }
      }
    }
  }
  auto h = depth_m(), u = u_m_s(), v = v_m_s();
  double squares = 0;
  for (int j = 0; j < ny_; ++j) {
    for (std::size_t i = 0; i < nx; ++i) {
      const auto at = row(j) + i, east = row(j) + (i + 1) % nx;
      u[at] = -(stream[at + nx] - stream[at]) / dy_;
      v[at] = j == 0 ? 0.0 : (stream[east] - stream[at]) / (dx_ * cos_side_[static_cast<std::size_t>(j)]);
      squares += u[at] * u[at] + v[at] * v[at];
    }
  }
  const double scale = settings_.wind_rms_m_s / std::sqrt(squares / static_cast<double>(cells_));
  for (auto& speed : u) speed *= scale;
  for (auto& speed : v) speed *= scale;
  double excess = 0, area = 0;
  for (int j = 0; j < ny_; ++j) {
    const double f = 2 * settings_.rotation_per_s * std::sin(latitude_deg(j) * kRadians);
    for (std::size_t i = 0; i < nx; ++i) {
      const auto at = row(j) + i, east = row(j) + (i + 1) % nx;
      const double middle = 0.25 * (stream[at] + stream[east] + stream[at + nx] + stream[east + nx]);
      h[at] = settings_.mean_depth_m + f * scale * middle / settings_.gravity_m_s2;
      excess += (h[at] - settings_.mean_depth_m) * cos_cell_[static_cast<std::size_t>(j)];
      area += cos_cell_[static_cast<std::size_t>(j)];
    }
  }
  for (auto& depth : h) depth -= excess / area;
}

double ShallowWater::volume_m3() const {
  double volume = 0;
  for (int j = 0; j < ny_; ++j) {
    double sum = 0;
    for (auto at = row(j); at < row(j + 1); ++at) sum += state_[at];
    volume += sum * cos_cell_[static_cast<std::size_t>(j)] * dx_ * dy_;
  }
  return volume;
}

double ShallowWater::energy_m5_s2() const {
  const auto nx = static_cast<std::size_t>(nx_);
  const double *const h = state_.data(), *const u = h + cells_, *const v = u + cells_;
  double energy = 0;
  for (int j = 0; j < ny_; ++j) {
    const auto jj = static_cast<std::size_t>(j);
    for (std::size_t i = 0; i < nx; ++i) {
      const auto at = row(j) + i, east = row(j) + (i + 1) % nx;
      const double kinetic = 0.25 * (u[at] * u[at] + u[east] * u[east]) * cos_cell_[jj] +
                             0.25 * (v[at] * v[at] * cos_side_[jj] + v[at + nx] * v[at + nx] * cos_side_[jj + 1]);
      energy += h[at] * kinetic + 0.5 * settings_.gravity_m_s2 * h[at] * h[at] * cos_cell_[jj];
    }
  }
  return energy * dx_ * dy_;
}

void ShallowWater::write_fields(std::span<float> fields) const {
  const auto nx = static_cast<std::size_t>(nx_);
  const double *const h = state_.data(), *const u = h + cells_, *const v = u + cells_;
  for (int j = 0; j < ny_; ++j) {
    for (std::size_t i = 0; i < nx; ++i) {
      const auto at = row(j) + i, east = row(j) + (i + 1) % nx;
      fields[at] = static_cast<float>(h[at]);
      fields[cells_ + at] = static_cast<float>(0.5 * (u[at] + u[east]));
      fields[2 * cells_ + at] = static_cast<float>(0.5 * (v[at] + v[at + nx]));
    }
  }
}

}  // namespace gradwatt::training

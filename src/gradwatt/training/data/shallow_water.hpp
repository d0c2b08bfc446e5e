// A layer of water on a turning sphere: the non-linear rotating shallow-water equations, the smallest system that
// makes weather-like fields (jets, vortices, gravity and Rossby waves). Made data for forecast models: nothing to
// download, as much of it as wanted, and a true next state for every state.
//
// Scheme: latitude–longitude C grid, vector-invariant form, Sadourny's (1975) energy-conserving fluxes with the metric
// of the sphere, fourth-order Runge–Kutta. Walls at ±latitude_limit keep the cells from shrinking to nothing at the
// poles. Mass is conserved to rounding. Momentum (not depth) is smoothed by a small viscosity, so energy decays slowly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gradwatt::training {

struct ShallowWaterSettings {
  int rows = 64, columns = 128;
  double latitude_limit_deg = 80.0;
  double mean_depth_m = 1500.0;
  double radius_m = 6.371e6;          ///< the Earth's mean radius
  double rotation_per_s = 7.2921e-5;  ///< the Earth's, per sidereal day
  double gravity_m_s2 = 9.80665;
  double viscosity_m2_s = 1.0e5;  ///< halves waves of two cells (600 km at 2.8°) in about a day
  double wind_rms_m_s = 15.0;     ///< of the random initial state
};

/// One thread at a time; several objects in several threads.
class ShallowWater {
 public:
  /// At rest with a flat surface. Rows and columns must be at least 4.
  explicit ShallowWater(const ShallowWaterSettings& settings);

  /// A random flow near geostrophic balance (so that it is slow weather, not splashing), from `seed` alone.
  void begin_random(std::uint64_t seed);
  /// Advances by steps of equal length, none longer than stable_step_s(). False: it has become unstable.
  [[nodiscard]] bool advance(double seconds);

  // The state. Depth lies in the cells; u on their west sides; v on their south sides, rows + 1 of them, 0 at the
  // walls.
  [[nodiscard]] std::span<double> depth_m() { return std::span(state_).subspan(0, cells_); }
  [[nodiscard]] std::span<double> u_m_s() { return std::span(state_).subspan(cells_, cells_); }
  [[nodiscard]] std::span<double> v_m_s() { return std::span(state_).subspan(2 * cells_); }

  /// 70 % of the step at which the fastest wave of this state becomes unstable.
  [[nodiscard]] double stable_step_s() const;
  /// Volume of the water: constant.
  [[nodiscard]] double volume_m3() const;
  /// Kinetic and potential energy over density.
  [[nodiscard]] double energy_m5_s2() const;
  [[nodiscard]] double latitude_deg(int row) const;
  /// Depth, eastward and northward velocity at the middle of the cells: 3 × rows × columns.
  void write_fields(std::span<float> fields) const;

 private:
  void tendency(const std::vector<double>& state, std::vector<double>& change);
  void fluxes(const double* h, const double* u, const double* v);
  void vorticity_and_head(const double* h, const double* u, const double* v);
  void change_depth(double* dh) const;
  void change_u(const double* u, double* du) const;
  void change_v(const double* v, double* dv) const;
  void step(double seconds);
  [[nodiscard]] std::size_t row(int j) const { return static_cast<std::size_t>(j) * static_cast<std::size_t>(nx_); }

  ShallowWaterSettings settings_;
  int nx_, ny_;
  std::size_t cells_;
  double dx_, dy_;  // at the equator, metres
  std::vector<double> cos_cell_, cos_side_, coriolis_side_;
  std::vector<double> state_;
  // Working memory of tendency() and step(), filled anew in each.
  std::vector<double> flux_u_, flux_v_, vorticity_, head_;
  std::vector<double> change_, sum_, stage_;
};

}  // namespace gradwatt::training

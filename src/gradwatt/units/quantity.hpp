// Physical quantities as types: a Power cannot be added to an Energy, and no integer of unknown unit travels.
//
//   Energy used = milliwatts(1500) * 2s;          // 3 J
//   Power mean = used / 2s;                       // 1.5 W
//   double shown = mean.si();                     // bare numbers only at the edge: files, flags, JSON
//
// Time is std::chrono. Temperatures, ratios and counts stay plain doubles named with their unit.
#pragma once

#include <chrono>
#include <compare>

namespace gradwatt::units {

/// One double in the SI unit of Tag. Same size and cost as the double.
template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  /// From a value in the SI unit (W, J, Hz, B, B/s).
  static constexpr Quantity from_si(double value) { return Quantity{value}; }
  /// The value in the SI unit.
  [[nodiscard]] constexpr double si() const { return value_; }

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) { return value_ += other.value_, *this; }
  constexpr Quantity& operator-=(Quantity other) { return value_ -= other.value_, *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity{a.value_ + b.value_}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity{a.value_ - b.value_}; }
  friend constexpr Quantity operator*(Quantity a, double k) { return Quantity{a.value_ * k}; }
  friend constexpr Quantity operator*(double k, Quantity a) { return Quantity{a.value_ * k}; }
  friend constexpr Quantity operator/(Quantity a, double k) { return Quantity{a.value_ / k}; }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }

 private:
  explicit constexpr Quantity(double value) : value_(value) {}
  double value_ = 0;
};

using Power = Quantity<struct PowerTag>;          ///< watt
using Energy = Quantity<struct EnergyTag>;        ///< joule
using Frequency = Quantity<struct FrequencyTag>;  ///< hertz
using Bytes = Quantity<struct BytesTag>;          ///< byte
using Bandwidth = Quantity<struct BandwidthTag>;  ///< byte per second

constexpr Power watts(double v) { return Power::from_si(v); }
constexpr Power milliwatts(double v) { return Power::from_si(v * 1e-3); }
constexpr Energy joules(double v) { return Energy::from_si(v); }
constexpr Energy millijoules(double v) { return Energy::from_si(v * 1e-3); }
constexpr Energy microjoules(double v) { return Energy::from_si(v * 1e-6); }
constexpr Energy kilowatt_hours(double v) { return Energy::from_si(v * 3.6e6); }
constexpr Frequency megahertz(double v) { return Frequency::from_si(v * 1e6); }
constexpr Bytes bytes(double v) { return Bytes::from_si(v); }

/// A std::chrono duration as a number of seconds.
template <class Rep, class Period>
constexpr double in_seconds(std::chrono::duration<Rep, Period> d) {
  return std::chrono::duration<double>(d).count();
}
constexpr double in_watt_hours(Energy e) { return e.si() / 3600; }
constexpr double in_kilowatt_hours(Energy e) { return e.si() / 3.6e6; }

template <class Rep, class Period>
constexpr Energy operator*(Power p, std::chrono::duration<Rep, Period> t) {
  return joules(p.si() * in_seconds(t));
}
template <class Rep, class Period>
constexpr Power operator/(Energy e, std::chrono::duration<Rep, Period> t) {
  return watts(e.si() / in_seconds(t));
}
constexpr std::chrono::duration<double> operator/(Energy e, Power p) {
  return std::chrono::duration<double>(e.si() / p.si());
}
template <class Rep, class Period>
constexpr Bandwidth operator/(Bytes b, std::chrono::duration<Rep, Period> t) {
  return Bandwidth::from_si(b.si() / in_seconds(t));
}

}  // namespace gradwatt::units

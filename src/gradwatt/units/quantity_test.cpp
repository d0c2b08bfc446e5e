#include "gradwatt/units/quantity.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace gradwatt::units {
namespace {

using namespace std::chrono_literals;

template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };

static_assert(sizeof(Power) == sizeof(double));
static_assert(std::is_trivially_copyable_v<Energy>);
static_assert(!Addable<Power, Energy>);
static_assert(!std::is_convertible_v<double, Power>);

TEST(Quantity, PowerTimesTimeIsEnergyAndBack) {
  constexpr Energy used = milliwatts(1500) * 2s;
  EXPECT_DOUBLE_EQ(used.si(), 3.0);
  EXPECT_DOUBLE_EQ((used / 2s).si(), 1.5);
  EXPECT_DOUBLE_EQ((used / watts(1.5)).count(), 2.0);
}

TEST(Quantity, VendorUnitsConvertToSi) {
  EXPECT_DOUBLE_EQ(millijoules(2500).si(), 2.5);
  EXPECT_DOUBLE_EQ(microjoules(5e6).si(), 5.0);
  EXPECT_DOUBLE_EQ(in_kilowatt_hours(kilowatt_hours(2)), 2.0);
  EXPECT_DOUBLE_EQ(in_watt_hours(joules(7200)), 2.0);
}

TEST(Quantity, OrderAndScale) {
  EXPECT_LT(watts(1), watts(2));
  EXPECT_DOUBLE_EQ((watts(3) * 2).si(), 6.0);
  EXPECT_DOUBLE_EQ(watts(3) / watts(2), 1.5);
}

}  // namespace
}  // namespace gradwatt::units

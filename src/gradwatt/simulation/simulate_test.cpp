#include "gradwatt/simulation/simulate.hpp"
#include <gtest/gtest.h>

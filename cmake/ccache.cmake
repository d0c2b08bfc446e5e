# A second build of the same sources, in any build folder, takes seconds.
find_program(GRADWATT_CCACHE ccache)
if(GRADWATT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${GRADWATT_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${GRADWATT_CCACHE})
endif()

# Headers that cost seconds each, parsed once for all who include them. A source still includes what it uses: the header
# test compiles without these.
#
# gradwatt_precompiled(NAME [TESTS] HEADER … LIBRARIES …) declares such a set, for libraries or for tests, which are
# compiled with other flags; gradwatt_use_precompiled(TARGET NAME) uses it. Only with GCC, which lets targets differ in
# definitions that the headers do not ask for.
option(GRADWATT_PRECOMPILED "Precompiled headers (GCC)" ON)

function(gradwatt_precompiled name)
  cmake_parse_arguments(arg "TESTS" "" "LIBRARIES" ${ARGN})
  if(NOT GRADWATT_PRECOMPILED OR NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    return()
  endif()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(GENERATE OUTPUT ${source} CONTENT "")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${source})
  if(arg_TESTS)  # as CMake compiles the sources of programs
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIE ${GRADWATT_TEST_OPTIONS})
  endif()
  target_link_libraries(${name} PRIVATE gradwatt_flags ${arg_LIBRARIES})
  target_precompile_headers(${name} PRIVATE ${arg_UNPARSED_ARGUMENTS})
  gradwatt_cache_precompiled(${name})
endfunction()

function(gradwatt_use_precompiled target name)
  get_target_property(sources ${target} SOURCES)
  if(TARGET ${name} AND NOT sources MATCHES "\\.c(;|$)")  # the set is for C++ alone
    target_precompile_headers(${target} REUSE_FROM ${name})
    gradwatt_cache_precompiled(${target})
  endif()
endfunction()

# ccache keeps what includes a precompiled header only when told that definitions and times in it do not matter.
function(gradwatt_cache_precompiled target)
  if(GRADWATT_CCACHE)
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER
                          "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${GRADWATT_CCACHE}")
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  endif()
endfunction()

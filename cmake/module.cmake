# gradwatt_module(NAME SOURCES … [TESTS …] [USES module …] [PRIVATE library …] [PUBLIC library …])
#
# Declares the library gradwatt::NAME of one folder, and the test program NAME_test of the tests beside its sources.
# USES names other modules (only those that ARCHITECTURE.md allows; a test compares), PRIVATE third-party libraries
# whose headers stay inside the folder. NAME may be a path such as backends/nvml.

add_library(gradwatt_flags INTERFACE)
target_include_directories(gradwatt_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(gradwatt_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-sign-conversion
                       -Wno-missing-field-initializers $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(GRADWATT_SANITIZE)
  target_compile_options(gradwatt_flags INTERFACE -fsanitize=${GRADWATT_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(gradwatt_flags INTERFACE -fsanitize=${GRADWATT_SANITIZE})
endif()

# ./test runs the tests of these under the address and undefined-behaviour sanitizers: what reads foreign bytes or holds
# threads and buffers. ./test --all runs all unit tests so, and the second list under the thread sanitizer.
set(GRADWATT_SANITIZED_MODULES core record telemetry ingest launch launch/marks backends/nvml backends/rapl backends/hwmon
    backends/proc)
set(GRADWATT_THREADED_MODULES core record telemetry)

# Builds what a label runs: `cmake --build … --target sanitized_tests`, `ctest -L sanitized`.
set(GRADWATT_TEST_GROUPS unit sanitized threads)
foreach(group IN LISTS GRADWATT_TEST_GROUPS)
  add_custom_target(${group}_tests)
endforeach()

# What tests say runs once: the compiler need not spend seconds on each file of them. The code under test keeps its flags.
set(GRADWATT_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)

# Every test program finds its folders here, never in the working folder. TORCH: most of its sources include LibTorch.
function(gradwatt_test target)
  cmake_parse_arguments(arg "TORCH" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE gradwatt_flags ${arg_LIBRARIES} GTest::gmock GTest::gtest_main)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE GRADWATT_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                             GRADWATT_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_compile_options(${target} PRIVATE ${GRADWATT_TEST_OPTIONS})
  if(arg_TORCH)
    gradwatt_use_precompiled(${target} gradwatt_torch_test_headers)
  else()
    gradwatt_use_precompiled(${target} gradwatt_test_headers)
  endif()
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${target} COMMAND ${target})
  set_tests_properties(${target} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 300)
  foreach(group IN LISTS GRADWATT_TEST_GROUPS)
    if(group IN_LIST arg_LABELS)
      add_dependencies(${group}_tests ${target})
    endif()
  endforeach()
endfunction()

function(gradwatt_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;TESTS;USES;PRIVATE;PUBLIC" ${ARGN})
  string(REPLACE "/" "_" flat ${name})
  set(target gradwatt_${flat})
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE ${arg_PRIVATE})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(gradwatt::${flat} ALIAS ${target})
  target_link_libraries(${target} ${scope} gradwatt_flags ${arg_PUBLIC})
  foreach(used IN LISTS arg_USES)
    target_link_libraries(${target} ${scope} gradwatt::${used})
  endforeach()
  set(torch)
  if(gradwatt::torch IN_LIST arg_PUBLIC)
    set(torch TORCH)
    gradwatt_use_precompiled(${target} gradwatt_torch_headers)
  endif()
  if(GRADWATT_TESTS AND arg_TESTS)
    set(labels unit)
    if(name IN_LIST GRADWATT_SANITIZED_MODULES)
      list(APPEND labels sanitized)
    endif()
    if(name IN_LIST GRADWATT_THREADED_MODULES)
      list(APPEND labels threads)
    endif()
    gradwatt_test(${flat}_test ${torch} SOURCES ${arg_TESTS} LIBRARIES ${target} LABELS ${labels})
  endif()
endfunction()

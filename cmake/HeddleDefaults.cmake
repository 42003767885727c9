# What every target of this project is compiled with.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_FLAGS_RELEASE STREQUAL "-O3 -DNDEBUG")
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")  # kernels have options of their own
endif()
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(HEDDLE_CCACHE ccache)
  if(HEDDLE_CCACHE)
    # Build folders share what they compile alike: a precompiled header's path is relative to its folder.
    # The sloppiness is what precompiled headers need.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1
      CCACHE_BASEDIR=${CMAKE_BINARY_DIR} CCACHE_SLOPPINESS=pch_defines,time_macros ${HEDDLE_CCACHE})
  endif()
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The compiled parts' own flags and include roots; never part of what is installed.
add_library(heddle_internal INTERFACE)
# Sections let a static program leave out the functions that it does not use.
target_compile_options(heddle_internal INTERFACE
  -Wall -Wextra -Wpedantic "$<$<CONFIG:Release>:-ffunction-sections;-fdata-sections>")
if(HEDDLE_WARNINGS_AS_ERRORS)
  target_compile_options(heddle_internal INTERFACE -Werror)
endif()
target_compile_definitions(heddle_internal INTERFACE
  $<$<OR:$<CONFIG:Debug>,$<BOOL:${HEDDLE_VERIFY_PASSES}>>:HEDDLE_VERIFY_EACH_PASS>)
target_include_directories(heddle_internal INTERFACE
  ${PROJECT_SOURCE_DIR}/.  # else ccache 4.7, if the build folder is within, makes it relative to that
  ${PROJECT_SOURCE_DIR}/ir/include
  ${PROJECT_SOURCE_DIR}/frontend/include)

# heddle_precompile(TARGET HEADERS...): precompiles the headers that most files of the library include,
# and HEADERS. That each file includes what it uses of them all the same is tested (tests/layering).
set(HEDDLE_PRECOMPILED_HEADERS algorithm array functional map memory optional string string_view
  unordered_map variant vector fmt/format.h fmt/ranges.h)

function(heddle_precompile target)
  if(HEDDLE_PRECOMPILE)
    list(TRANSFORM HEDDLE_PRECOMPILED_HEADERS REPLACE "(.+)" "<\\1>" OUTPUT_VARIABLE headers)
    target_precompile_headers(${target} PRIVATE ${headers} ${ARGN})
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # for ccache
  endif()
endfunction()

# heddle_reuse_precompiled(TARGET FROM): what FROM has precompiled; both have the same options.
function(heddle_reuse_precompiled target from)
  if(HEDDLE_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${from})
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
endfunction()

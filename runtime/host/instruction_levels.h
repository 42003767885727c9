#pragma once

/// Compiles a function once for each level of x86-64 that gives it wider vectors. The loader picks
/// the machine's. Without GCC, or on another processor, it is compiled once.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define HEDDLE_FOR_EVERY_LEVEL \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HEDDLE_FOR_EVERY_LEVEL
#endif

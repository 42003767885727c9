#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

/// The arguments of a program of the gallery: --size N, --steps N, --out FILE.
struct Options {
  std::int64_t size = 0;
  std::int64_t steps = 0;
  std::string out = {};  ///< where the result is written as .npy; "": nowhere
};

/// Replaces the defaults by what the command line says. Ends the process if it cannot be read.
inline Options parse(int argc, char** argv, Options options) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--size" && !value.empty()) {
      options.size = std::atoll(value.c_str());
    } else if (name == "--steps" && !value.empty()) {
      options.steps = std::atoll(value.c_str());
    } else if (name == "--out" && !value.empty()) {
      options.out = value;
    } else {
      std::fprintf(stderr, "usage: %s [--size N] [--steps N] [--out FILE]\n", argv[0]);
      std::exit(2);
    }
  }
  return options;
}

/// The whole of main: calls run(options). An error is printed and gives the exit status 1.
template <class Run>
int run_example(int argc, char** argv, const Options& defaults, Run run) {
  try {
    run(parse(argc, argv, defaults));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

#include "runtime/host/examination.h"

#include <fmt/format.h>

#include "runtime/host/compiler.h"
#include "runtime/host/libraries/blas.h"
#include "runtime/host/libraries/highway.h"

namespace heddle::runtime::host {

namespace {

Finding compiler_finding() {
  const Compiler* compiler = find_compiler();
  if (compiler == nullptr) {
    return missing("C++ compiler", unavailable_reason(),
                   "Programs on the CPU are loaded from the cache, or interpreted, which is slow. "
                   "Install g++, or set HEDDLE_CXX to a compiler.");
  }
  Finding finding;
  finding.name = "C++ compiler";
  finding.text = fmt::format("{} ({})", compiler->name(), compiler->version);
  finding.facts = {{"path", compiler->name()}, {"version", compiler->version}};
  return finding;
}

}  // namespace

std::vector<Finding> examine() {
  return {device_finding("CPU", Device{}, "threads"), compiler_finding(),
          library_finding("OpenBLAS", blas().unavailable_reason(), "matmul on the CPU needs it."),
          library_finding("Highway", highway::unavailable_reason(),
                          "Sorts on the CPU take twice as long without it.")};
}

}  // namespace heddle::runtime::host

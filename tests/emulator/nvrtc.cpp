#include "runtime/cuda/nvrtc.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "codegen/common/sections.h"
#include "tests/emulator/kernels.h"

namespace heddle::emulator {
namespace {

/// One text of many kernels, each in a namespace of its own, as one kernel's text is made.
std::string merge(const std::vector<codegen::KernelSource>& kernels) {
  std::vector<std::string> sections;
  for (const codegen::KernelSource& kernel : kernels) {
    sections.insert(sections.end(), kernel.sections.begin(), kernel.sections.end());
  }
  std::string text;
  for (const std::string& name : codegen::close_over_needs(sections)) {
    text += codegen::section(name).text;
  }
  for (const codegen::KernelSource& kernel : kernels) {
    text += "namespace in_" + kernel.name + " {\n" + kernel.body + "}\n";
  }
  return text;
}

TEST_CASE("NVRTC compiles the kernels that the emulator runs, with no include path") {
  REQUIRE_MESSAGE(runtime::nvrtc::available(), runtime::nvrtc::unavailable_reason());
  const std::string text = merge(kernels_of_every_kind());
  const std::string cluster =
      merge({cluster_reduction("sum", "float", 1), cluster_reduction("argmax", "double", 8),
             cluster_reduction("all", "signed char", 32)});
  for (const char* architecture : {"sm_80", "sm_90", "sm_120"}) {
    CAPTURE(architecture);
    CHECK(runtime::nvrtc::compile(text, "kernels", architecture, {}).bytes.size() > 1000);
    if (std::string(architecture) != "sm_80") {
      CHECK(runtime::nvrtc::compile(cluster, "clusters", architecture, {}).bytes.size() > 1000);
    }
  }
}

}  // namespace
}  // namespace heddle::emulator

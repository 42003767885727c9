// Steps whose results calls share.

#include "passes/program/constants.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "passes/report/explain.h"
#include "tests/passes/plans.h"

using namespace heddle;
using namespace heddle::test;

namespace {

/// The constant steps of a program that multiplies its argument by a table, which is a kernel's
/// result: that of `made`, read backwards.
std::vector<bool> constant_steps(const std::string& made, const char* target,
                                 const std::string& extent = "4096") {
  const std::string text = "func @main(%0: f32[" + extent + "], %9: f32[]) -> f32[" + extent +
                           "] {\n" + made + " %4 = slice %3 starts=[" + extent +
                           "-1] steps=[-1] : f32[" + extent + "]\n %5 = multiply %0, %4 : f32[" +
                           extent + "]\n return %5\n}\n";
  return passes::constant_part(plan(text, target).program).steps;
}

}  // namespace

TEST_CASE("kernels that depend on no argument are constant") {
  for (const char* const target : {cuda_target, host_target}) {
    CHECK(constant_steps(" %2 = iota axes=[0] : f32[4096]\n %3 = cumsum %2 axes=[0] : f32[4096]\n",
                         target) == std::vector<bool>{true, false});
    // Of an array, of a number, of an extent, and of too many bytes.
    CHECK(constant_steps(" %3 = cumsum %0 axes=[0] : f32[4096]\n", target).empty());
    CHECK(constant_steps(" %1 = broadcast_to %9 : f32[4096]\n"
                         " %3 = cumsum %1 axes=[0] : f32[4096]\n",
                         target)
              .empty());
    CHECK(constant_steps(" %2 = iota axes=[0] : f32[n]\n %3 = cumsum %2 axes=[0] : f32[n]\n",
                         target, "n")
              .empty());
    CHECK(constant_steps(
              " %2 = iota axes=[0] : f32[8388608]\n %3 = cumsum %2 axes=[0] : f32[8388608]\n",
              target, "8388608")
              .empty());
  }
}

TEST_CASE("a report says which steps are constant") {
  const std::string text = passes::explain(plan(R"(func @main(%0: c64[100003]) -> c64[100003] {
  %1 = call fft.fft %0 : c64[100003]
  return %1
})",
                                                host_target));
  std::size_t kept = 0;
  for (std::size_t at = 0; (at = text.find("kept from call to call", at)) != std::string::npos;
       ++at)
    ++kept;
  CHECK(kept == 3);
}

TEST_CASE("no step writes over a constant that other steps read") {
  for (const std::string length : {"100003", "150001"}) {
    const passes::Program program =
        plan("func @main(%0: c64[" + length + "]) -> c64[" + length +
                 "] {\n %1 = call fft.fft %0 : c64[" + length + "]\n return %1\n}\n",
             host_target)
            .program;
    const passes::ConstantPart part = passes::constant_part(program);
    REQUIRE(!part.empty());
    // The chirp, and both kernels of its transform.
    CHECK(std::count(part.steps.begin(), part.steps.end(), true) == 3);
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      for (const passes::BufferUse& use : uses_of(program.steps[i])) {
        const bool is_constant = use.buffer.kind == passes::BufferRef::Kind::temporary &&
                                 part.temporaries[use.buffer.index];
        if (use.written) CHECK(is_constant == part.steps[i]);
      }
    }
  }
}

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "passes/calls/fft.h"
#include "passes/plan/item_vectors.h"
#include "tests/passes/plans.h"

using namespace heddle;
using namespace heddle::test;

namespace {

std::size_t kernels_of(const char* text) { return plan(text, host_target).kernels.size(); }

}  // namespace

TEST_CASE("on the CPU, the last kernel of a long transform stores the result in order") {
  CHECK(kernels_of(R"(func @main(%0: c64[2,262144]) -> c64[2,262144] {
  %1 = call fft.fft %0 : c64[2,262144]
  return %1
})") == 2);
  // Ops on single elements join it.
  CHECK(kernels_of(R"(func @main(%0: c64[2,262144]) -> f32[2,262144] {
  %1 = call fft.fft %0 : c64[2,262144]
  %2 = absolute %1 : f32[2,262144]
  return %2
})") == 2);
  // What reads two elements at once reads them from memory, in order: no operand is transposed.
  const passes::PlannedProgram mirrored = plan(R"(func @main(%0: c64[262144]) -> c64[262144] {
  %1 = call fft.fft %0 : c64[262144]
  %2 = slice %1 starts=[262143] steps=[-1] : c64[262144]
  %3 = add %1, %2 : c64[262144]
  return %3
})",
                                               host_target);
  REQUIRE(mirrored.kernels.size() == 3);
  for (const passes::Instruction& one : mirrored.kernels[2].body) {
    if (one.kind != passes::Instruction::Kind::load) continue;
    CHECK(mirrored.graph.op(mirrored.kernels[2].operands[one.operand].value) == ir::Op::transpose);
  }
}

TEST_CASE("on the CPU, a long transform to real numbers reads and writes memory twice") {
  const passes::PlannedProgram planned = plan(R"(func @main(%0: c64[524289]) -> f32[1048576] {
  %1 = call fft.irfft %0 {length = 1048576} : f32[1048576]
  return %1
})",
                                              host_target);
  REQUIRE(planned.kernels.size() == 2);
  // Neighbours of 128 bytes are stored at a time.
  CHECK(planned.kernels[1].items->phases.back().across);
  CHECK(planned.kernels[1].items->per_block == 32);
}

TEST_CASE("on the CPU, the columns of a step are of one matrix if that can be") {
  const auto columns_of = [](const char* text) {
    return plan(text, host_target).kernels.front().items->per_block;
  };
  // 400 x 512 numbers, and 440 x 486.
  CHECK(columns_of(R"(func @main(%0: c64[2,204800]) -> c64[2,204800] {
  %1 = call fft.fft %0 : c64[2,204800]
  return %1
})") == 16);
  CHECK(columns_of(R"(func @main(%0: c64[2,213840]) -> c64[2,213840] {
  %1 = call fft.fft %0 : c64[2,213840]
  return %1
})") == 18);
}

TEST_CASE("on the CPU, an item is as large as a core's second cache") {
  const ir::Target target = ir::parse_target(host_target);
  CHECK(passes::is_item_length(65536, DType::c128, target));
  CHECK(passes::is_item_length(131072, DType::c64, target));
  CHECK(!passes::is_item_length(131072, DType::c128, target));
  // A large one is not on the stack.
  const char* text = R"(func @main(%0: c128[4,32768]) -> c128[4,32768] {
  %1 = call fft.fft %0 : c128[4,32768]
  return %1
})";
  const passes::PlannedProgram planned = plan(text, host_target);
  REQUIRE(planned.kernels.size() == 1);
  CHECK(!planned.kernels[0].items->on_stack);
}

TEST_CASE("on a GPU, both kernels of a long transform go from memory to registers and back") {
  const passes::PlannedProgram planned = plan(R"(func @main(%0: c64[2,1048576]) -> c64[2,1048576] {
  %1 = call fft.fft %0 : c64[2,1048576]
  return %1
})",
                                              cuda_target);
  REQUIRE(planned.kernels.size() == 2);
  for (const passes::KernelPlan& kernel : planned.kernels) {
    const passes::Items& items = *kernel.items;
    REQUIRE(items.phases.size() == 3);
    CHECK(items.phases[0].direct);
    CHECK(items.phases[2].direct);
    CHECK(items.interleaved);
    CHECK(kernel.threads * kernel.least_blocks == 1024);
  }
  // The second one loads rows and stores columns.
  CHECK(planned.kernels[0].items->phases[0].across);
  CHECK(!planned.kernels[1].items->phases[0].across);
  CHECK(planned.kernels[1].items->phases[2].across);
}

TEST_CASE("on a GPU, real numbers of a transform move in pairs") {
  const passes::PlannedProgram planned = plan(R"(func @main(%0: f32[64,4096]) -> f32[64,4096] {
  %1 = call fft.rfft %0 : c64[64,2049]
  %2 = call fft.irfft %1 {length = 4096} : f32[64,4096]
  return %2
})",
                                              cuda_target);
  REQUIRE(planned.kernels.size() == 2);
  for (const passes::KernelPlan& kernel : planned.kernels) {
    const std::vector<passes::ItemPhase>& phases = kernel.items->phases;
    CHECK(phases.front().direct);
    CHECK(phases.back().direct);
    const bool forward = &kernel == &planned.kernels.front();
    CHECK(passes::access_width(kernel, forward ? phases.front() : phases.back()) >= 2);
  }
}

TEST_CASE("on a GPU, two blocks make half of a transform each that none holds") {
  const auto parts_of = [](const char* text) {
    const passes::PlannedProgram planned = plan(text, cuda_target);
    REQUIRE(planned.kernels.size() == 1);
    const passes::Items& items = *planned.kernels[0].items;
    CHECK(items.phases.front().direct);
    CHECK(items.phases.back().direct);
    CHECK(planned.program.steps.size() == 1);
    // Parts of sectors meet in the second cache.
    for (const passes::KernelOperand& operand : planned.kernels[0].operands)
      CHECK(!(operand.streamed && items.parts > 1));
    return items.parts;
  };
  CHECK(parts_of(R"(func @main(%0: f32[1024,65536], %1: f32[65536]) -> f32[1024,32769] {
  %2 = multiply %0, %1 : f32[1024,65536]
  %3 = call fft.rfft %2 : c64[1024,32769]
  %4 = absolute %3 : f32[1024,32769]
  return %4
})") == 2);
  CHECK(parts_of(R"(func @main(%0: c64[n,32768]) -> c64[n,32768] {
  %1 = call fft.fft %0 : c64[n,32768]
  return %1
})") == 2);
  CHECK(parts_of(R"(func @main(%0: f32[64,32768]) -> c64[64,16385] {
  %1 = call fft.rfft %0 : c64[64,16385]
  return %1
})") == 1);
}

TEST_CASE("few rows, and transposed ones, occupy more blocks than two each") {
  for (const char* text : {R"(func @main(%0: c64[2,32768]) -> c64[2,32768] {
  %1 = call fft.fft %0 : c64[2,32768]
  return %1
})",
                           R"(func @main(%0: c64[32768,64]) -> c64[64,32768] {
  %1 = transpose %0 axes=[1,0] : c64[64,32768]
  %2 = call fft.fft %1 : c64[64,32768]
  return %2
})"}) {
    const passes::PlannedProgram planned = plan(text, cuda_target);
    CHECK(planned.kernels.size() == 2);
    for (const passes::KernelPlan& kernel : planned.kernels) CHECK(kernel.items->parts == 1);
  }
}

TEST_CASE("on a GPU, a block takes fewer columns where there are few") {
  const auto columns_of = [](const char* text) {
    return plan(text, cuda_target).kernels.front().items->per_block;
  };
  CHECK(columns_of(R"(func @main(%0: c64[256,65536]) -> c64[256,65536] {
  %1 = call fft.fft %0 : c64[256,65536]
  return %1
})") == 16);
  CHECK(columns_of(R"(func @main(%0: c64[1,65536]) -> c64[1,65536] {
  %1 = call fft.fft %0 : c64[1,65536]
  return %1
})") == 4);
}

TEST_CASE("convolutions have lengths whose transforms are cheap") {
  for (const char* name : {host_target, cuda_target}) {
    const ir::Target target = ir::parse_target(name);
    for (const std::int64_t n : {17, 1009, 1013, 10007, 100003}) {
      CAPTURE(n);
      const std::int64_t m = passes::convolution_length(n, target);
      CHECK(m >= 2 * n - 1);
      CHECK(m < 4 * n);
      CHECK(passes::fft_radices(m, target).has_value());
      CHECK(passes::least_smooth(2 * n - 1) <= m);
    }
    // 2025 = 3^4 5^2 takes twice as many stages as 2048.
    CHECK(passes::least_smooth(2017) == 2025);
    CHECK(passes::convolution_length(1009, target) == 2048);
  }
}

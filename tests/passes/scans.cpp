#include <doctest/doctest.h>

#include "passes/pipeline/traffic.h"
#include "passes/plan/analyze.h"
#include "passes/plan/launch.h"
#include "passes/report/explain.h"
#include "tests/passes/plans.h"
#include "tests/passes/programs.h"

using namespace heddle;
using namespace heddle::test;

namespace {

using passes::KernelPlan;
using passes::KernelStep;
using passes::Parameter;
using passes::PlannedProgram;

std::string explained(std::string_view text) { return passes::explain(plan(text, cuda_target)); }

std::int64_t blocks_of(const KernelStep& step, const ir::SymbolBindings& bindings) {
  std::int64_t blocks = 1;
  for (const passes::GridExtent& extent : step.grid)
    blocks *= (extent.elements.evaluate(bindings) + extent.per_block - 1) / extent.per_block;
  return blocks;
}

}  // namespace

TEST_CASE("a scan with the ops before and after it moves the fewest bytes") {
  for (const char* text : {scan_in_company, scan_of_columns, scan_siblings, long_scan}) {
    CAPTURE(text);
    const PlannedProgram planned = plan(text, cuda_target);
    REQUIRE(planned.kernels.size() == 1);
    const passes::Traffic bytes = passes::traffic(planned);
    CHECK(bytes.moved == bytes.fewest);
    CHECK(contains(explained(text), "(1.00 times)"));
  }
}

TEST_CASE("one block scans a short row; long rows and columns are split into tiles") {
  const KernelPlan row = plan(scan_in_company, cuda_target).kernels[0];
  CHECK(row.mapping == passes::Mapping::scan_rows);
  CHECK_FALSE(row.look_back);
  CHECK(row.vector == 4);
  const PlannedProgram planned = plan(long_scan, cuda_target);
  const KernelPlan& line = planned.kernels[0];
  CHECK(line.look_back);
  CHECK(passes::scan_tile(line) == 8192);
  CHECK(
      contains(to_string(line), "scan along rows vector=4 lanes=256 threads=256 held=8 in tiles"));
  const KernelPlan columns = plan(scan_of_columns, cuda_target).kernels[0];
  CHECK(columns.mapping == passes::Mapping::scan_columns);
  CHECK(columns.look_back);
  CHECK(columns.threads_per_row == 32);
}

TEST_CASE("on the host one kernel sums the parts of a long row, another one scans them") {
  const PlannedProgram planned = plan(long_scan, host_target);
  REQUIRE(planned.kernels.size() == 2);
  CHECK(planned.kernels[0].mapping == passes::Mapping::scan_rows);
  CHECK(planned.kernels[0].stores.empty());
  CHECK(planned.kernels[1].mapping == passes::Mapping::scan_rows);
  CHECK(planned.kernels[0].split == 1000000 / 65536);
  CHECK(planned.kernels[1].split == planned.kernels[0].split);
}

TEST_CASE("explain says why a scan is a kernel of its own") {
  CHECK(contains(explained(scan_of_scan), "its result is scanned again"));
  CHECK(contains(explained(R"(func @main(%0: f32[64,32]) -> f32[32,64] {
  %1 = cumsum %0 axes=[1] : f32[64,32]
  %2 = transpose %1 axes=[1,0] : f32[32,64]
  %3 = exp %2 : f32[32,64]
  return %3
})"),
                 "its result is not used element by element, in the order of its axes"));
  CHECK(contains(explained(R"(func @main(%0: f32[64,32]) -> f32[32] {
  %1 = cumsum %0 axes=[0] : f32[64,32]
  %2 = sum %1 axes=[0] : f32[32]
  return %2
})"),
                 "a kernel that scans columns cannot reduce"));
  CHECK(contains(explained(R"(func @main(%0: f32[64,5000]) -> f32[64] {
  %1 = cumsum %0 axes=[1] : f32[64,5000]
  %2 = sum %1 axes=[1] : f32[64]
  return %2
})"),
                 "rows of 5000 elements are scanned and reduced, at most 4096"));
  CHECK(contains(explained(R"(func @main(%0: f32[64,32]) -> f32[64,32] {
  %1 = cumsum %0 axes=[1] : f32[64,32]
  %2 = cumsum %0 axes=[0] : f32[64,32]
  %3 = add %1, %2 : f32[64,32]
  return %3
})"),
                 "the kernel does not scan axis"));
}

TEST_CASE("a GPU scans and reduces a row in one kernel") {
  const PlannedProgram planned = plan(R"(func @main(%0: f32[131072,252]) -> f32[131072] {
  %1 = cumsum %0 axes=[1] : f32[131072,252]
  %2 = exp %1 : f32[131072,252]
  %3 = sum %2 axes=[1] : f32[131072]
  %4 = sqrt %3 : f32[131072]
  return %4
})",
                                      cuda_target);
  REQUIRE(planned.kernels.size() == 1);
  const passes::Traffic bytes = passes::traffic(planned);
  CHECK(bytes.moved == bytes.fewest);
  const KernelPlan& kernel = planned.kernels[0];
  CHECK(kernel.family == "scan");
  CHECK(kernel.mapping == passes::Mapping::scan_rows);
  CHECK(kernel.vector == 4);
  CHECK_FALSE(kernel.look_back);
}

TEST_CASE("rows that are reduced are not tiled, however wide the states of their scans are") {
  for (const char* dtype : {"f32", "f64", "c64", "c128"}) {
    CAPTURE(dtype);
    const std::string row = std::string(dtype) + "[2,4096]";
    const PlannedProgram planned =
        plan("func @main(%0: " + row + ", %1: bool[2,4096]) -> " + dtype + "[2] {\n" +
                 "  %2 = cumsum %0, %1 axes=[1] : " + row + "\n" +
                 "  %3 = sum %2 axes=[1] : " + dtype + "[2]\n  return %3\n}",
             cuda_target);
    REQUIRE(planned.kernels.size() == 1);
    const KernelPlan& kernel = planned.kernels[0];
    CHECK_FALSE(kernel.look_back);
    CHECK(passes::scan_tile(kernel) >= 4096);
  }
}

TEST_CASE("scratch memory of tiled scans is large enough for any extents") {
  const PlannedProgram planned = plan(R"(func @main(%0: f64[m,n]) -> (f64[m,n], f64[m,n]) {
  %1 = cumsum %0 axes=[1] : f64[m,n]
  %2 = cumsum %0 axes=[0] : f64[m,n]
  return %1, %2
})",
                                      cuda_target);
  REQUIRE(planned.program.steps.size() == 2);
  for (const std::int64_t m : {1, 7, 200, 100000}) {
    for (const std::int64_t n : {1, 64, 4097, 3000000}) {
      CAPTURE(m);
      CAPTURE(n);
      const ir::SymbolBindings bindings{{ir::intern_symbol("m"), m}, {ir::intern_symbol("n"), n}};
      for (const passes::Step& step : planned.program.steps) {
        const KernelPlan& kernel = planned.kernels[step.kernel()->kernel];
        REQUIRE(kernel.look_back);
        const std::int64_t length = passes::iterations(kernel.inner).evaluate(bindings);
        const std::int64_t tiles =
            (length + passes::scan_tile(kernel) - 1) / passes::scan_tile(kernel);
        const std::int64_t states = m * n / length * 2 * tiles;
        for (std::size_t i = 0; i < step.kernel()->parameters.size(); ++i) {
          const Parameter& parameter = step.kernel()->parameters[i];
          if (parameter.buffer.kind != passes::BufferRef::Kind::temporary) continue;
          const std::int64_t bytes =
              planned.program.temporaries[parameter.buffer.index].bytes.evaluate(bindings);
          CHECK((parameter.cleared > 0) == kernel.operands[i].flags);
          CHECK(bytes >= parameter.cleared * blocks_of(*step.kernel(), bindings));
          if (!kernel.operands[i].flags) CHECK(bytes >= states * 8);
          CHECK(bytes <= m * n * 8 / 2 + (m + n) * 64);
        }
      }
    }
  }
}

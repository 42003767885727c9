#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "codegen/common/printers.h"
#include "ir/calls/calls.h"
#include "passes/pipeline/program_builder.h"
#include "tests/cases/programs.h"
#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

/// A program that a family plans. "T" stands for the dtype, "N" for an extent.
struct FamilyProgram {
  std::string_view family, text;
};

constexpr FamilyProgram family_programs[] = {
    {"pointwise", R"(func @pointwise(%0: T[N,64], %1: T[64]) -> T[N,64] {
  %2 = maximum %0, %1 : T[N,64]
  return %2
})"},
    {"transpose", R"(func @transpose(%0: T[N,64], %1: T[64,N]) -> T[64,N] {
  %2 = transpose %0 axes=[1,0] : T[64,N]
  %3 = maximum %2, %1 : T[64,N]
  return %3
})"},
    {"piecewise", R"(func @piecewise(%0: T[N,64], %1: T[N,32]) -> T[N,96] {
  %2 = concatenate %0, %1 axes=[1] : T[N,96]
  return %2
})"},
    {"reduction", R"(func @rows(%0: T[N,64]) -> T[N] {
  %1 = max %0 axes=[1] : T[N]
  return %1
})"},
    {"reduction", R"(func @columns(%0: T[N,64]) -> T[64] {
  %1 = min %0 axes=[0] : T[64]
  return %1
})"},
    {"reduction", R"(func @whole(%0: T[N,64]) -> i64[] {
  %1 = argmax %0 axes=[0,1] : i64[]
  return %1
})"},
    {"scan", R"(func @scan_of_rows(%0: T[64,N]) -> T[64,N] {
  %1 = cummax %0 axes=[1] : T[64,N]
  return %1
})"},
    {"scan", R"(func @scan_of_columns(%0: T[N,64]) -> T[N,64] {
  %1 = cummin %0 axes=[0] : T[N,64]
  return %1
})"},
    {"normalization", R"(func @normalization(%0: T[N,64]) -> T[N,64] {
  %1 = max %0 axes=[1] keepdims : T[N,1]
  %2 = minimum %0, %1 : T[N,64]
  return %2
})"},
    {"normalization", R"(func @normalized_columns(%0: T[512,N]) -> T[512,N] {
  %1 = max %0 axes=[0] keepdims : T[1,N]
  %2 = minimum %0, %1 : T[512,N]
  return %2
})"},
};

std::string spelled(std::string_view text, DType dtype, std::int64_t extent) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool type = text[i] == 'T' && text[i + 1] == '[';
    const bool size = text[i] == 'N' && (text[i + 1] == ',' || text[i + 1] == ']');
    result += type   ? std::string(name_of(dtype))
              : size ? fmt::to_string(extent)
                     : std::string(1, text[i]);
  }
  return result;
}

/// All families but generic, which cannot be disabled.
std::vector<std::string> every_other_family() {
  std::vector<std::string> names;
  for (const FamilyProgram& one : family_programs) names.emplace_back(one.family);
  return names;
}

/// Prints the kernels of programs, and keeps each different one.
class Printer {
 public:
  explicit Printer(ir::Target target) : target_(std::move(target)) {}

  void print(const FamilyProgram& one, DType dtype, std::int64_t extent, bool generic) {
    const ir::Graph graph = ir::parse(spelled(one.text, dtype, extent));
    passes::PlanOptions options;
    options.target = target_;
    if (generic) options.disabled = every_other_family();
    const passes::PlannedProgram planned = passes::plan_program(graph, options);
    CHECK(planned.kernels[0].family == (generic ? "generic" : one.family));
    bool wide = false;
    for (const passes::KernelPlan& plan : planned.kernels) {
      wide |= plan.index_bits == 64;
      codegen::KernelSource kernel = codegen::print_cuda(plan);
      if (known_.insert(kernel.name).second) kernels.push_back(std::move(kernel));
    }
    CHECK_MESSAGE(wide == (extent > INT32_MAX), ir::print(graph));
  }

  std::vector<codegen::KernelSource> kernels;

 private:
  ir::Target target_;
  std::set<std::string> known_;
};

TEST_CASE("every family compiles for sm_80 and sm_120 in every dtype and index width") {
  for (const char* architecture : {"sm_80", "sm_120"}) {
    Printer printer(ir::parse_target(architecture));
    for (const FamilyProgram& one : family_programs) {
      const bool scans = one.family == "scan";
      for (const DType dtype :
           dtypes_in(scans ? ir::info(ir::Op::cummax).dtypes : ir::all_dtypes)) {
        for (const std::int64_t extent : {std::int64_t{4096}, std::int64_t{1} << 32}) {
          printer.print(one, dtype, extent, false);
          printer.print(one, dtype, extent, true);
        }
      }
    }
    fmt::print("{} kernels for {}\n", printer.kernels.size(), architecture);
    compile_with_nvrtc(printer.kernels, architecture);
  }
}

TEST_CASE("sorts compile for every architecture, with keys alone, and places of 32 and 64 bits") {
  for (const char* architecture : {"sm_80", "sm_90", "sm_120"}) {
    std::vector<codegen::KernelSource> kernels;
    std::set<std::string> known;
    for (const DType dtype : dtypes_in(ir::calls::sort().dtypes)) {
      for (const ir::Dim length : {ir::Dim(100000), ir::Dim::symbol("n")}) {
        ir::Graph graph;
        const ir::ValueId x = graph.parameter(dtype, {length});
        graph.outputs = {graph.call(ir::calls::sort(), {x}), graph.call(ir::calls::argsort(), {x})};
        const auto planned =
            passes::plan_program(graph, {ir::parse_target(architecture), {}, {}, {}});
        CHECK(planned.kernels.size() >= 4);
        for (const passes::KernelPlan& plan : planned.kernels) {
          codegen::KernelSource kernel = codegen::print_cuda(plan);
          if (known.insert(kernel.name).second) kernels.push_back(std::move(kernel));
        }
      }
    }
    compile_with_nvrtc(kernels, architecture);
  }
}

}  // namespace
}  // namespace heddle::test

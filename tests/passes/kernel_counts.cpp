#include <algorithm>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/passes/plans.h"
#include "tests/passes/programs.h"

using namespace heddle;
using namespace heddle::test;

namespace {

struct Count {
  const char* name;
  const char* text;
  std::size_t groups, kernels;
  const char* family = "";  ///< of the last kernel
};

std::vector<std::string> families_of(const passes::PlannedProgram& planned) {
  std::vector<std::string> names;
  for (const passes::KernelPlan& kernel : planned.kernels) names.push_back(kernel.family);
  return names;
}

}  // namespace

TEST_CASE("programs have the same number of kernels on both targets") {
  const Count counts[] = {
      {"a chain of elementwise ops", pointwise_chain, 1, 1, "pointwise"},
      {"softmax of rows that fit a block", softmax, 1, 1, "normalization"},
      {"layernorm", layernorm, 1, 1, "normalization"},
      {"a sum of everything, split and combined", sum_of_all, 1, 2, "reduction"},
      {"a sum of rows", sum_of_rows, 1, 1, "reduction"},
      {"nearest neighbours, whose 3-d intermediate never exists", digits, 2, 2, "reduction"},
      {"parts computed where they are joined", concatenate_computed, 1, 1, "piecewise"},
      {"an update that is read on", update_and_use, 1, 1, "piecewise"},
      {"an update alone", update, 1, 1, "piecewise"},
      {"siblings over the same data", min_and_max, 1, 1, "reduction"},
      {"norms of rows", row_norms, 1, 1, "reduction"},
      {"a product by a library, and what follows it", dense_layer, 2, 1, "pointwise"},
      {"exp, cumsum and a product", scan_in_company, 1, 1, "scan"},
      {"a scan of columns, what it scans and what follows it", scan_of_columns, 1, 1, "scan"},
      {"scans of the same data along the same axis", scan_siblings, 1, 1, "scan"},
      {"a scan of a scan", scan_of_scan, 2, 2, "scan"},
      {"five shifted reads inside an update", jacobi, 1, 1, "piecewise"},
  };
  for (const Count& count : counts) {
    for (const char* target : {cuda_target, host_target}) {
      CAPTURE(count.name);
      CAPTURE(target);
      const passes::PlannedProgram planned = plan(count.text, target);
      CHECK(planned.grouping.groups.size() == count.groups);
      CHECK(planned.kernels.size() == count.kernels);
      CHECK(planned.program.kernel_names.size() == count.kernels);
      CHECK(families_of(planned).back() == count.family);
    }
  }
}

TEST_CASE("both targets have the same groups even if only one splits a reduction") {
  const auto on_cuda = plan(sum_of_columns, cuda_target),
             on_host = plan(sum_of_columns, host_target);
  CHECK(on_cuda.grouping.groups.size() == on_host.grouping.groups.size());
  CHECK(on_cuda.kernels.size() == 1);  // a cluster of blocks divides the columns
  CHECK(on_host.kernels.size() == 2);
}

TEST_CASE("a matmul is a library step, followed by the kernel of the ops after it") {
  const passes::Program program = plan(dense_layer, cuda_target).program;
  REQUIRE(program.steps.size() == 2);
  CHECK(program.steps[0].call() != nullptr);
  CHECK(program.steps[1].kernel() != nullptr);
}

TEST_CASE("a library reads parts of matrices where they are, if that stores little more") {
  const auto kernels = [](std::string_view matrix, std::string_view part, const char* target) {
    const std::string text = fmt::format(
        "func @main(%0: f32[128,128], %1: f32[128,64]) -> f32[16,64] {{\n"
        "  %2 = exp %0 : f32[128,128]\n  %3 = slice {} {} : f32[16,128]\n"
        "  %4 = call matmul %3, %1 : f32[16,64]\n  return %4\n}}",
        matrix, part);
    return plan(text, target).kernels.size();
  };
  for (const char* target : {cuda_target, host_target}) {
    CHECK(kernels("%0", "starts=[100,0] steps=[1,1]", target) == 0);
    CHECK(kernels("%0", "starts=[3,0] steps=[2,1]", target) == 1);
    const passes::PlannedProgram part =
        plan(R"(func @main(%0: f32[128,128], %1: f32[128,64]) -> f32[16,64] {
  %2 = exp %0 : f32[128,128]
  %3 = slice %2 starts=[100,0] steps=[1,1] : f32[16,128]
  %4 = call matmul %3, %1 : f32[16,64]
  return %4
})",
             target);
    CHECK(part.program.temporaries.size() == 1);
    CHECK(part.program.temporaries[0].bytes == ir::Dim(16 * 128 * 4));
    const passes::PlannedProgram moving =
        plan(R"(func @main(%0: u8[k,0], %1: f32[128,128], %2: f32[128,64]) -> f32[16,64] {
  %3 = slice %1 starts=[k,0] steps=[1,1] : f32[16,128]
  %4 = call matmul %3, %2 : f32[16,64]
  return %4
})",
             target);
    CHECK(moving.kernels.empty());
  }
}

TEST_CASE("a kernel does not compute what an update wrote elsewhere") {
  const auto members = [](int row, const char* target) {
    const std::string text = fmt::format(
        "func @main(%0: f32[64], %1: f32[8,64]) -> f32[1,64] {{\n"
        "  %2 = cumsum %0 axes=[0] : f32[64]\n"
        "  %3 = slice_update %1, %2 starts=[3,0] steps=[1,1] shape=[1,64] : f32[8,64]\n"
        "  %4 = slice %3 starts=[{},0] steps=[1,1] : f32[1,64]\n  return %4\n}}",
        row);
    const passes::PlannedProgram planned = plan(text, target);
    REQUIRE(planned.kernels.size() == 1);
    return planned.grouping.groups[0].members.size();
  };
  for (const char* target : {cuda_target, host_target}) {
    CHECK(members(5, target) == members(2, target));
    CHECK(members(3, target) > members(5, target));
  }
}

TEST_CASE("rows of a batch that are multiplied by one matrix are one product") {
  const auto what = [](const char* a, const char* b, const char* result) {
    const std::string text = fmt::format(
        "func @main(%0: f32{}, %1: f32{}) -> f32{} {{\n  %2 = call matmul %0, %1 : f32{}\n"
        "  return %2\n}}",
        a, b, result, result);
    return plan(text, host_target).program.steps.front().call()->what;
  };
  CHECK(what("[n,5,8]", "[8,6]", "[n,5,6]") == "5*n x 6 x 8");
  CHECK(what("[7,5,8]", "[7,8,6]", "[7,5,6]") == "7 of 5 x 6 x 8");
  CHECK(what("[5,8]", "[7,8,6]", "[7,5,6]") == "7 of 5 x 6 x 8");
}

TEST_CASE("dot products and products of a column and a row fuse with other ops") {
  const std::pair<const char*, const char*> shapes[] = {{"1,n", "n,1"},  {"1,5000", "5000,1"},
                                                        {"n,1", "1,40"}, {"8,1", "1,1"},
                                                        {"7,n", "n,1"},  {"1,n", "n,40"}};
  for (const char* dtype : {"f32", "f64", "c64", "f16"}) {
    for (const auto& [a, b] : shapes) {
      INFO(dtype, " ", a);
      const std::string_view rows = std::string_view(a).substr(0, std::string_view(a).find(',')),
                             columns =
                                 std::string_view(b).substr(std::string_view(b).find(',') + 1);
      const std::string result = fmt::format("{}[{},{}]", dtype, rows, columns);
      const std::string text = fmt::format(
          "func @f(%0: {0}[{1}], %1: {0}[{2}]) -> {3} {{\n  %2 = exp %0 : {0}[{1}]\n"
          "  %3 = call matmul %2, %1 : {3}\n  %4 = negative %3 : {3}\n  return %4\n}}\n",
          dtype, a, b, result);
      const bool with_matrix =
          text.find("[7,n]") != std::string::npos || text.find("[n,40]") != std::string::npos;
      for (const char* target : {host_target, cuda_target}) {
        // The CPU's library multiplies matrices and vectors.
        if (with_matrix && target == host_target) continue;
        const passes::Program program = plan(text.c_str(), target).program;
        for (const passes::Step& step : program.steps) CHECK(step.kernel() != nullptr);
        // What is computed of a column is not computed for each row; float16 is widened besides,
        // and long sums are split.
        CHECK(program.steps.size() <= (std::string_view(dtype) == "f16" ? 4 : 3));
      }
    }
  }
}

TEST_CASE("a transposed read goes through tiles") {
  for (const char* target : {cuda_target, host_target}) {
    CHECK(families_of(plan(transposed, target)) == std::vector<std::string>{"transpose"});
    CHECK(plan(transposed, target).kernels[0].mapping == passes::Mapping::tiles);
  }
}

TEST_CASE("an output that is a reshape of a product is stored by the product") {
  const auto steps = [](const std::string& outputs, const std::string& types) {
    const std::string text = "func @f(%0: f32[64,64], %1: f32[64,64]) -> (" + types + ") {\n" +
                             "  %2 = call matmul %0, %1 : f32[64,64]\n"
                             "  %3 = reshape %2 : f32[4096]\n"
                             "  %4 = reshape %3 : f32[8,512]\n"
                             "  %5 = negative %2 : f32[64,64]\n"
                             "  return " +
                             outputs + "\n}\n";
    return plan(text.c_str(), cuda_target).program.steps.size();
  };
  CHECK(steps("%3", "f32[4096]") == 1);
  CHECK(steps("%4", "f32[8,512]") == 1);
  CHECK(steps("%3, %5", "f32[4096], f32[64,64]") == 2);
  // Each output has memory of its own.
  CHECK(steps("%2, %3", "f32[64,64], f32[4096]") == 2);
  CHECK(steps("%3, %4", "f32[4096], f32[8,512]") == 2);
}

TEST_CASE("indices have 64 bits if an intermediate index needs them") {
  const passes::PlannedProgram planned = plan(R"(func @f(%0: f32[7]) -> f32[1000] {
  %1 = broadcast_to %0 : f32[1073741824,7]
  %2 = reshape %1 : f32[7516192768]
  %3 = slice %2 starts=[7516192767] steps=[-5000011] : f32[1000]
  return %3
})",
                                              cuda_target);
  REQUIRE(planned.kernels.size() == 1);
  CHECK(planned.kernels[0].index_bits == 64);
}

TEST_CASE("an update of a donated array writes the region only") {
  for (const char* target : {cuda_target, host_target}) {
    const passes::PlannedProgram planned = plan(update, target, {true, false});
    REQUIRE(planned.kernels.size() == 1);
    CHECK(planned.grouping.groups[0].in_place);
    CHECK(planned.program.outputs[0].input == 0u);
    CHECK(planned.program.temporaries.empty());
    // 10 rows of 8, and nothing of the other 90.
    ir::Dim written = 1;
    for (const passes::Loop& loop : planned.kernels[0].outer) written *= loop.extent;
    CHECK(written == ir::Dim(80));
    for (const passes::KernelOperand& operand : planned.kernels[0].operands) {
      if (!operand.written) CHECK(operand.value == planned.graph.parameters()[1]);
    }
  }
}

TEST_CASE("an update of what it reads stores its value first, if the region is small") {
  const auto planned = [](const std::string& count, const std::string& outputs) {
    const std::string text = R"(func @main(%0: f32[1000]) -> OUTPUTS {
  %1 = slice %0 starts=[3] steps=[1] : f32[COUNT]
  %2 = exp %1 : f32[COUNT]
  %3 = slice_update %0, %2 starts=[2] steps=[1] shape=[COUNT] : f32[1000]
  return RESULTS
})";
    const bool several = outputs.starts_with("(");
    const std::string typed = std::regex_replace(text, std::regex("OUTPUTS"), outputs);
    const std::string sized = std::regex_replace(typed, std::regex("COUNT"), count);
    return plan(std::regex_replace(sized, std::regex("RESULTS"), several ? "%3, %1" : "%3"),
                host_target, {true});
  };
  const passes::PlannedProgram small = planned("100", "f32[1000]");
  REQUIRE(small.kernels.size() == 2);
  CHECK(small.program.outputs[0].input == 0u);
  for (const passes::KernelPlan& kernel : small.kernels) {
    CHECK(kernel.outer.size() == 1);
    CHECK(kernel.outer[0].extent == ir::Dim(100));
  }
  // One kernel that copies the array moves fewer bytes than two that store most of it twice.
  CHECK(planned("900", "f32[1000]").kernels.size() == 1);
  // Others read elements that the update would overwrite.
  const passes::PlannedProgram shared = planned("100", "(f32[1000], f32[100])");
  for (const passes::Group& group : shared.grouping.groups) CHECK_FALSE(group.in_place);
}

TEST_CASE("a cluster holds rows that do not fit a block; without clusters they take more kernels") {
  const passes::PlannedProgram clustered = plan(wide_softmax, cuda_target);
  REQUIRE(clustered.kernels.size() == 1);
  CHECK(clustered.kernels[0].cluster == 16);
  CHECK(clustered.program.steps[0].kernel()->cluster == 16);
  // The maximum and the sum of exponentials in one, the quotients in another.
  CHECK(plan(wide_softmax, "sm_80").grouping.groups.size() == 2);
  CHECK(plan(wide_softmax, host_target).kernels.size() == 1);
}

TEST_CASE("a cluster holds columns that are read twice; without clusters they take more kernels") {
  const passes::PlannedProgram tall = plan(standardize, cuda_target);
  REQUIRE(tall.kernels.size() == 1);
  CHECK(tall.kernels[0].mapping == passes::Mapping::columns);
  CHECK(tall.kernels[0].cluster == 16);
  CHECK(tall.kernels[0].held > 0);
  CHECK(plan(standardize, "sm_80").kernels.size() > 1);
}

TEST_CASE("the layout of the matrix decides between rows and columns, not that of a vector") {
  constexpr const char* weighted_sum_of_columns = R"(
func @main(%0: f32[4000,5000], %1: f32[4000,1]) -> f32[5000] {
  %2 = multiply %0, %1 : f32[4000,5000]
  %3 = sum %2 axes=[0] : f32[5000]
  return %3
}
)";
  constexpr const char* weighted_sum_of_rows = R"(
func @main(%0: f32[4000,5000], %1: f32[5000,1]) -> f32[4000] {
  %2 = transpose %0 axes=[1,0] : f32[5000,4000]
  %3 = multiply %2, %1 : f32[5000,4000]
  %4 = sum %3 axes=[0] : f32[4000]
  return %4
}
)";
  for (const char* target : {cuda_target, host_target}) {
    CAPTURE(target);
    CHECK(plan(weighted_sum_of_columns, target).kernels[0].mapping == passes::Mapping::columns);
    CHECK(plan(weighted_sum_of_rows, target).kernels[0].mapping == passes::Mapping::rows);
  }
}

TEST_CASE("full reductions loop in memory order unless the order of sums is fixed") {
  const auto planned = [](const char* op, const char* dtype, const char* target) {
    const std::string text = fmt::format(R"(
func @main(%0: {1}[400,500]) -> {1}[] {{
  %1 = transpose %0 axes=[1,0] : {1}[500,400]
  %2 = {0} %1 axes=[0,1] : {1}[]
  return %2
}}
)",
                                         op, dtype);
    return plan(text.c_str(), target).kernels[0].inner.size();
  };
  // One loop over all of memory, where both axes were walked.
  CHECK(planned("sum", "f32", cuda_target) == 1);
  CHECK(planned("max", "f32", host_target) == 1);
  CHECK(planned("sum", "i32", host_target) == 1);
  // The CPU's sums of floats have the order of the axes.
  CHECK(planned("sum", "f32", host_target) == 2);
}

TEST_CASE("if a family is disabled, the next one runs the group") {
  CHECK(families_of(plan(transposed, cuda_target, {}, {"transpose"})) ==
        std::vector<std::string>{"pointwise"});
  const auto without = plan(softmax, cuda_target, {}, {"normalization"});
  CHECK(without.kernels.size() > 1);
  for (const std::string& family : families_of(without)) CHECK(family != "normalization");
  // Generic alone takes everything, one op a kernel.
  const auto generic =
      plan(softmax, cuda_target, {},
           {"transpose", "pointwise", "piecewise", "scan", "reduction", "normalization"});
  CHECK(generic.kernels.size() == 5);
  for (const std::string& family : families_of(generic)) CHECK(family == "generic");
}

TEST_CASE("cheap producers of several users are computed again rather than stored") {
  const char* text = R"(func @main(%0: f32[1000,64], %1: f32[1000,64]) -> (f32[1000], f32[64]) {
  %2 = negative %0 : f32[1000,64]
  %3 = sum %2 axes=[1] : f32[1000]
  %4 = sum %2 axes=[0] : f32[64]
  return %3, %4
})";
  for (const char* target : {cuda_target, host_target}) {
    const passes::PlannedProgram planned = plan(text, target);
    CHECK(planned.grouping.groups.size() == 2);
    for (const passes::Group& group : planned.grouping.groups) {
      CHECK(group.stored == std::vector<ir::ValueId>{group.root});
    }
  }
}

TEST_CASE("sources that nothing reads, and outputs given twice, cost no kernel") {
  const char* text = R"(func @main(%0: f32[8], %1: f32[8]) -> (f32[8], f32[8], f32[8]) {
  %2 = exp %0 : f32[8]
  return %2, %2, %1
})";
  const passes::PlannedProgram planned = plan(text, cuda_target);
  CHECK(planned.kernels.size() == 1);
  CHECK_FALSE(planned.program.outputs[0].output);
  CHECK(planned.program.outputs[1].output == 0u);
  CHECK(planned.program.outputs[2].input == 1u);
}

TEST_CASE("a reduction of few rows is split until it fills the multiprocessors") {
  const ir::Target target = ir::parse_target("sm_90:h200");
  for (const char* type : {"f32[67108864]", "f32[2,33554432]", "f32[33554432,2]"}) {
    CAPTURE(std::string(type));
    const bool columns = std::string(type).ends_with(",2]");
    const bool flat = std::string(type).find(',') == std::string::npos;
    const std::string result = flat ? "f32[]" : "f32[2]";
    const std::string text =
        fmt::format("func @sum(%0: {0}) -> {1} {{\n %1 = sum %0 axes=[{2}] : {1}\n return %1\n}}\n",
                    type, result, flat || columns ? 0 : 1);
    const passes::PlannedProgram planned =
        passes::plan_program(ir::parse(text), {target, {}, {}, {}});
    REQUIRE(planned.kernels.size() == 2);
    std::int64_t blocks = 1;
    for (const passes::GridExtent& extent : planned.program.steps[0].kernel()->grid) {
      blocks *= (extent.elements.constant() + extent.per_block - 1) / extent.per_block;
    }
    // Two blocks a multiprocessor, all with an equal share, leave none idle.
    CHECK(blocks >= 2 * target.multiprocessors);
  }
}

TEST_CASE("rows are found behind a reshape of what is computed from them") {
  for (const char* target : {cuda_target, host_target}) {
    CAPTURE(target);
    const passes::PlannedProgram blocks = plan(R"(
  func @f(%0: f32[640000]) -> f32[640000] {
    %1 = reshape %0 : f32[10000,64]
    %2 = absolute %1 : f32[10000,64]
    %3 = max %2 axes=[1] keepdims : f32[10000,1]
    %4 = divide %1, %3 : f32[10000,64]
    %5 = reshape %4 : f32[640000]
    %6 = negative %5 : f32[640000]
    return %6
  })",
                                               target);
    REQUIRE(blocks.kernels.size() == 1);
    CHECK(blocks.kernels[0].family == "normalization");
    const passes::PlannedProgram groups = plan(R"(
  func @f(%0: f32[16,64,14,14]) -> f32[16,64,14,14] {
    %1 = reshape %0 : f32[16,8,8,14,14]
    %2 = sum %1 axes=[2,3,4] keepdims : f32[16,8,1,1,1]
    %3 = subtract %1, %2 : f32[16,8,8,14,14]
    %4 = reshape %3 : f32[16,64,14,14]
    return %4
  })",
                                               target);
    CHECK(groups.kernels.size() == 1);
  }
}

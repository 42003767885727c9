// Both ways to sort on a GPU, whichever the planner would choose, against the interpreter.
#include <cstring>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/calls/calls.h"
#include "passes/plan/sort_call.h"
#include "tests/emulator/emulated_programs.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

namespace heddle::emulator {
namespace {

using ir::HostArray;
using ir::Op;
using ir::ValueId;

struct Sorted {
  ir::Graph graph;
  HostArray input;
};

/// Rows of all that is special to the dtype, each of it many times.
Sorted sort_of(DType dtype, const ir::Shape& shape) {
  Sorted sorted;
  const ValueId x = sorted.graph.parameter(dtype, shape);
  const std::int64_t axis = 1;
  sorted.graph.outputs = {sorted.graph.call(ir::calls::sort(), {x}, {{"axis", axis}}),
                          sorted.graph.call(ir::calls::argsort(), {x}, {{"axis", axis}})};
  sorted.input = test::sample(ir::Domain::any, 0, dtype, shape, 1);
  const std::size_t size = size_of(dtype), count = sorted.input.data.size() / size;
  for (std::size_t i = 700; i < count; ++i)
    std::memcpy(&sorted.input.data[i * size], &sorted.input.data[i * i % 700 * size], size);
  return sorted;
}

TEST_CASE("merging and scattering by digits give what the interpreter gives") {
  for (const char* other : {"merge_sort", "radix_sort"}) {
    std::vector<Sorted> sorts;
    for (const DType dtype : {DType::boolean, DType::i8, DType::u16, DType::f16, DType::bf16,
                              DType::i32, DType::f32, DType::i64, DType::f64}) {
      sorts.push_back(sort_of(dtype, {2, 9000}));
      sorts.push_back(sort_of(dtype, {1, 16385}));
    }
    // Enough tiles for one to look back at others more than once.
    sorts.push_back(sort_of(DType::f32, {1, 70001}));
    runtime::CompileOptions options;
    options.disabled = {other};
    std::vector<runtime::PrintedProgram> printed;
    for (const Sorted& one : sorts)
      printed.push_back(runtime::print_program(one.graph, options, ir::parse_target("sm_90:h200")));
    EmulatedPrograms programs(std::move(printed));
    for (std::size_t i = 0; i < sorts.size(); ++i) {
      CAPTURE(other);
      CAPTURE(ir::print(sorts[i].graph));
      const auto method = passes::sort_of(*programs.program(i).steps[0].call()).kernels->method;
      const bool is_radix = method == passes::SortKernels::Method::radix;
      CHECK(is_radix == (std::string_view(other) == "merge_sort"));
      const std::vector<HostArray> expected = interpret(sorts[i].graph, {&sorts[i].input, 1});
      const std::vector<HostArray> actual =
          programs.run(i, {&sorts[i].input, 1}, {.shuffle_seed = i});
      for (std::size_t k = 0; k < expected.size(); ++k) {
        const test::Comparison same = test::compare_equal(actual[k], expected[k]);
        CHECK_MESSAGE(same, same.message);
      }
    }
  }
}

TEST_CASE("long rows go by digits, where a few merges would not do") {
  const auto method = [](DType dtype, std::int64_t length) {
    const Sorted one = sort_of(dtype, {1, length});
    const auto printed = runtime::print_program(one.graph, {}, ir::parse_target("sm_90:h200"));
    return passes::sort_of(*printed.program.steps[0].call()).kernels->method;
  };
  using Method = passes::SortKernels::Method;
  CHECK(method(DType::u8, 4096) == Method::merge);
  CHECK(method(DType::u8, 1 << 18) == Method::radix);
  CHECK(method(DType::f32, 1 << 14) == Method::merge);
  CHECK(method(DType::f32, 1 << 16) == Method::radix);
  CHECK(method(DType::f64, 1 << 19) == Method::merge);
  CHECK(method(DType::f64, 1 << 22) == Method::radix);
}

}  // namespace
}  // namespace heddle::emulator

#include "passes/rewrite/vectorize_loops.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/calls/calls.h"
#include "passes/rewrite/stepped_region.h"
#include "tests/passes/plans.h"
#include "tests/support/samples.h"

using namespace heddle;
using namespace heddle::passes;
using namespace heddle::test;

namespace {

/// A loop of 6 steps over %0, f64[8,9], and two constants, f64[8,9] and f64[3,3]. In its body they
/// are %4, %2 and %3.
ir::Graph loop(const std::string& body) {
  return ir::parse(
      "func @loop(%0: f64[8,9], %1: f64[8,9], %2: f64[3,3]) -> f64[8,9] {\n"
      "  %3 = call control.scan %1, %2, %0 {carries = 1, length = [6]} : f64[8,9] "
      "region (%0: u8[c,0], %1: scalar i64, %2: f64[8,9], %3: f64[3,3], %4: f64[8,9]) -> "
      "f64[8,9] {\n" +
      body + "  }\n  return %3\n}\n");
}

/// Vectorises a graph, and checks that it computes the same, bit for bit.
std::optional<ir::Graph> vectorized(const ir::Graph& graph) {
  const std::optional<ir::Graph> result = vectorize_loops(graph);
  if (!result) return result;
  ir::verify(*result);
  std::vector<ir::HostArray> arguments;
  for (const ir::ValueId parameter : graph.parameters())
    arguments.push_back(moderate_sample(graph.dtype(parameter), graph.shape(parameter), 7));
  const auto expected = ir::interpret(graph, arguments), found = ir::interpret(*result, arguments);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].type == expected[i].type);
    CHECK_MESSAGE(found[i].data == expected[i].data, ir::print(*result));
  }
  return result;
}

std::size_t count_scans(const ir::Graph& graph) {
  std::size_t scans = 0;
  for (std::uint32_t i = 0; i < graph.size(); ++i)
    scans += graph.is_call_of(ir::ValueId{i}, ir::calls::scan()) ? 1 : 0;
  return scans;
}

bool becomes_ops(const ir::Graph& graph) {
  const auto result = vectorized(graph);
  return result && count_scans(*result) == 0;
}

std::string line(int id, const std::string& operation, const std::string& type) {
  return fmt::format("    %{} = {} : {}\n", id, operation, type);
}

std::string slice(int id, const std::string& of, const std::string& starts,
                  const std::string& shape) {
  return line(id, fmt::format("slice {} starts=[{}] steps=[1,1]", of, starts),
              fmt::format("f64[{}]", shape));
}

std::string update(int id, const std::string& of, int part, const std::string& starts,
                   const std::string& shape) {
  return line(id,
              fmt::format("slice_update {}, %{} starts=[{}] steps=[1,1] shape=[{}]", of, part,
                          starts, shape),
              "f64[8,9]") +
         fmt::format("    return %{}\n", id);
}

}  // namespace

TEST_CASE("steps that write what no other step reads are done at once") {
  // A row is a function of itself and of a row of a constant.
  CHECK(
      becomes_ops(loop(slice(5, "%4", "c,0", "1,9") + slice(6, "%2", "c+2,0", "1,9") +
                       line(7, "multiply %5, %6", "f64[1,9]") + update(8, "%4", 7, "c,0", "1,9"))));
  // Rows that no step writes; a column; backwards, every other one, and part of it.
  CHECK(becomes_ops(loop(slice(5, "%4", "6,0", "2,9") +
                         line(6, "sum %5 axes=[0] keepdims", "f64[1,9]") +
                         update(7, "%4", 6, "c,0", "1,9"))));
  CHECK(
      becomes_ops(loop(slice(5, "%4", "0,c+3", "8,1") + line(6, "cumsum %5 axes=[0]", "f64[8,1]") +
                       update(7, "%4", 6, "0,c+3", "8,1"))));
  CHECK(becomes_ops(loop(slice(5, "%2", "2,-1*c+8", "4,1") + update(6, "%4", 5, "1,c+1", "4,1"))));
  // What later steps overwrite.
  CHECK(becomes_ops(loop(slice(5, "%4", "c+1,0", "1,9") + slice(6, "%4", "7,0", "1,9") +
                         line(7, "add %5, %6", "f64[1,9]") + update(8, "%4", 7, "c,0", "1,9"))));
  // Windows that overlap, of a constant; diagonals.
  CHECK(becomes_ops(loop(slice(5, "%2", "c,2", "3,4") +
                         line(6, "sum %5 axes=[0,1] keepdims", "f64[1,1]") +
                         update(7, "%4", 6, "3,c", "1,1"))));
  CHECK(becomes_ops(loop(slice(5, "%2", "c+1,c+2", "1,1") + update(6, "%4", 5, "c+2,4", "1,1"))));
  // What the step has written before.
  CHECK(becomes_ops(
      loop(slice(5, "%2", "c,1", "1,4") +
           line(6, "slice_update %4, %5 starts=[c,1] steps=[1,1] shape=[1,4]", "f64[8,9]") +
           slice(7, "%6", "c,1", "1,4") + line(8, "add %7, %7", "f64[1,4]") +
           update(9, "%6", 8, "c,5", "1,4"))));
  // Nothing at all.
  CHECK(becomes_ops(loop(slice(5, "%4", "c,c", "1,0") +
                         line(6, "sum %5 axes=[1] keepdims", "f64[1,1]") +
                         update(7, "%4", 6, "c,3", "1,1"))));
  // The counter as a number.
  CHECK(
      becomes_ops(loop(line(5, "cast %1", "f64[]") + slice(6, "%4", "c,0", "1,9") +
                       line(7, "multiply %5, %6", "f64[1,9]") + update(8, "%4", 7, "c,0", "1,9"))));
}

TEST_CASE("loops stay where a step may need what another one does") {
  const auto stays = [](const std::string& body) { return !vectorize_loops(loop(body)); };
  // A row that all write; all of the array; windows that overlap.
  CHECK(stays(slice(5, "%4", "c,0", "1,9") + update(6, "%4", 5, "7,0", "1,9")));
  CHECK(stays(line(5, "sum %4 axes=[0,1]", "f64[]") + update(6, "%4", 5, "c,0", "1,9")));
  CHECK(stays(slice(5, "%2", "c,0", "2,9") + update(6, "%4", 5, "c,0", "2,9")));
  // Some of the elements that the step has written before.
  CHECK(stays(slice(5, "%2", "c,1", "1,4") +
              line(6, "slice_update %4, %5 starts=[c,1] steps=[1,1] shape=[1,4]", "f64[8,9]") +
              slice(7, "%6", "c,2", "1,4") + update(8, "%6", 7, "c,5", "1,4")));
  // An array that is another one in each step.
  CHECK(stays(line(5, "add %4, %4", "f64[8,9]") + "    return %5\n"));
}

TEST_CASE("elementwise loops carry what a step has of the step before it") {
  // Of the arrays, it takes only what the steps use.
  const auto carries = [](const std::string& body, const std::string& types) {
    const auto result = vectorized(loop(body));
    REQUIRE(result);
    CHECK(count_scans(*result) == 1);
    CHECK_MESSAGE(contains(ir::print(*result), "scalar i64, " + types), ir::print(*result));
  };
  carries(slice(5, "%4", "c,0", "1,9") + slice(6, "%4", "c+1,0", "1,9") +
              line(7, "add %5, %6", "f64[1,9]") + update(8, "%4", 7, "c+1,0", "1,9"),
          "%2: f64[9], %3: f64[9])");
  // Backwards, along a row.
  carries(slice(5, "%4", "3,-1*c+8", "1,1") + slice(6, "%4", "3,-1*c+7", "1,1") +
              line(7, "multiply %5, %6", "f64[1,1]") + update(8, "%4", 7, "3,-1*c+7", "1,1"),
          "%2: f64[1], %3: f64[1])");
  // An element of a constant that stays is one, and the constant is none.
  carries(slice(5, "%4", "c,0", "1,9") + slice(6, "%3", "2,1", "1,1") +
              line(7, "multiply %5, %6", "f64[1,9]") + update(8, "%4", 7, "c+1,0", "1,9"),
          "%2: f64[1,1], %3: f64[9])");
  // All of a constant is used.
  carries(slice(5, "%4", "c,0", "1,3") + slice(6, "%4", "c+1,0", "1,3") +
              line(7, "add %5, %6", "f64[1,3]") + line(8, "negative %3", "f64[3,3]") +
              slice(9, "%8", "1,0", "1,3") + line(10, "multiply %7, %9", "f64[1,3]") +
              update(11, "%4", 10, "c+1,0", "1,3"),
          "%2: f64[3,3], %3: f64[3], %4: f64[3])");
  // Not elementwise; two steps before.
  CHECK_FALSE(vectorize_loops(loop(slice(5, "%4", "c,0", "1,9") +
                                   line(6, "cumsum %5 axes=[1]", "f64[1,9]") +
                                   update(7, "%4", 6, "c+1,0", "1,9"))));
  CHECK_FALSE(
      vectorize_loops(loop(slice(5, "%4", "c,0", "1,9") + update(6, "%4", 5, "c+2,0", "1,9"))));
}

TEST_CASE("products with a matrix that is the same in all steps are one product") {
  const std::string reads = slice(5, "%4", "c,3", "1,3");
  const ir::Graph rows =
      loop(reads + line(6, "call matmul %5, %3", "f64[1,3]") + update(7, "%4", 6, "c,3", "1,3"));
  const ir::Graph columns =
      loop(slice(5, "%4", "2,c", "3,1") + line(6, "call matmul %3, %5", "f64[3,1]") +
           update(7, "%4", 6, "2,c", "3,1"));
  for (const ir::Graph& graph : {rows, columns}) {
    const auto result = vectorized(graph);
    REQUIRE(result);
    std::size_t products = 0;
    for (std::uint32_t i = 0; i < result->size(); ++i) {
      if (!result->is_call_of(ir::ValueId{i}, ir::calls::matmul())) continue;
      ++products;
      CHECK(result->shape(ir::ValueId{i}).size() == 2);
    }
    CHECK(products == 1);
  }
}

TEST_CASE("results of all steps are stacked, sequences are read at once") {
  const ir::Graph graph = ir::parse(
      "func @loop(%0: f64[8,9], %1: f64[6,3]) -> (f64[8,9], f64[6,3]) {\n"
      "  %2, %3 = call control.scan %0, %1 {carries = 1, sequences = 1, length = [6]} : f64[8,9], "
      "f64[6,3] region (%0: u8[c,0], %1: scalar i64, %2: f64[8,9], %3: f64[3]) -> "
      "(f64[8,9], f64[3]) {\n"
      "    %4 = reshape %3 : f64[1,3]\n"
      "    %5 = slice_update %2, %4 starts=[c,2] steps=[1,1] shape=[1,3] : f64[8,9]\n"
      "    %6 = add %3, %3 : f64[3]\n"
      "    return %5, %6\n  }\n  return %2, %3\n}\n");
  CHECK(becomes_ops(graph));
}

TEST_CASE("values of all steps that would be large keep a loop") {
  const auto graph = [](int depth) {
    return ir::parse(fmt::format(
        "func @loop(%0: f64[256,64], %1: f64[{0},1]) -> f64[256,64] {{\n"
        "  %2 = call control.scan %1, %0 {{carries = 1, length = [256]}} : f64[256,64] "
        "region (%0: u8[c,0], %1: scalar i64, %2: f64[{0},1], %3: f64[256,64]) -> f64[256,64] {{\n"
        "    %4 = slice %3 starts=[c,0] steps=[1,1] : f64[1,64]\n"
        "    %5 = call matmul %2, %4 : f64[{0},64]\n"
        "    %6 = sum %5 axes=[0] keepdims : f64[1,64]\n"
        "    %7 = slice_update %3, %6 starts=[c,0] steps=[1,1] shape=[1,64] : f64[256,64]\n"
        "    return %7\n  }}\n  return %2\n}}\n",
        depth));
  };
  CHECK(becomes_ops(graph(16)));
  CHECK_FALSE(vectorize_loops(graph(4096)));
  // A scatter, [256,100000].
  CHECK_FALSE(vectorize_loops(ir::parse(
      "func @loop(%0: i64[256,64], %1: i64[64]) -> i64[256,64] {\n"
      "  %2 = call control.scan %1, %0 {carries = 1, length = [256]} : i64[256,64] "
      "region (%0: u8[c,0], %1: scalar i64, %2: i64[64], %3: i64[256,64]) -> i64[256,64] {\n"
      "    %4 = slice %3 starts=[c,0] steps=[1,1] : i64[1,64]\n"
      "    %5 = reshape %4 : i64[64]\n"
      "    %6 = scatter_add %5, %2 axes=[0] : i64[100000]\n"
      "    %7 = sum %6 axes=[0] : i64[]\n"
      "    %8 = slice_update %3, %7 starts=[c,0] steps=[1,1] shape=[1,64] : i64[256,64]\n"
      "    return %8\n  }\n  return %2\n}\n")));
}

TEST_CASE("random regions are apart only if they have no element in common") {
  std::size_t apart = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    std::mt19937_64 random(seed);
    const auto pick = [&](int from, int to) {
      return from + static_cast<int>(random() % static_cast<std::uint64_t>(to - from + 1));
    };
    const std::int64_t steps = pick(2, 5);
    SteppedRegion a, b;
    for (int axis = pick(1, 2); axis > 0; --axis) {
      for (SteppedRegion* const one : {&a, &b}) {
        const int step = pick(0, 1) == 0 ? 1 : pick(-2, 2);
        one->axes.push_back({Dim(pick(0, 9)), pick(-3, 3), step == 0 ? 1 : step, pick(0, 3)});
      }
    }
    const auto meet = [&](std::int64_t i, std::int64_t k) {
      for (std::size_t axis = 0; axis < a.axes.size(); ++axis) {
        const auto &x = a.axes[axis], &y = b.axes[axis];
        bool any = false;
        for (std::int64_t p = 0; p < x.extent; ++p) {
          for (std::int64_t q = 0; q < y.extent; ++q)
            any |= x.start.constant() + x.growth * i + x.step * p ==
                   y.start.constant() + y.growth * k + y.step * q;
        }
        if (!any) return false;
      }
      return true;
    };
    bool meet_in_a_step = false, meet_earlier = false;
    for (std::int64_t i = 0; i < steps; ++i) {
      meet_in_a_step |= meet(i, i);
      for (std::int64_t k = 0; k < i; ++k) meet_earlier |= meet(i, k);
    }
    CAPTURE(seed);
    if (are_apart_in_a_step(a, b, steps)) CHECK_FALSE(meet_in_a_step);
    if (are_apart_from_earlier(a, b, steps)) CHECK_FALSE(meet_earlier);
    apart += are_apart_from_earlier(a, b, steps) ? 1 : 0;
  }
  CHECK(apart > 1000);
}

TEST_CASE("random loops compute the same at once as step by step") {
  std::size_t changed = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    std::mt19937_64 random(seed);
    const auto pick = [&](int from, int to) {
      return from + static_cast<int>(random() % static_cast<std::uint64_t>(to - from + 1));
    };
    const int extents[2] = {std::max(1, pick(-2, 2)), pick(1, 3)};
    const auto region = [&] {
      std::string starts, steps;
      for (int axis = 0; axis < 2; ++axis) {
        const int step = pick(0, 3) == 0 ? 2 : 1, size = 8 + axis;
        const int growth = axis == 0 ? std::clamp(pick(-1, 4), -1, 1) : std::max(0, pick(-5, 1));
        const int room = size - (extents[axis] - 1) * step - 1 - 5 * std::abs(growth);
        const int start = pick(0, std::max(room, 0)) + (growth < 0 ? 5 : 0);
        starts += fmt::format("{}{}*c+{}", axis == 0 ? "" : ",", growth, start);
        steps += fmt::format("{}{}", axis == 0 ? "" : ",", step);
      }
      return fmt::format("starts=[{}] steps=[{}]", starts, steps);
    };
    const std::string shape = fmt::format("{},{}", extents[0], extents[1]);
    std::string body, carry = "%4";
    int id = 4;
    for (int updates = pick(1, 2); updates > 0; --updates) {
      const auto read = [&] {
        const std::string from = pick(0, 2) == 0 ? carry : "%2";
        body += line(++id, fmt::format("slice {} {}", from, region()), "f64[" + shape + "]");
        return id;
      };
      const int first = read(), second = read();
      body += line(++id, fmt::format("add %{}, %{}", first, second), "f64[" + shape + "]");
      const int value = id;
      body += line(++id,
                   fmt::format("slice_update {}, %{} {} shape=[{}]", carry, value, region(), shape),
                   "f64[8,9]");
      carry = fmt::format("%{}", id);
    }
    CAPTURE(seed);
    changed += vectorized(loop(body + "    return " + carry + "\n")) ? 1 : 0;
  }
  MESSAGE(changed, " of 3000 loops became ops");
  CHECK(changed > 300);
}

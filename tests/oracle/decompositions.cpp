// What the oracle says of decompositions whose results are not unique.

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/host_arrays.h"
#include "tests/support/oracle.h"

namespace heddle::test {
namespace {

using ir::HostArray;

const HostArray matrix = host_array<float>({2, 2}, {1.0f, 2.0f, -0.5f, 0.75f});

constexpr float roundings = 20 * 0x1p-24f * 4;

/// Whether the only output may be as little off as roundings, and no more.
void check_sharp(const char* graph, const HostArray& operand, const std::vector<float>& expected) {
  const OracleResult result = Oracle::instance().ask(graph, {&operand, 1});
  REQUIRE_MESSAGE(result.error.empty(), result.error);
  const ir::Shape& shape = result.outputs[0].value.type.shape;
  const auto with_error = [&](float error) {
    std::vector<float> values = expected;
    values.back() += error;
    return std::vector{host_array<float>(DType::f32, shape, values)};
  };
  CHECK_MESSAGE(compare(with_error(0), result), compare(with_error(0), result).message);
  CHECK(compare(with_error(roundings / 20), result));
  CHECK_FALSE(compare(with_error(20 * roundings), result));
  CHECK_FALSE(compare(with_error(-20 * roundings), result));
}

const std::vector<float> elements = {1.0f, 2.0f, -0.5f, 0.75f};

TEST_CASE("factors multiply to the operand") {
  check_sharp(R"(func @f(%0: f32[2,2]) -> f32[2,2] {
  %1, %2, %3, _ = call linalg.svd %0 {full_matrices = true} : f32[2,2], f32[2], f32[2,2], i32[]
  %4 = multiply %1, %2 : f32[2,2]
  %5 = call matmul %4, %3 {precision = "ieee"} : f32[2,2]
  return %5
})",
              matrix, elements);
  check_sharp(R"(func @f(%0: f32[2,2]) -> f32[2,2] {
  %1, %2, _ = call linalg.eigh %0 {upper = false} : f32[2], f32[2,2], i32[]
  %3 = reshape %1 : f32[2,1]
  %4 = multiply %3, %2 : f32[2,2]
  %5 = transpose %2 axes=[1,0] : f32[2,2]
  %6 = call matmul %5, %4 {precision = "ieee"} : f32[2,2]
  return %6
})",
              matrix, {1.0f, -0.5f, -0.5f, 0.75f});
  check_sharp(R"(func @f(%0: f32[2,2]) -> f32[2,2] {
  %1, %2 = call linalg.geqrf %0 : f32[2,2], f32[2]
  %3 = call linalg.householder_product %1, %2 : f32[2,2]
  %4 = iota axes=[0] : i32[2,2]
  %5 = iota axes=[1] : i32[2,2]
  %6 = greater_equal %4, %5 : bool[2,2]
  %7 = constant 0 : f32[]
  %8 = select %6, %1, %7 : f32[2,2]
  %9 = call matmul %8, %3 {precision = "ieee"} : f32[2,2]
  return %9
})",
              matrix, elements);
}

TEST_CASE("sums over eigenvalues do not depend on their order") {
  check_sharp(R"(func @f(%0: f32[2,2]) -> f32[] {
  %1, _ = call linalg.eigvals %0 : c64[2], i32[]
  %2 = sum %1 axes=[0] : c64[]
  %3 = real %2 : f32[]
  return %3
})",
              matrix, {1.75f});
}

/// The share of the elements of the outputs that have no definite value.
double open_share(const char* graph) {
  const OracleResult result = Oracle::instance().ask(graph, {&matrix, 1});
  REQUIRE_MESSAGE(result.error.empty(), result.error);
  double open = 0, all = 0;
  for (const Expected& output : result.outputs) {
    open += static_cast<double>(output.ambiguous);
    all += static_cast<double>(output.tolerance.size());
  }
  return open / all;
}

TEST_CASE("what is not unique has no definite value") {
  CHECK(open_share(R"(func @f(%0: f32[2,2]) -> (f32[2,2], f32[2,2]) {
  %1, %2, %3, _ = call linalg.svd %0 {full_matrices = true} : f32[2,2], f32[2], f32[2,2], i32[]
  return %1, %3
})") == 1);
  CHECK(open_share(R"(func @f(%0: f32[2,2]) -> (c64[2], f32[2,2]) {
  %1, %2, _ = call linalg.eig %0 : c64[2], f32[2,2], i32[]
  return %1, %2
})") == 1);
  CHECK(open_share(R"(func @f(%0: f32[2,2]) -> (f32[2], i32[]) {
  %1, %2, %3 = call linalg.eigh %0 {upper = false} : f32[2], f32[2,2], i32[]
  return %1, %3
})") == 0);
}

TEST_CASE("what depends on the choice of one vector may be off by twice the vector") {
  const OracleResult result = Oracle::instance().ask(R"(func @f(%0: f32[2,2]) -> f32[2,2] {
  %1, %2, %3, _ = call linalg.svd %0 {full_matrices = true} : f32[2,2], f32[2], f32[2,2], i32[]
  %4 = call matmul %1, %0 {precision = "ieee"} : f32[2,2]
  return %4
})",
                                                     {&matrix, 1});
  REQUIRE_MESSAGE(result.error.empty(), result.error);
  CHECK(std::ranges::all_of(result.outputs[0].tolerance, [](double x) { return x > 0.5; }));
}

}  // namespace
}  // namespace heddle::test

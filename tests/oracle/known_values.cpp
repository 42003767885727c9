#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/host_arrays.h"
#include "tests/support/oracle.h"

namespace heddle::test {
namespace {

using ir::HostArray;
using ir::Shape;

OracleResult ask(const char* graph, const std::vector<HostArray>& inputs, bool contract = true) {
  return Oracle::instance().ask(graph, inputs, contract);
}

TEST_CASE("an exact op has one value and no tolerance") {
  const OracleResult result =
      ask(R"(func @f(%0: f32[n], %1: scalar f32) -> f32[n] {
  %2 = add %0, %1 : f32[n]
  return %2
})",
          {host_array<float>({3}, {1.0f, -2.5f, 1e8f}), host_array<float>({}, {0.5f})});
  REQUIRE(result.error.empty());
  const HostArray expected = host_array<float>({3}, {1.5f, -2.0f, 1e8f});
  CHECK_MESSAGE(compare(std::vector{expected}, result),
                compare(std::vector{expected}, result).message);
  CHECK(result.outputs[0].tolerance == std::vector<double>{0, 0, 0});

  const HostArray wrong = host_array<float>({3}, {1.5f, std::nextafter(-2.0f, 0.0f), 1e8f});
  const Comparison comparison = compare(std::vector{wrong}, result);
  CHECK_FALSE(comparison.equal);
  CHECK(comparison.message.find("1 of 3 elements differ") != std::string::npos);
  CHECK(comparison.message.find("[1] is -1.99999988, not -2") != std::string::npos);
}

TEST_CASE("an inexact op may be off by its table's ulp") {
  const OracleResult result = ask(R"(func @f(%0: f32[1]) -> f32[1] {
  %1 = exp %0 : f32[1]
  return %1
})",
                                  {host_array<float>({1}, {1.0f})});
  REQUIRE(result.error.empty());
  const float e = 2.71828183f;
  const double unit = std::nextafter(e, 3.0f) - e;
  CHECK(result.outputs[0].tolerance[0] >= 2 * unit);
  CHECK(result.outputs[0].tolerance[0] <= 8 * unit);
  CHECK(compare(std::vector{host_array<float>({1}, {e})}, result));
  CHECK_FALSE(compare(std::vector{host_array<float>({1}, {e * 1.00001f})}, result));
}

TEST_CASE("the exponent of a number that may be 0 is open") {
  const OracleResult result = ask(R"(func @f(%0: f32[2,3]) -> i32[2] {
  %1 = sum %0 axes=[1] : f32[2]
  %2 = frexp_exponent %1 : i32[2]
  return %2
})",
                                  {host_array<float>({2, 3}, {1e8f, 1, -1e8f, 1, 2, 4})});
  REQUIRE(result.error.empty());
  CHECK(std::isinf(result.outputs[0].tolerance[0]));
  CHECK(result.outputs[0].tolerance[1] == 0);
}

TEST_CASE("what a scatter to an open place gives is open wherever it is used") {
  // exp(log(2)) may be just below 2, so the 3 belongs to place 1 or 2.
  const OracleResult result =
      ask(R"(func @f(%0: f64[1], %1: i32[1]) -> bool[4] {
  %2 = exp %0 : f64[1]
  %3 = cast %2 : i64[1]
  %4 = scatter_add %1, %3 axes=[0] : i32[4]
  %5 = constant 0 : i32[]
  %6 = equal %4, %5 : bool[4]
  return %6
})",
          {host_array<double>({1}, {std::log(2.0)}), host_array<std::int32_t>({1}, {3})});
  REQUIRE(result.error.empty());
  for (const double tolerance : result.outputs[0].tolerance) CHECK(std::isinf(tolerance));
}

TEST_CASE("sums are allowed what their order changes") {
  const OracleResult result = ask(R"(func @f(%0: f32[2,4]) -> f32[2] {
  %1 = sum %0 axes=[1] : f32[2]
  return %1
})",
                                  {host_array<float>({2, 4}, {1, 2, 3, 4, 1e8f, 1, -1e8f, 1})});
  REQUIRE(result.error.empty());
  CHECK(compare(std::vector{host_array<float>({2}, {10, 2})}, result));
  CHECK(compare(std::vector{host_array<float>({2}, {10, 1})}, result));
  CHECK_FALSE(compare(std::vector{host_array<float>({2}, {10.01f, 2})}, result));
}

TEST_CASE("a discrete outcome that an allowed error flips has no definite value") {
  const char* graph = R"(func @f(%0: f32[3]) -> bool[3] {
  %1 = exp %0 : f32[3]
  %2 = constant 2.7182817 : f32[]
  %3 = greater %1, %2 : bool[3]
  return %3
})";
  const OracleResult result = ask(graph, {host_array<float>({3}, {0.0f, 1.0f, 2.0f})});
  REQUIRE(result.error.empty());
  CHECK(result.outputs[0].ambiguous == 1);
  CHECK(compare(std::vector{host_array<bool>({3}, {false, true, true})}, result,
                {.most_ambiguous = 0.5}));
  CHECK(compare(std::vector{host_array<bool>({3}, {false, false, true})}, result,
                {.most_ambiguous = 0.5}));
  CHECK_FALSE(compare(std::vector{host_array<bool>({3}, {true, true, true})}, result,
                      {.most_ambiguous = 0.5}));
  CHECK_FALSE(compare(std::vector{host_array<bool>({3}, {false, true, true})}, result));
}

TEST_CASE("an equality within the allowed error has no definite value, of a thousand anywhere") {
  std::vector<float> x, y;
  for (int i = 0; i < 1000; ++i) {
    x.push_back(0.1f + 0.001f * static_cast<float>(i));
    y.push_back(std::nextafter(std::cosh(x.back()), 10.0f));
  }
  const OracleResult result =
      ask(R"(func @f(%0: f32[1000], %1: f32[1000]) -> bool[1000] {
  %2 = cosh %0 : f32[1000]
  %3 = not_equal %1, %2 : bool[1000]
  return %3
})",
          {host_array<float>(DType::f32, {1000}, x), host_array<float>(DType::f32, {1000}, y)});
  REQUIRE(result.error.empty());
  CHECK(result.outputs[0].ambiguous == 1000);
}

TEST_CASE("contraction is allowed for, except in the strict mode") {
  const char* graph = R"(func @f(%0: f32[1]) -> f32[1] {
  %1 = multiply %0, %0 : f32[1]
  %2 = constant -1.21 : f32[]
  %3 = add %1, %2 : f32[1]
  return %3
})";
  const std::vector<HostArray> inputs = {host_array<float>({1}, {1.1f})};
  const std::vector fused = {host_array<float>({1}, {std::fma(1.1f, 1.1f, -1.21f)})};
  const volatile float product = 1.1f * 1.1f;
  const std::vector separate = {host_array<float>({1}, {product - 1.21f})};
  REQUIRE_FALSE(compare_equal(fused[0], separate[0]));
  CHECK(compare(fused, ask(graph, inputs, true)));
  CHECK(compare(separate, ask(graph, inputs, true)));
  CHECK_FALSE(compare(fused, ask(graph, inputs, false)));
  CHECK(compare(separate, ask(graph, inputs, false)));
}

TEST_CASE("casts to 16 bits round to nearest even, to bfloat16 by way of float32 as ml_dtypes") {
  const OracleResult result =
      ask(R"(func @f(%0: f64[4]) -> (bf16[4], f16[4]) {
  %1 = cast %0 : bf16[4]
  %2 = cast %0 : f16[4]
  return %1, %2
})",
          {host_array<double>({4}, {1.00390625 + 0x1p-40, 1.01171875, 70000.0, -0.0})});
  REQUIRE(result.error.empty());
  const std::vector<std::uint16_t> bfloat16 = {0x3f80, 0x3f82, 0x4789, 0x8000};
  const std::vector<std::uint16_t> float16 = {0x3c04, 0x3c0c, 0x7c00, 0x8000};
  const std::vector expected = {host_array<std::uint16_t>(DType::bf16, {4}, bfloat16),
                                host_array<std::uint16_t>(DType::f16, {4}, float16)};
  const Comparison comparison = compare(expected, result);
  CHECK_MESSAGE(comparison, comparison.message);
}

TEST_CASE("floats that no integer is near become what x86-64 makes of them") {
  const OracleResult result = ask(R"(func @f(%0: f32[4]) -> (i32[4], u8[4], u64[4]) {
  %1 = cast %0 : i32[4]
  %2 = cast %0 : u8[4]
  %3 = cast %0 : u64[4]
  return %1, %2, %3
})",
                                  {host_array<float>({4}, {-1.5f, 300.0f, 1e10f, std::nanf("")})});
  REQUIRE(result.error.empty());
  constexpr auto least = std::numeric_limits<std::int32_t>::min();
  const std::vector expected = {host_array<std::int32_t>({4}, {-1, 300, least, least}),
                                host_array<std::uint8_t>({4}, {255, 44, 0, 0}),
                                host_array<std::uint64_t>({4}, {~std::uint64_t{0}, 300, 10000000000,
                                                                std::uint64_t{1} << 63})};
  const Comparison comparison = compare(expected, result);
  CHECK_MESSAGE(comparison, comparison.message);
}

TEST_CASE("views, slice updates and concatenation carry values") {
  const OracleResult result =
      ask(R"(func @f(%0: i32[2,3]) -> (i32[3,2], i32[2,2], i32[2,3], i32[4,3]) {
  %1 = transpose %0 axes=[1,0] : i32[3,2]
  %2 = slice %0 starts=[1,2] steps=[-1,-2] : i32[2,2]
  %3 = constant 9 : i32[]
  %4 = broadcast_to %3 : i32[2,1]
  %5 = slice_update %0, %4 starts=[0,1] steps=[1,1] shape=[2,1] : i32[2,3]
  %6 = concatenate %0, %5 axes=[0] : i32[4,3]
  return %1, %2, %5, %6
})",
          {host_array<std::int32_t>({2, 3}, {0, 1, 2, 3, 4, 5})});
  REQUIRE_MESSAGE(result.error.empty(), result.error);
  const std::vector expected = {
      host_array<std::int32_t>({3, 2}, {0, 3, 1, 4, 2, 5}),
      host_array<std::int32_t>({2, 2}, {5, 3, 2, 0}),
      host_array<std::int32_t>({2, 3}, {0, 9, 2, 3, 9, 5}),
      host_array<std::int32_t>({4, 3}, {0, 1, 2, 3, 4, 5, 0, 9, 2, 3, 9, 5})};
  CHECK_MESSAGE(compare(expected, result), compare(expected, result).message);
}

TEST_CASE("a type that is not NumPy's is an error, and so is text that is no graph") {
  const std::vector<HostArray> inputs = {host_array<std::int32_t>({2}, {1, 2})};
  const OracleResult dtype = ask(
      "func @f(%0: i32[2]) -> i32[2] {\n  %1 = greater %0, %0 : i32[2]\n  return %1\n}", inputs);
  CHECK(dtype.error.find("is bool in NumPy, i32 here") != std::string::npos);
  const OracleResult shape = ask(
      "func @f(%0: i32[2]) -> i32[] {\n  %1 = max %0 axes=[0] : i32[2]\n  return %1\n}", inputs);
  CHECK(shape.error.find("has shape [], not [2]") != std::string::npos);
  CHECK(ask("nonsense", inputs).error_type == "GraphError");
  CHECK_FALSE(compare(inputs, ask("nonsense", inputs)));
}

TEST_CASE("Python code sees the arrays by name") {
  const std::vector<std::pair<std::string, HostArray>> inputs = {
      {"x", host_array<std::int64_t>({2, 3}, {0, 1, 2, 3, 4, 5})}};
  const OracleResult array = Oracle::instance().python("result = x[::-1, 1:]", inputs);
  const std::vector expected = {host_array<std::int64_t>({2, 2}, {4, 5, 1, 2})};
  CHECK_MESSAGE(compare(expected, array), array.error);
  CHECK(Oracle::instance().python("result = str(x)", inputs).text == "[[0 1 2]\n [3 4 5]]");
  CHECK(Oracle::instance().python("x[9]", inputs).error_type == "IndexError");
}

}  // namespace
}  // namespace heddle::test

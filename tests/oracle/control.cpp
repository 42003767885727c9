#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/host_arrays.h"
#include "tests/support/oracle.h"

// What NumPy's side says of loops and branches, by numbers written here.

namespace heddle::test {
namespace {

using ir::HostArray;

void check(const std::string& graph, const std::vector<HostArray>& inputs,
           const std::vector<HostArray>& expected) {
  const OracleResult result = Oracle::instance().ask(graph, inputs);
  REQUIRE_MESSAGE(result.error.empty(), result.error);
  const Comparison comparison = compare(expected, result, {.bitwise = true});
  CHECK_MESSAGE(comparison, comparison.message);
}

HostArray integers(const ir::Shape& shape, const std::vector<std::int64_t>& values) {
  return host_array<std::int64_t>(DType::i64, shape, values);
}

/// Adds row k + 1 of a captured array, and the elements of a sequence, to the carry.
std::string scan_text(const std::string& reverse) {
  return "func @f(%0: i64[4,2], %1: i64[2], %2: i64[n]) -> (i64[2], i64[n,2]) {\n"
         "  %3, %4 = call control.scan %0, %1, %2 {carries = 1, sequences = 1, length = [n]" +
         reverse +
         "} : i64[2], i64[n,2] region (%0: u8[step1,0], %1: scalar i64, %2: i64[4,2], "
         "%3: i64[2], %4: i64[]) -> (i64[2], i64[2]) {\n"
         "    %5 = slice %2 starts=[step1+1,0] steps=[1,1] : i64[1,2]\n"
         "    %6 = reshape %5 : i64[2]\n"
         "    %7 = add %3, %6 : i64[2]\n"
         "    %8 = multiply %4, %1 : i64[]\n"
         "    %9 = add %7, %8 : i64[2]\n"
         "    return %9, %3\n"
         "  }\n"
         "  return %3, %4\n"
         "}\n";
}

TEST_CASE("NumPy's side of a scan: slices at the counter, sequences, stacks, both directions") {
  const HostArray rows = integers({4, 2}, {1, 2, 10, 20, 100, 200, 1000, 2000});
  const HostArray first = integers({2}, {5, 6});
  check(scan_text(""), {rows, first, integers({2}, {7, 8})},
        {integers({2}, {123, 234}), integers({2, 2}, {5, 6, 15, 26})});
  check(scan_text(", reverse = true"), {rows, first, integers({2}, {7, 8})},
        {integers({2}, {123, 234}), integers({2, 2}, {113, 214, 5, 6})});
  check(scan_text(""), {rows, first, integers({0}, {})}, {first, integers({0, 2}, {})});
}

TEST_CASE("NumPy's side of carries that change places") {
  check(
      "func @f(%0: i64[], %1: i64[]) -> (i64[], i64[]) {\n"
      "  %2, %3 = call control.scan %0, %1 {carries = 2, length = [3]} : i64[], i64[] "
      "region (%0: u8[step1,0], %1: scalar i64, %2: i64[], %3: i64[]) -> (i64[], i64[]) {\n"
      "    return %3, %2\n"
      "  }\n"
      "  return %2, %3\n"
      "}\n",
      {integers({}, {1}), integers({}, {2})}, {integers({}, {2}), integers({}, {1})});
}

TEST_CASE("NumPy's side of a loop in a loop") {
  // The sum of k * j for k, j in 0, 1, 2.
  check(
      "func @f(%0: i64[]) -> i64[] {\n"
      "  %1 = call control.scan %0 {carries = 1, length = [3]} : i64[] "
      "region (%0: u8[step1,0], %1: scalar i64, %2: i64[]) -> i64[] {\n"
      "    %3 = call control.scan %1, %2 {carries = 1, length = [3]} : i64[] "
      "region (%0: u8[step2,0], %1: scalar i64, %2: i64[], %3: i64[]) -> i64[] {\n"
      "      %4 = multiply %1, %2 : i64[]\n"
      "      %5 = add %3, %4 : i64[]\n"
      "      return %5\n"
      "    }\n"
      "    return %3\n"
      "  }\n"
      "  return %1\n"
      "}\n",
      {integers({}, {0})}, {integers({}, {9})});
}

const std::string while_text =
    "func @f(%0: f64[], %1: f64[]) -> f64[] {\n"
    "  %2 = call control.while %0, %1 {carries = 1} : f64[] region (%0: f64[], %1: f64[]) -> "
    "bool[] {\n"
    "    %2 = less %1, %0 : bool[]\n"
    "    return %2\n"
    "  } region (%0: f64[], %1: f64[]) -> f64[] {\n"
    "    %2 = exp %1 : f64[]\n"
    "    return %2\n"
    "  }\n"
    "  return %2\n"
    "}\n";

TEST_CASE("NumPy's side of a while, whose number of steps errors may decide") {
  const OracleResult one = Oracle::instance().ask(
      while_text, std::vector{host_array<double>({}, {2.0}), host_array<double>({}, {1.0})});
  REQUIRE(one.error.empty());
  CHECK(compare(std::vector{host_array<double>({}, {std::exp(1.0)})}, one));
  CHECK(one.outputs[0].tolerance[0] < 1e-14);
  // exp(1) may be below its own rounded value, and then there is a second step.
  const OracleResult open = Oracle::instance().ask(
      while_text,
      std::vector{host_array<double>({}, {std::exp(1.0)}), host_array<double>({}, {1.0})});
  REQUIRE(open.error.empty());
  CHECK(open.outputs[0].ambiguous == 1);
}

TEST_CASE("NumPy's side of a switch clamps the index") {
  const std::string text =
      "func @f(%0: i64[], %1: i64[2]) -> i64[2] {\n"
      "  %2 = call control.switch %0, %1 : i64[2] region (%0: i64[2]) -> i64[2] {\n"
      "    return %0\n"
      "  } region (%0: i64[2]) -> i64[2] {\n"
      "    %1 = negative %0 : i64[2]\n"
      "    return %1\n"
      "  }\n"
      "  return %2\n"
      "}\n";
  const HostArray values = integers({2}, {3, 4}), negative = integers({2}, {-3, -4});
  check(text, {integers({}, {-9}), values}, {values});
  check(text, {integers({}, {0}), values}, {values});
  check(text, {integers({}, {1}), values}, {negative});
  check(text, {integers({}, {7}), values}, {negative});
}

TEST_CASE("NumPy's side refuses regions whose types do not fit") {
  std::string text = scan_text("");
  const std::string right = "%3: i64[2], %4: i64[]) ->";
  text.replace(text.find(right), right.size(), "%3: i64[3], %4: i64[]) ->");
  const OracleResult result =
      Oracle::instance().ask(text, std::vector{integers({4, 2}, {0, 0, 0, 0, 0, 0, 0, 0}),
                                               integers({2}, {0, 0}), integers({2}, {0, 0})});
  CHECK(result.error.find("an operand of a region is i64[2], not i64[3]") != std::string::npos);
}

}  // namespace
}  // namespace heddle::test

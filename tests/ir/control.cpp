#include "ir/calls/control.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "ir/graph/graph.h"

using namespace heddle;
using namespace heddle::ir;

namespace {

/// Rows of %0 are added to the carry, from the last to the first; each step's carry is stacked.
const std::string scan_text =
    "func @f(%0: i64[n,2], %1: i64[2]) -> (i64[2], i64[n,2]) {\n"
    "  %2, %3 = call control.scan %1, %0 {carries = 1, sequences = 1, length = [n], reverse = "
    "true} "
    ": i64[2], i64[n,2] region (%0: u8[step1,0], %1: scalar i64, %2: i64[2], %3: i64[2]) -> "
    "(i64[2], i64[2]) {\n"
    "    %4 = multiply %2, %1 : i64[2]\n"
    "    %5 = add %4, %3 : i64[2]\n"
    "    return %5, %2\n"
    "  }\n"
    "  return %2, %3\n"
    "}\n";

const std::string while_text =
    "func @f(%0: i64[], %1: i64[]) -> i64[] {\n"
    "  %2 = call control.while %0, %1 {carries = 1} : i64[] "
    "region (%0: i64[], %1: i64[]) -> bool[] {\n"
    "    %2 = less %1, %0 : bool[]\n"
    "    return %2\n"
    "  } region (%0: i64[], %1: i64[]) -> i64[] {\n"
    "    %2 = add %1, %1 : i64[]\n"
    "    return %2\n"
    "  }\n"
    "  return %2\n"
    "}\n";

const std::string switch_text =
    "func @f(%0: i64[], %1: i64[2]) -> i64[2] {\n"
    "  %2 = call control.switch %0, %1 : i64[2] region (%0: i64[2]) -> i64[2] {\n"
    "    return %0\n"
    "  } region (%0: i64[2]) -> i64[2] {\n"
    "    %1 = negative %0 : i64[2]\n"
    "    return %1\n"
    "  } region (%0: i64[2]) -> i64[2] {\n"
    "    %1 = add %0, %0 : i64[2]\n"
    "    return %1\n"
    "  }\n"
    "  return %2\n"
    "}\n";

/// Reads rows step1 + 2 of %0, for step1 from 0 to 3.
const std::string sliced_text =
    "func @f(%0: i64[n,2], %1: i64[2]) -> i64[2] {\n"
    "  %2 = call control.scan %0, %1 {carries = 1, length = [4]} : i64[2] "
    "region (%0: u8[step1,0], %1: scalar i64, %2: i64[n,2], %3: i64[2]) -> i64[2] {\n"
    "    %4 = slice %2 starts=[step1+2,0] steps=[1,1] : i64[1,2]\n"
    "    %5 = reshape %4 : i64[2]\n"
    "    %6 = add %3, %5 : i64[2]\n"
    "    return %6\n"
    "  }\n"
    "  return %2\n"
    "}\n";

/// Adds 3 to each element of %0 that is below %1, until it is not.
const std::string elements_text =
    "func @f(%0: i64[3], %1: i64[3]) -> i64[3] {\n"
    "  %2 = call control.while %1, %0 {carries = 1} : i64[3] "
    "region (%0: i64[3], %1: i64[3]) -> bool[3] {\n"
    "    %2 = less %1, %0 : bool[3]\n"
    "    return %2\n"
    "  } region (%0: i64[3], %1: i64[3]) -> i64[3] {\n"
    "    %2 = constant 3 : i64[]\n"
    "    %3 = add %1, %2 : i64[3]\n"
    "    return %3\n"
    "  }\n"
    "  return %2\n"
    "}\n";

/// The same as a loop of each element on its own.
const std::string element_loop_text =
    "func @f(%0: i64[3], %1: i64[2,1]) -> i64[2,3] {\n"
    "  %2 = call control.elements %1, %0 {carries = 1} : i64[2,3] "
    "region (%0: i64[], %1: i64[]) -> bool[] {\n"
    "    %2 = less %1, %0 : bool[]\n"
    "    return %2\n"
    "  } region (%0: i64[], %1: i64[]) -> i64[] {\n"
    "    %2 = constant 3 : i64[]\n"
    "    %3 = add %1, %2 : i64[]\n"
    "    return %3\n"
    "  }\n"
    "  return %2\n"
    "}\n";

/// c = 10 c + step, for each element.
const std::string counted_text =
    "func @f(%0: i64[2]) -> i64[2] {\n"
    "  %1 = call control.elements %0 {carries = 1, length = [4], reverse = true} : i64[2] "
    "region (%0: i64[], %1: i64[]) -> i64[] {\n"
    "    %2 = constant 10 : i64[]\n"
    "    %3 = multiply %1, %2 : i64[]\n"
    "    %4 = add %3, %0 : i64[]\n"
    "    return %4\n"
    "  }\n"
    "  return %1\n"
    "}\n";

/// c = 10 c + row, for each element of %1 and each row of %0, of which 100 c + row is stacked.
const std::string stacked_text =
    "func @f(%0: i64[n,2], %1: i64[3,1]) -> i64[n,3,2] {\n"
    "  %2 = call control.elements %1, %0 {carries = 1, sequences = 1, result = 1, length = [n], "
    "reverse = true} : i64[n,3,2] region (%0: i64[], %1: i64[], %2: i64[]) -> (i64[], i64[]) {\n"
    "    %3 = constant 10 : i64[]\n"
    "    %4 = multiply %1, %3 : i64[]\n"
    "    %5 = add %4, %2 : i64[]\n"
    "    %6 = multiply %4, %3 : i64[]\n"
    "    %7 = add %6, %2 : i64[]\n"
    "    return %5, %7\n"
    "  }\n"
    "  return %2\n"
    "}\n";

HostArray array(const std::vector<std::int64_t>& values, Shape shape) {
  HostArray made{{DType::i64, std::move(shape)}, std::vector<std::byte>(8 * values.size())};
  std::memcpy(made.data.data(), values.data(), made.data.size());
  return made;
}

std::vector<std::int64_t> values(const HostArray& array) {
  std::vector<std::int64_t> made(array.data.size() / 8);
  std::memcpy(made.data(), array.data.data(), array.data.size());
  return made;
}

std::vector<std::int64_t> result(const std::string& text, std::vector<HostArray> arguments,
                                 std::size_t output = 0) {
  return values(interpret(parse(text), arguments)[output]);
}

using Values = std::vector<std::int64_t>;

template <class E>
std::string failure(const std::string& text) {
  try {
    parse(text);
  } catch (const E& error) {
    return error.what();
  }
  return {};
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("loops and branches print and read back") {
  for (const std::string& text : {scan_text, while_text, switch_text, sliced_text, elements_text,
                                  element_loop_text, counted_text, stacked_text}) {
    CAPTURE(text);
    const Graph graph = parse(text);
    verify(graph);
    CHECK(print(graph) == text);
    CHECK(parse(print(graph)).hash() == graph.hash());
  }
}

TEST_CASE("scan passes carries from step to step and stacks results") {
  const std::vector<HostArray> inputs = {array({1, 2, 3, 4, 5, 6}, {3, 2}), array({10, 20}, {2})};
  // Steps 2, 1, 0: 2*c + row 2, 1*c + row 1, 0*c + row 0.
  CHECK(result(scan_text, inputs, 0) == Values{1, 2});
  CHECK(result(scan_text, inputs, 1) == Values{28, 50, 25, 46, 10, 20});
  CHECK(result(scan_text, {array({}, {0, 2}), array({10, 20}, {2})}, 0) == Values{10, 20});
}

TEST_CASE("while ends when its condition is false") {
  CHECK(result(while_text, {array({100}, {}), array({3}, {})}) == Values{192});
  CHECK(result(while_text, {array({100}, {}), array({300}, {})}) == Values{300});
}

TEST_CASE("with a condition for each element, each takes its own steps") {
  CHECK(result(elements_text, {array({0, 5, 20}, {3}), array({10, 10, 10}, {3})}) ==
        Values{12, 11, 20});
  const std::string other = with(elements_text, "%1: i64[3]) -> bool[3]", "%1: i64[3]) -> bool[1]");
  const std::string sliced = with(other, "    return %2\n",
                                  "    %3 = slice %2 starts=[0] steps=[1] : bool[1]\n"
                                  "    return %3\n");
  CHECK(failure<ShapeError>(sliced).find("its condition is bool[1], but a carry is i64[3]") !=
        std::string::npos);
}

TEST_CASE("a loop of each element broadcasts its operands") {
  CHECK(result(element_loop_text, {array({0, 5, 20}, {3}), array({10, 1}, {2, 1})}) ==
        Values{12, 11, 20, 3, 5, 20});
  CHECK(result(counted_text, {array({0, 5}, {2})}) == Values{3210, 53210});
  CHECK(failure<ValueError>(with(counted_text, "carries = 1", "carries = 2"))
            .find("carries = 2 is not the number of some of its operands") != std::string::npos);
  CHECK(failure<ValueError>(with(counted_text, "reverse = true", "result = 1"))
            .find("result = 1 is not in [0, 1)") != std::string::npos);
  CHECK(failure<DTypeError>(with(element_loop_text, "%1: i64[2,1])", "%1: f64[2,1])"))
            .find("the parameters of its condition are not its operands' elements") !=
        std::string::npos);
  CHECK(failure<ValueError>(with(counted_text, "length = [4], ", ""))
            .find("a condition unless it has a length") != std::string::npos);
}

TEST_CASE("a loop of each element reads sequences and stacks results") {
  const std::vector<HostArray> inputs = {array({1, 2, 3, 4}, {2, 2}), array({0, 1, 2}, {3, 1})};
  // Row 1 first: 100 c + row, and then with c = 10 c + row.
  CHECK(result(stacked_text, inputs) ==
        Values{301, 402, 1301, 1402, 2301, 2402, 3, 4, 103, 104, 203, 204});
  CHECK(result(with(stacked_text, "reverse = true", "reverse = false"), inputs) ==
        Values{1, 2, 101, 102, 201, 202, 103, 204, 1103, 1204, 2103, 2204});
  CHECK(result(stacked_text, {array({}, {0, 2}), array({0, 1, 2}, {3, 1})}).empty());
  CHECK(failure<ShapeError>(with(stacked_text, "length = [n]", "length = [5]"))
            .find("the first extent of operand 1 is not 5, the number of steps") !=
        std::string::npos);
  CHECK(failure<ValueError>(with(stacked_text, "result = 1", "result = 2"))
            .find("result = 2 is not in [0, 2)") != std::string::npos);
  CHECK(failure<ValueError>(with(element_loop_text, "carries = 1", "carries = 1, sequences = 1"))
            .find("without a length, it takes and returns carries only") != std::string::npos);
}

TEST_CASE("switch clamps its index to its regions") {
  for (const auto& [index, expected] : std::vector<std::pair<std::int64_t, Values>>{
           {-5, {1, 2}}, {0, {1, 2}}, {1, {-1, -2}}, {2, {2, 4}}, {7, {2, 4}}}) {
    CAPTURE(index);
    CHECK(result(switch_text, {array({index}, {}), array({1, 2}, {2})}) == expected);
  }
}

TEST_CASE("slices at a counter are required to be inside for all steps") {
  const std::vector<Requirement> found = requirements(parse(sliced_text));
  const auto hold = [&](std::int64_t n) {
    return std::ranges::all_of(found, [&](const Requirement& one) {
      const SymbolBinding binding{intern_symbol("n"), n};
      return one.holds({&binding, 1});
    });
  };
  CHECK(hold(6));
  CHECK_FALSE(hold(5));
  CHECK(result(sliced_text, {array({0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}, {6, 2}),
                             array({0, 0}, {2})}) == Values{16, 20});
  CHECK_THROWS_AS(
      interpret(parse(sliced_text), std::vector{array({1, 2}, {1, 2}), array({0, 0}, {2})}),
      IndexError);
  // No step, nothing to require.
  const Graph none = parse(with(sliced_text, "length = [4]", "length = [0]"));
  CHECK(requirements(none).empty());
}

TEST_CASE("carries must come back as they went in") {
  CHECK(failure<ShapeError>(with(scan_text, "carries = 1, sequences = 1", "carries = 2"))
            .find("control.scan") != std::string::npos);
  CHECK(failure<Error>(with(while_text, "-> i64[] {\n    %2 = add", "-> i64[2] {\n    %2 = add")) !=
        "");
  CHECK(failure<ValueError>(with(scan_text, "carries = 1", "carries = 7"))
            .find("carries = 7 is not the number of some of its operands") != std::string::npos);
  CHECK(failure<ShapeError>(with(scan_text, "length = [n]", "length = [3]"))
            .find("the number of steps") != std::string::npos);
}

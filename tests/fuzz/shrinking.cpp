#include <string>

#include <doctest/doctest.h>

#include "tests/cases/case.h"
#include "tests/fuzz/shrink.h"

namespace heddle::test {
namespace {

const std::string text =
    "// input seed 0\n"
    "func @f(%0: f32[4]) -> (f32[4], i64[]) {\n"
    "  %1 = negative %0 : f32[4]\n"
    "  %2 = constant 0 : i64[]\n"
    "  %3, %4 = call control.while %2, %1 {carries = 2} : i64[], f32[4] region "
    "(%0: i64[], %1: f32[4]) -> bool[] {\n"
    "    %2 = constant 3 : i64[]\n"
    "    %3 = less %0, %2 : bool[]\n"
    "    return %3\n"
    "  } region (%0: i64[], %1: f32[4]) -> (i64[], f32[4]) {\n"
    "    %2 = constant 1 : i64[]\n"
    "    %3 = add %0, %2 : i64[]\n"
    "    %4 = sin %1 : f32[4]\n"
    "    %5 = tanh %4 : f32[4]\n"
    "    return %3, %5\n"
    "  }\n"
    "  return %4, %3\n"
    "}\n";

bool contains(const Case& one, const char* word) {
  return to_text(one).find(word) != std::string::npos;
}

TEST_CASE("a failing loop is shrunk in its body too, and still ends") {
  const Case one = parse_case(text);
  const Case small = shrink(one, [](const Case& each) { return contains(each, "tanh"); }, 200);
  CHECK(contains(small, "tanh"));
  CHECK(contains(small, "control.while"));
  CHECK_FALSE(contains(small, "sin"));
  CHECK_FALSE(contains(small, "negative"));
  CHECK(contains(small, "add"));
  CHECK(ir::interpret(small.graph, small.inputs).size() == 1);
}

}  // namespace
}  // namespace heddle::test

#include <string>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "ir/graph/graph.h"

using namespace heddle;
using namespace heddle::ir;

namespace {

/// What parse throws, with its type in front; "" when it throws nothing.
std::string failure(std::string_view text) {
  try {
    parse(text);
  } catch (const ParseError& error) {
    return std::string("ParseError: ") + error.what();
  } catch (const ShapeError& error) {
    return std::string("ShapeError: ") + error.what();
  } catch (const DTypeError& error) {
    return std::string("DTypeError: ") + error.what();
  } catch (const IndexError& error) {
    return std::string("IndexError: ") + error.what();
  } catch (const ValueError& error) {
    return std::string("ValueError: ") + error.what();
  }
  return "";
}

/// Failure of a function of one f32[3] parameter with this line in its body, which is line 2.
std::string line_failure(const std::string& line) {
  return failure("func @f(%0: f32[3]) -> f32[3] {\n  " + line + "\n  return %0\n}\n");
}

}  // namespace

TEST_CASE("complex constants come back unchanged") {
  const std::string text =
      "func @f(%0: c64[n]) -> c128[n] {\n"
      "  %1 = constant (1.5,-inf) : c64[]\n"
      "  %2 = multiply %0, %1 : c64[n]\n"
      "  %3 = cast %2 : c128[n]\n"
      "  %4 = constant (0x7ff0000000000001,-0.0) : c128[]\n"
      "  %5 = add %3, %4 : c128[n]\n"
      "  return %5\n"
      "}\n";
  CHECK(print(parse(text)) == text);
}

TEST_CASE("the precision of products is part of a graph") {
  const std::string text =
      "func @f(%0: f32[2,2], %1: c64[2,2]) -> (f32[2,2], f32[2,2], f32[2,2], c64[2,2]) {\n"
      "  %2 = call matmul %0, %0 : f32[2,2]\n"
      "  %3 = call matmul %0, %0 {precision = \"tf32\"} : f32[2,2]\n"
      "  %4 = call matmul %0, %0 {precision = \"bf16\"} : f32[2,2]\n"
      "  %5 = call matmul %1, %1 {precision = \"tf32\"} : c64[2,2]\n"
      "  return %2, %3, %4, %5\n"
      "}\n";
  const Graph graph = parse(text);
  verify(graph);
  CHECK(print(graph) == text);
  CHECK(graph.size() == 6);
  CHECK(parse(text).hash() == graph.hash());
  Graph other = parse(text);
  other.outputs[1] = other.outputs[2];
  CHECK(other.hash() != graph.hash());
  std::string spelled_out = text;
  spelled_out.insert(spelled_out.find(" : f32[2,2]\n"), " {precision = \"ieee\"}");
  CHECK(print(parse(spelled_out)) == text);
}

TEST_CASE("precisions that are none are refused") {
  CHECK(line_failure("%1 = call matmul %0, %0 {precision = \"fp8\"} : f32[3]") ==
        "ValueError: 2:8: matmul: unknown precision 'fp8'; it is one of ieee, tf32, bf16");
  CHECK(line_failure("%1 = add %0, %0 precision=tf32 : f32[3]").starts_with("ParseError: 2:19: "));
  CHECK(failure("func @f(%0: f64[2,2]) -> f64[2,2] {\n"
                "  %1 = call matmul %0, %0 {precision = \"tf32\"} : f64[2,2]\n  return %1\n}\n") ==
        "DTypeError: 2:8: matmul(float64[2,2], float64[2,2]): precision tf32 is available for "
        "float32 and complex64 "
        "only");
}

TEST_CASE("canonical text comes back unchanged") {
  const std::string text =
      R"(func @softmax(%0: f32[n,8192], %1: scalar f32, %2: bool[]) -> (f32[n,8192], i64[n], f32[]) where k >= 1, n >= 2, n % 4 == 0 {
  %3 = max %0 axes=[1] keepdims : f32[n,1]
  %4 = subtract %0, %3 : f32[n,8192]
  %5 = constant -2.5 : f32[]
  %6 = constant true : bool[]
  %7 = slice %4 starts=[0,n-1] steps=[1,-1] : f32[n,4]
  %8 = slice_update %4, %7 starts=[0,4] steps=[1,2] shape=[n,4] : f32[n,8192]
  %9 = add %8, %5 : f32[n,8192]
  %10 = add %9, %1 : f32[n,8192]
  %11 = argmax %10 axes=[1] : i64[n]
  %12 = iota axes=[0] : f32[8192]
  %13 = reshape %12 : f32[64,128]
  %14 = transpose %13 axes=[1,0] : f32[128,64]
  %15 = call matmul %14, %13 : f32[128,128]
  %16 = cast %6 : f32[]
  %17 = broadcast_to %16 : f32[1,128]
  %18 = concatenate %15, %17, %17 axes=[0] : f32[130,128]
  %19 = call sort %18 {axis = 0} : f32[130,128]
  %20 = sum %19 axes=[0,1] : f32[]
  return %10, %11, %20
}
)";
  const Graph graph = parse(text);
  verify(graph);
  CHECK(print(graph) == text);
  CHECK(graph.name == "softmax");
  CHECK(graph.parameters().size() == 3);
  CHECK(graph.attributes(graph.parameters()[1]).scalar);
  CHECK_FALSE(graph.attributes(graph.parameters()[2]).scalar);
}

TEST_CASE("free text is read: comments, spacing, names, repeated nodes") {
  const Graph graph = parse(R"(
// before
func @"odd \"name\"\\" ( %x:f32[ n , 2*n ],%scale : scalar f32 )->f32[n,n*2]
    where n % 4 == 0, n>=1, n % 6 == 0 {  // header
  %a=multiply %x,%scale:f32[n,2*n] %b = multiply %x, %scale : f32[n, 2*n]
  %sum = add %a, %b : f32[n,2*n]
  return %sum  // last
}
// after)");
  CHECK(graph.size() == 4);
  CHECK(
      print(graph) ==
      R"(func @"odd \"name\"\\"(%0: f32[n,2*n], %1: scalar f32) -> f32[n,2*n] where n >= 1, n % 12 == 0 {
  %2 = multiply %0, %1 : f32[n,2*n]
  %3 = add %2, %2 : f32[n,2*n]
  return %3
}
)");
  CHECK(print(parse(print(graph))) == print(graph));
}

TEST_CASE("only what outputs need is printed, numbered densely behind the parameters") {
  Graph graph;
  const ValueId one = graph.constant(DType::f32, 0x3f800000);
  const ValueId x = graph.parameter(DType::f32, {2}, {"user.cpp", 4});
  graph.add(Op::sin, {x});
  const ValueId y = graph.add(Op::add, {x, one}, {}, {"user.cpp", 7});
  graph.parameter(DType::u8, {});
  graph.outputs = {y};
  CHECK(print(graph) ==
        R"(func @main(%0: f32[2], %1: u8[]) -> f32[2] {
  %2 = constant 1.0 : f32[]
  %3 = add %0, %2 : f32[2]
  return %3
}
)");
  const std::string located = print(graph, {.locations = true});
  CHECK(located.find("%3 = add %0, %2 : f32[2]  // user.cpp:7\n") != std::string::npos);
  CHECK(print(parse(located)) == print(graph));
  CHECK(parse(located).hash() == graph.hash());
}

TEST_CASE("a parameter may be returned, and a value twice") {
  const std::string text = "func @f(%0: i8[0]) -> (i8[0], i8[0]) {\n  return %0, %0\n}\n";
  CHECK(print(parse(text)) == text);
}

TEST_CASE("syntax errors carry line and column") {
  CHECK(failure("") == "ParseError: 1:1: expected 'func', but the text ends");
  CHECK(failure("\n  fun @f") == "ParseError: 2:3: expected 'func', not 'fun'");
  CHECK(failure("func f") == "ParseError: 1:6: expected '@', not 'f'");
  CHECK(failure("func @(") == "ParseError: 1:7: expected a function's name, not '('");
  CHECK(failure("func @\"f") == "ParseError: 1:9: expected '\"', but the text ends");
  CHECK(failure("func @f(%0 f32[]") == "ParseError: 1:12: expected ':', not 'f32'");
  CHECK(failure("func @f(%0: f31[])") == "ParseError: 1:13: unknown dtype 'f31'");
  CHECK(failure("func @f(%0: f32)") == "ParseError: 1:16: expected '[', not ')'");
  CHECK(failure("func @f(%0: f32[n") == "ParseError: 1:18: expected ']', but the text ends");
  CHECK(failure("func @f(%0: f32[2 3])") ==
        "ParseError: 1:17: '2 3' is not an extent: expected integers and names joined by +, - and "
        "*, such as 64*n-2");
  CHECK(failure("func @f(%0: f32[2], %0: f32[2])") == "ParseError: 1:21: %0 is defined twice");
  CHECK(failure("func @f() f32[]") == "ParseError: 1:11: expected '-', not 'f32'");
  CHECK(failure("func @f(%0: f32[n]) -> f32[n] where n % 4 == 1 {") ==
        "ParseError: 1:37: a symbol's remainder must be 0");
  CHECK(failure("func @f(%0: f32[n]) -> f32[n] where n < 4 {") ==
        "ParseError: 1:39: expected '>', not '<'");
  CHECK(failure("func @f(%0: f32[n]) -> f32[n] where n % 0 == 0 {") ==
        "ValueError: 1:37: n cannot be a multiple of 0; give a positive number");
  CHECK(failure("func @f(%0: f32[n]) -> f32[n] where n >= 99999999999999999999 {") ==
        "ParseError: 1:42: the integer does not fit 64 bits");
}

TEST_CASE("errors in statements carry line and column") {
  CHECK(line_failure("%1 = frobnicate %0 : f32[3]") == "ParseError: 2:8: unknown op 'frobnicate'");
  CHECK(line_failure("%1 = parameter : f32[3]") == "ParseError: 2:8: unknown op 'parameter'");
  CHECK(line_failure("%1 = sin %2 : f32[3]") ==
        "ParseError: 2:12: %2 is not defined before its use");
  CHECK(line_failure("%1 = sin %1 : f32[3]") ==
        "ParseError: 2:12: %1 is not defined before its use");
  CHECK(line_failure("%0 = sin %0 : f32[3]") == "ParseError: 2:3: %0 is defined twice");
  CHECK(line_failure("%1 = sin %0") ==
        "ParseError: 3:3: expected ':' and the type; sin has no attribute 'return'");
  CHECK(line_failure("%1 = sin %0 axes=[0] : f32[3]") ==
        "ParseError: 2:15: expected ':' and the type; sin has no attribute 'axes'");
  CHECK(line_failure("%1 = sum %0 axes=[0] axes=[0] : f32[]") ==
        "ParseError: 2:24: attribute axes is given twice");
  CHECK(line_failure("%1 = sum %0 axes=[n] : f32[]") ==
        "ParseError: 2:21: expected an integer, not 'n'");
  CHECK(line_failure("%1 = sum %0 axes=0 : f32[]") == "ParseError: 2:20: expected '[', not '0'");
  CHECK(line_failure("%1 = slice %0 shape=[3] : f32[3]") ==
        "ParseError: 2:17: expected ':' and the type; slice has no attribute 'shape'");
  CHECK(line_failure("%1 = constant 300 : u8[]") == "ParseError: 2:17: '300' is not a value of u8");
  CHECK(line_failure("%1 = constant : f32[]") == "ParseError: 2:17: expected a value, not ':'");
  CHECK(line_failure("sin %0 : f32[3]") == "ParseError: 2:3: expected '%', not 'sin'");
  CHECK(line_failure("%1 = sin %0 : f32[4]") ==
        "ParseError: 2:8: sin has type f32[3], but f32[4] is written");
  CHECK(line_failure("%1 = constant 1 : i32[2]") ==
        "ParseError: 2:8: constant has type i32[], but i32[2] is written");
  CHECK(line_failure("%1 = reshape %0 : f64[3]") ==
        "ParseError: 2:8: reshape has type f32[3], but f64[3] is written");
}

TEST_CASE("what infer refuses keeps its type and gains the place") {
  CHECK(line_failure("%1 = reshape %0 : f32[4]") ==
        "ShapeError: 2:8: reshape(float32[3]): cannot reshape to [4]: the operand has 3 elements, "
        "not 4");
  CHECK(line_failure("%1 = bitwise_and %0, %0 : f32[3]").starts_with("DTypeError: 2:8: "));
  CHECK(line_failure("%1 = sum %0 axes=[1] : f32[]").starts_with("IndexError: 2:8: "));
  CHECK(line_failure("%1 = add %0 : f32[3]") ==
        "ValueError: 2:8: add(float32[3]): takes 2 operands, not 1");
  CHECK(failure("func @f(%0: f32[-1])").starts_with("ShapeError: 1:9: "));
}

TEST_CASE("results must be as declared") {
  CHECK(failure("func @f(%0: f32[3]) -> f32[4] {\n  return %0\n}") ==
        "ParseError: 2:10: result 0 has type f32[3], but f32[4] is written");
  CHECK(failure("func @f(%0: f32[3]) -> (f32[3], f32[3]) {\n  return %0\n}") ==
        "ParseError: 2:10: 1 values are returned, but 2 are declared");
  CHECK(failure("func @f(%0: f32[3]) -> f32[3] {\n  return %0, %0\n}") ==
        "ParseError: 2:10: 2 values are returned, but 1 are declared");
  CHECK(failure("func @f(%0: f32[3]) -> f32[3] {\n  return %0\n") ==
        "ParseError: 3:1: expected '}', but the text ends");
  CHECK(failure("func @f(%0: f32[3]) -> f32[3] {\n  return %0\n} func") ==
        "ParseError: 3:3: expected the end of the text, not 'func'");
}

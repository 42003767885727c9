#include "passes/rewrite/simplify.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "passes/calls/lowering.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

using namespace heddle;
using namespace heddle::test;

namespace {

/// What the output is after the pass, in text, its operands by name: the pass leaves dead nodes, so
/// only what the output needs counts.
std::string output_text(const ir::Graph& graph) {
  const std::string text = ir::print(graph);
  const std::size_t first = text.find('\n') + 1;
  return text.substr(first, text.rfind('}') - first);
}

ir::Graph only_outputs(const ir::Graph& graph) {
  // Printing and parsing drops nothing, so nodes that no output needs are left out here.
  std::vector<bool> needed(graph.size());
  for (const ir::ValueId output : graph.outputs) needed[index_of(output)] = true;
  for (std::size_t i = graph.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const ir::ValueId operand : graph.operands(ir::ValueId(i)))
      needed[index_of(operand)] = true;
  }
  ir::Graph result;
  result.fold_constants = false;
  std::vector<ir::ValueId> mapped(graph.size());
  for (const ir::ValueId parameter : graph.parameters()) {
    mapped[index_of(parameter)] =
        graph.attributes(parameter).scalar
            ? result.scalar_parameter(graph.dtype(parameter))
            : result.parameter(graph.dtype(parameter), graph.shape(parameter));
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto id = ir::ValueId(i);
    if (!needed[i] || graph.op(id) == ir::Op::parameter) continue;
    std::vector<ir::ValueId> operands;
    for (const ir::ValueId operand : graph.operands(id))
      operands.push_back(mapped[index_of(operand)]);
    mapped[i] = graph.op(id) == ir::Op::constant
                    ? result.constant(graph.dtype(id), graph.attributes(id).bits)
                    : result.add(graph.op(id), operands, graph.attributes(id));
  }
  for (const ir::ValueId output : graph.outputs) result.outputs.push_back(mapped[index_of(output)]);
  return result;
}

using Pass = ir::Graph (*)(const ir::Graph&);

/// The pass turns a function of `parameters` with body `before` into one with body `after`, and
/// what it computes stays the same, bit for bit.
void check(Pass pass, const std::string& parameters, const std::string& result,
           const std::string& before, const std::string& after) {
  const auto function = [&](const std::string& body) {
    return "func @main(" + parameters + ") -> " + result + " {\n" + body + "}\n";
  };
  CAPTURE(before);
  ir::Graph original = ir::parse(function(before));
  const ir::Graph changed = only_outputs(pass(original));
  CHECK(output_text(changed) == after);
  ir::verify(changed);
  std::vector<ir::HostArray> inputs;
  for (const ir::ValueId parameter : original.parameters()) {
    inputs.push_back(sample(ir::Domain::any, static_cast<int>(inputs.size()) % 2,
                            original.dtype(parameter), original.shape(parameter), 1));
  }
  const auto expected = ir::interpret(original, inputs), actual = ir::interpret(changed, inputs);
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) CHECK(actual[i].data == expected[i].data);
}

void simplifies(const std::string& parameters, const std::string& result, const std::string& before,
                const std::string& after) {
  check(passes::simplify, parameters, result, before, after);
}

/// The pass has no rule for it.
void stays(const std::string& parameters, const std::string& result, const std::string& body) {
  check(passes::simplify, parameters, result, body, body);
}

}  // namespace

TEST_CASE("neutral operands go, where no bit changes") {
  const std::string x = "%0: f32[512]", i = "%0: i32[512]";
  simplifies(x, "f32[512]",
             "  %1 = constant 1.0 : f32[]\n  %2 = multiply %0, %1 : f32[512]\n  return %2\n",
             "  return %0\n");
  simplifies(x, "f32[512]",
             "  %1 = constant 1.0 : f32[]\n  %2 = multiply %1, %0 : f32[512]\n  return %2\n",
             "  return %0\n");
  simplifies(x, "f32[512]",
             "  %1 = constant 1.0 : f32[]\n  %2 = divide %0, %1 : f32[512]\n  return %2\n",
             "  return %0\n");
  simplifies(i, "i32[512]",
             "  %1 = constant 0 : i32[]\n  %2 = add %0, %1 : i32[512]\n  return %2\n",
             "  return %0\n");
  simplifies(i, "i32[512]",
             "  %1 = constant 0 : i32[]\n  %2 = subtract %0, %1 : i32[512]\n  return %2\n",
             "  return %0\n");
  simplifies(i, "i32[512]",
             "  %1 = constant 0 : i32[]\n  %2 = left_shift %0, %1 : i32[512]\n  return %2\n",
             "  return %0\n");
  // -0.0 + 0.0 is 0.0; 0 - x is no x.
  stays(x, "f32[512]", "  %1 = constant 0.0 : f32[]\n  %2 = add %0, %1 : f32[512]\n  return %2\n");
  stays(i, "i32[512]",
        "  %1 = constant 0 : i32[]\n  %2 = subtract %1, %0 : i32[512]\n  return %2\n");
}

TEST_CASE("one divided by numbers is their reciprocal") {
  simplifies("%0: f32[512]", "f32[512]",
             "  %1 = constant 1.0 : f32[]\n  %2 = divide %1, %0 : f32[512]\n  return %2\n",
             "  %1 = reciprocal %0 : f32[512]\n  return %1\n");
  stays("%0: f32[512]", "f32[512]",
        "  %1 = constant 2.0 : f32[]\n  %2 = divide %1, %0 : f32[512]\n  return %2\n");
  stays("%0: c64[512]", "c64[512]",
        "  %1 = constant (1.0,0.0) : c64[]\n  %2 = divide %1, %0 : c64[512]\n  return %2\n");
}

TEST_CASE("of complex numbers only what keeps every bit goes") {
  const std::string z = "%0: c64[512]";
  // inf * (1+0j) has a NaN, -0 + 0 is 0, and z / |z| rounds anew.
  stays(z, "c64[512]",
        "  %1 = constant (1.0,0.0) : c64[]\n  %2 = multiply %0, %1 : c64[512]\n  return %2\n");
  stays(z, "c64[512]",
        "  %1 = constant (1.0,0.0) : c64[]\n  %2 = divide %0, %1 : c64[512]\n  return %2\n");
  stays(z, "c64[512]",
        "  %1 = constant (0.0,0.0) : c64[]\n  %2 = subtract %0, %1 : c64[512]\n  return %2\n");
  stays(z, "c64[512]", "  %1 = sign %0 : c64[512]\n  %2 = sign %1 : c64[512]\n  return %2\n");
  stays(z, "c64[512]", "  %1 = cast %0 : f32[512]\n  %2 = cast %1 : c64[512]\n  return %2\n");
  simplifies(z, "c64[512]",
             "  %1 = conjugate %0 : c64[512]\n  %2 = conjugate %1 : c64[512]\n  return %2\n",
             "  return %0\n");
  simplifies(z, "c64[512]", "  %1 = cast %0 : c128[512]\n  %2 = cast %1 : c64[512]\n  return %2\n",
             "  return %0\n");
  simplifies("%0: f32[512]", "f32[512]",
             "  %1 = cast %0 : c128[512]\n  %2 = cast %1 : f32[512]\n  return %2\n",
             "  return %0\n");
  simplifies("%0: f32[512]", "f32[512]",
             "  %1 = real %0 : f32[512]\n  %2 = conjugate %1 : f32[512]\n  return %2\n",
             "  return %0\n");
}

TEST_CASE("a neutral operand that broadcasts the other stays") {
  stays("%0: f32[1]", "f32[4]",
        "  %1 = constant 1.0 : f32[]\n  %2 = broadcast_to %1 : f32[4]\n  %3 = multiply %0, "
        "%2 : f32[4]\n  return %3\n");
}

TEST_CASE("ops that undo or repeat themselves go") {
  simplifies("%0: f32[512]", "f32[512]",
             "  %1 = negative %0 : f32[512]\n  %2 = negative %1 : f32[512]\n  return %2\n",
             "  return %0\n");
  simplifies("%0: i8[512]", "i8[512]",
             "  %1 = invert %0 : i8[512]\n  %2 = invert %1 : i8[512]\n  return %2\n",
             "  return %0\n");
  simplifies("%0: f32[512]", "f32[512]",
             "  %1 = fabs %0 : f32[512]\n  %2 = fabs %1 : f32[512]\n  return %2\n",
             "  %1 = fabs %0 : f32[512]\n  return %1\n");
  simplifies("%0: f32[512]", "f32[512]",
             "  %1 = floor %0 : f32[512]\n  %2 = floor %1 : f32[512]\n  return %2\n",
             "  %1 = floor %0 : f32[512]\n  return %1\n");
  simplifies("%0: f32[512]", "f32[512]", "  %1 = maximum %0, %0 : f32[512]\n  return %1\n",
             "  return %0\n");
  simplifies("%0: u8[512]", "u8[512]", "  %1 = bitwise_and %0, %0 : u8[512]\n  return %1\n",
             "  return %0\n");
  stays("%0: u8[512]", "u8[512]", "  %1 = bitwise_xor %0, %0 : u8[512]\n  return %1\n");
  stays("%0: f32[512]", "f32[512]",
        "  %1 = floor %0 : f32[512]\n  %2 = ceil %1 : f32[512]\n  return %2\n");
}

TEST_CASE("casts there and back go when nothing is lost between") {
  simplifies("%0: f32[512]", "f32[512]",
             "  %1 = cast %0 : f64[512]\n  %2 = cast %1 : f32[512]\n  return %2\n",
             "  return %0\n");
  simplifies("%0: i16[512]", "i16[512]",
             "  %1 = cast %0 : f32[512]\n  %2 = cast %1 : i16[512]\n  return %2\n",
             "  return %0\n");
  simplifies("%0: bool[512]", "bool[512]",
             "  %1 = cast %0 : u8[512]\n  %2 = cast %1 : bool[512]\n  return %2\n",
             "  return %0\n");
  stays("%0: f32[512]", "f32[512]",
        "  %1 = cast %0 : f16[512]\n  %2 = cast %1 : f32[512]\n  return %2\n");
  stays("%0: i32[512]", "i32[512]",
        "  %1 = cast %0 : f32[512]\n  %2 = cast %1 : i32[512]\n  return %2\n");
  stays("%0: i8[512]", "i8[512]",
        "  %1 = cast %0 : bool[512]\n  %2 = cast %1 : i8[512]\n  return %2\n");
  // Signed to unsigned and wider is no widening, though the way back restores it.
  stays("%0: i8[512]", "i8[512]",
        "  %1 = cast %0 : u16[512]\n  %2 = cast %1 : i8[512]\n  return %2\n");
  // The casts compose, but are not one: f32 rounds first.
  stays("%0: f64[512]", "f16[512]",
        "  %1 = cast %0 : f32[512]\n  %2 = cast %1 : f16[512]\n  return %2\n");
}

TEST_CASE("small powers are products") {
  const std::string x = "%0: f32[512]";
  simplifies(x, "f32[512]",
             "  %1 = constant 1.0 : f32[]\n  %2 = power %0, %1 : f32[512]\n  return %2\n",
             "  return %0\n");
  simplifies(x, "f32[512]",
             "  %1 = constant 2.0 : f32[]\n  %2 = power %0, %1 : f32[512]\n  return %2\n",
             "  %1 = multiply %0, %0 : f32[512]\n  return %1\n");
  simplifies(x, "f32[512]",
             "  %1 = constant -1.0 : f32[]\n  %2 = power %0, %1 : f32[512]\n  return %2\n",
             "  %1 = reciprocal %0 : f32[512]\n  return %1\n");
  stays(x, "f32[512]",
        "  %1 = constant 5.0 : f32[]\n  %2 = power %0, %1 : f32[512]\n  return %2\n");
  // Two roundings to f16 are not one.
  stays("%0: f16[512]", "f16[512]",
        "  %1 = constant 3.0 : f16[]\n  %2 = power %0, %1 : f16[512]\n  return %2\n");
}

TEST_CASE("views that change nothing go") {
  const std::string x = "%0: f32[16,32]";
  simplifies(x, "f32[16,32]", "  %1 = reshape %0 : f32[16,32]\n  return %1\n", "  return %0\n");
  simplifies(x, "f32[16,32]", "  %1 = broadcast_to %0 : f32[16,32]\n  return %1\n",
             "  return %0\n");
  simplifies(x, "f32[16,32]", "  %1 = transpose %0 axes=[0,1] : f32[16,32]\n  return %1\n",
             "  return %0\n");
  simplifies(x, "f32[16,32]",
             "  %1 = slice %0 starts=[0,0] steps=[1,1] : f32[16,32]\n  return %1\n",
             "  return %0\n");
  stays("%0: f32[16,16]", "f32[16,16]",
        "  %1 = transpose %0 axes=[1,0] : f32[16,16]\n  return %1\n");
  stays(x, "f32[16,32]", "  %1 = slice %0 starts=[15,0] steps=[-1,1] : f32[16,32]\n  return %1\n");
}

TEST_CASE("a reduction that is wanted with and without its axes is one") {
  const std::string x = "%0: f32[16,32]", both = "(f32[1,32], f32[32])";
  simplifies(x, both,
             "  %1 = sum %0 axes=[0] : f32[32]\n  %2 = sum %0 axes=[0] keepdims : f32[1,32]\n"
             "  return %2, %1\n",
             "  %1 = sum %0 axes=[0] keepdims : f32[1,32]\n  %2 = reshape %1 : f32[32]\n"
             "  return %1, %2\n");
  stays(x, both,
        "  %1 = max %0 axes=[0] : f32[32]\n  %2 = sum %0 axes=[0] keepdims : f32[1,32]\n"
        "  return %2, %1\n");
  stays(x, "(f32[1,32], f32[16])",
        "  %1 = sum %0 axes=[1] : f32[16]\n  %2 = sum %0 axes=[0] keepdims : f32[1,32]\n"
        "  return %2, %1\n");
}

TEST_CASE("views compose") {
  const std::string x = "%0: f32[16,32]";
  simplifies(x, "f32[8,64]",
             "  %1 = reshape %0 : f32[512]\n  %2 = reshape %1 : f32[8,64]\n  return %2\n",
             "  %1 = reshape %0 : f32[8,64]\n  return %1\n");
  simplifies("%0: f32[2,3,4]", "f32[4,2,3]",
             "  %1 = transpose %0 axes=[1,2,0] : f32[3,4,2]\n  %2 = transpose %1 axes=[1,2,0] : "
             "f32[4,2,3]\n  return %2\n",
             "  %1 = transpose %0 axes=[2,0,1] : f32[4,2,3]\n  return %1\n");
  simplifies(x, "f32[16,32]",
             "  %1 = transpose %0 axes=[1,0] : f32[32,16]\n  %2 = transpose %1 axes=[1,0] : "
             "f32[16,32]\n  return %2\n",
             "  return %0\n");
  simplifies(
      "%0: f32[4]", "f32[2,3,4]",
      "  %1 = broadcast_to %0 : f32[3,4]\n  %2 = broadcast_to %1 : f32[2,3,4]\n  return %2\n",
      "  %1 = broadcast_to %0 : f32[2,3,4]\n  return %1\n");
  // x[14:2:-2, 3:][1::2, ::-1]
  simplifies(x, "f32[3,29]",
             "  %1 = slice %0 starts=[14,3] steps=[-2,1] : f32[6,29]\n"
             "  %2 = slice %1 starts=[1,28] steps=[2,-1] : f32[3,29]\n  return %2\n",
             "  %1 = slice %0 starts=[12,31] steps=[-4,-1] : f32[3,29]\n  return %1\n");
  stays(x, "f32[32,16]",
        "  %1 = transpose %0 axes=[1,0] : f32[32,16]\n  %2 = reshape %1 : f32[512]\n  %3 = exp %2 "
        ": f32[512]\n"
        "  %4 = reshape %3 : f32[32,16]\n  return %4\n");
}

TEST_CASE("an update of all of an array is the value") {
  const std::string both = "%0: f32[16,32], %1: f32[16,32]";
  simplifies(both, "f32[16,32]",
             "  %2 = slice_update %0, %1 starts=[0,0] steps=[1,1] shape=[16,32] : f32[16,32]\n  "
             "return %2\n",
             "  return %1\n");
  simplifies("%0: f32[16,32], %1: f32[32]", "f32[16,32]",
             "  %2 = slice_update %0, %1 starts=[0,0] steps=[1,1] shape=[16,32] : f32[16,32]\n  "
             "return %2\n",
             "  %2 = broadcast_to %1 : f32[16,32]\n  return %2\n");
  stays(both, "f32[16,32]",
        "  %2 = slice_update %0, %1 starts=[15,0] steps=[-1,1] shape=[16,32] : f32[16,32]\n  "
        "return %2\n");
}

TEST_CASE("an update that another one overwrites goes") {
  const std::string parameters = "%0: f32[8,4], %1: f32[2,4], %2: f32[1,4]";
  const auto twice = [](const std::string& first, const std::string& second) {
    const std::string region = " steps=[1,1] shape=[2,4] : f32[8,4]\n";
    return "  %3 = slice_update %0, %1 starts=" + first + region +
           "  %4 = slice %3 starts=" + first +
           " steps=[1,1] : f32[2,4]\n  %5 = sin %4 : f32[2,4]\n" +
           "  %6 = slice_update %3, %5 starts=" + second + region;
  };
  simplifies(parameters, "f32[8,4]", twice("[3,0]", "[3,0]") + "  return %6\n",
             "  %3 = sin %1 : f32[2,4]\n"
             "  %4 = slice_update %0, %3 starts=[3,0] steps=[1,1] shape=[2,4] : f32[8,4]\n"
             "  return %4\n");
  stays(parameters, "f32[8,4]", twice("[3,0]", "[4,0]") + "  return %6\n");
  stays(parameters, "f32[8,4]",
        twice("[3,0]", "[3,0]") + "  %7 = add %6, %3 : f32[8,4]\n  return %7\n");
  simplifies(parameters, "f32[8,4]",
             "  %3 = slice_update %0, %2 starts=[3,0] steps=[-1,1] shape=[2,4] : f32[8,4]\n"
             "  %4 = slice %3 starts=[3,0] steps=[-1,1] : f32[2,4]\n"
             "  %5 = slice_update %3, %4 starts=[3,0] steps=[-1,1] shape=[2,4] : f32[8,4]\n"
             "  return %5\n",
             "  %3 = broadcast_to %2 : f32[2,4]\n"
             "  %4 = slice_update %0, %3 starts=[3,0] steps=[-1,1] shape=[2,4] : f32[8,4]\n"
             "  return %4\n");
}

TEST_CASE("an update that another one overwrites goes if other parts of the array are read, too") {
  const std::string parameters = "%0: f32[8,4], %1: f32[2,4]";
  const auto reads = [](const std::string& starts) {
    return "  %2 = slice_update %0, %1 starts=[3,0] steps=[1,1] shape=[2,4] : f32[8,4]\n"
           "  %3 = slice %2 starts=[3,0] steps=[1,1] : f32[2,4]\n"
           "  %4 = slice %2 starts=" +
           starts +
           " steps=[1,1] : f32[2,4]\n"
           "  %5 = add %3, %4 : f32[2,4]\n"
           "  %6 = slice_update %2, %5 starts=[3,0] steps=[1,1] shape=[2,4] : f32[8,4]\n"
           "  return %6\n";
  };
  for (const std::string starts : {"[1,0]", "[5,0]"})
    simplifies(parameters, "f32[8,4]", reads(starts),
               "  %2 = slice %0 starts=" + starts +
                   " steps=[1,1] : f32[2,4]\n"
                   "  %3 = add %1, %2 : f32[2,4]\n"
                   "  %4 = slice_update %0, %3 starts=[3,0] steps=[1,1] shape=[2,4] : f32[8,4]\n"
                   "  return %4\n");
  for (const std::string starts : {"[2,0]", "[4,0]"}) stays(parameters, "f32[8,4]", reads(starts));
}

TEST_CASE(
    "a slice of another region, which nothing needs, does not matter to an overwritten update") {
  ir::Graph graph = ir::parse(
      "func @main(%0: f32[8], %1: f32[3]) -> f32[8] {\n"
      "  %2 = slice_update %0, %1 starts=[0] steps=[1] shape=[3] : f32[8]\n"
      "  %3 = slice %2 starts=[0] steps=[1] : f32[4]\n"
      "  %4 = slice %3 starts=[0] steps=[1] : f32[3]\n"
      "  %5 = add %4, %4 : f32[3]\n"
      "  %6 = slice_update %2, %5 starts=[0] steps=[1] shape=[3] : f32[8]\n"
      "  return %6\n}\n");
  const ir::Graph twice = only_outputs(passes::simplify(passes::simplify(graph)));
  CHECK(output_text(twice) ==
        "  %2 = add %1, %1 : f32[3]\n"
        "  %3 = slice_update %0, %2 starts=[0] steps=[1] shape=[3] : f32[8]\n  return %3\n");
}

TEST_CASE("rows that are joined in order are the array") {
  const auto row = [](int number, int at) {
    return fmt::format(
        "  %{} = slice %0 starts=[{},0,0] steps=[1,1,1] : f32[1,1,4]\n"
        "  %{} = reshape %{} : f32[1,4]\n",
        2 * number + 1, at, 2 * number + 2, 2 * number + 1);
  };
  const auto joined = [&](int a, int b, int c) {
    return row(0, a) + row(1, b) + row(2, c) +
           "  %7 = concatenate %2, %4, %6 axes=[0] : f32[3,4]\n  return %7\n";
  };
  simplifies("%0: f32[3,1,4]", "f32[3,4]", joined(0, 1, 2),
             "  %1 = reshape %0 : f32[3,4]\n  return %1\n");
  simplifies("%0: f32[7,1,4]", "f32[3,4]", joined(2, 3, 4),
             "  %1 = slice %0 starts=[2,0,0] steps=[1,1,1] : f32[3,1,4]\n"
             "  %2 = reshape %1 : f32[3,4]\n  return %2\n");
  stays("%0: f32[7,1,4]", "f32[3,4]", joined(2, 4, 3));
  simplifies("%0: f32[6,4]", "f32[4,4]",
             "  %1 = slice %0 starts=[0,0] steps=[1,1] : f32[3,4]\n"
             "  %2 = slice %0 starts=[3,0] steps=[1,1] : f32[1,4]\n"
             "  %3 = concatenate %1, %2 axes=[0] : f32[4,4]\n  return %3\n",
             "  %1 = slice %0 starts=[0,0] steps=[1,1] : f32[4,4]\n  return %1\n");
  stays("%0: f32[6,4]", "f32[3,8]",
        "  %1 = slice %0 starts=[0,0] steps=[1,1] : f32[3,4]\n"
        "  %2 = slice %0 starts=[3,0] steps=[1,1] : f32[3,4]\n"
        "  %3 = concatenate %1, %2 axes=[1] : f32[3,8]\n  return %3\n");
}

TEST_CASE("reductions over nothing or one element are removed") {
  const auto becomes = [](const std::string& parameters, const std::string& result,
                          const std::string& before, const std::string& after) {
    check(passes::remove_trivial_ops, parameters, result, before, after);
  };
  becomes("%0: f32[3,0]", "f32[3]", "  %1 = sum %0 axes=[1] : f32[3]\n  return %1\n",
          "  %1 = constant 0.0 : f32[]\n  %2 = broadcast_to %1 : f32[3]\n  return %2\n");
  becomes("%0: f32[3,0]", "f32[3]", "  %1 = prod %0 axes=[1] : f32[3]\n  return %1\n",
          "  %1 = constant 1.0 : f32[]\n  %2 = broadcast_to %1 : f32[3]\n  return %2\n");
  becomes("%0: bool[0]", "bool[]", "  %1 = all %0 axes=[0] : bool[]\n  return %1\n",
          "  %1 = constant true : bool[]\n  return %1\n");
  becomes("%0: f32[3,1]", "f32[3]", "  %1 = max %0 axes=[1] : f32[3]\n  return %1\n",
          "  %1 = reshape %0 : f32[3]\n  return %1\n");
  becomes("%0: f32[3,1]", "f32[3,1]", "  %1 = sum %0 axes=[1] keepdims : f32[3,1]\n  return %1\n",
          "  return %0\n");
  becomes("%0: i8[3,1]", "i64[3]",
          "  %1 = cast %0 : i64[3,1]\n  %2 = sum %1 axes=[1] : i64[3]\n  return %2\n",
          "  %1 = cast %0 : i64[3,1]\n  %2 = reshape %1 : i64[3]\n  return %2\n");
  becomes("%0: f32[3,1]", "i64[3]", "  %1 = argmin %0 axes=[1] : i64[3]\n  return %1\n",
          "  %1 = constant 0 : i64[]\n  %2 = broadcast_to %1 : i64[3]\n  return %2\n");
}

TEST_CASE("empty parts, updates and products are removed") {
  const auto becomes = [](const std::string& parameters, const std::string& result,
                          const std::string& before, const std::string& after) {
    check(passes::remove_trivial_ops, parameters, result, before, after);
  };
  becomes("%0: f32[3], %1: f32[0], %2: f32[2]", "f32[5]",
          "  %3 = concatenate %0, %1, %2 axes=[0] : f32[5]\n  return %3\n",
          "  %3 = concatenate %0, %2 axes=[0] : f32[5]\n  return %3\n");
  becomes("%0: f32[3], %1: f32[0]", "f32[3]",
          "  %2 = concatenate %1, %0 axes=[0] : f32[3]\n  return %2\n", "  return %0\n");
  becomes("%0: f32[3], %1: f32[0]", "f32[3]",
          "  %2 = slice_update %0, %1 starts=[0] steps=[1] shape=[0] : f32[3]\n  return %2\n",
          "  return %0\n");
  const Pass for_gpu = [](const ir::Graph& graph) {
    return passes::lower_calls(graph, ir::parse_target("sm_90"));
  };
  check(for_gpu, "%0: f32[3,0], %1: f32[0,2]", "f32[3,2]",
        "  %2 = call matmul %0, %1 : f32[3,2]\n  return %2\n",
        "  %2 = constant 0.0 : f32[]\n  %3 = broadcast_to %2 : f32[3,2]\n  return %3\n");
}

#include "ir/graph/generalize.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace heddle;
using namespace heddle::ir;

namespace {

std::vector<ErasedSignature> outlines_of(std::initializer_list<const char*> texts) {
  std::vector<ErasedSignature> outlines;
  for (const char* text : texts) outlines.push_back(erased_signature_of(parse(text)));
  return outlines;
}

std::optional<SymbolicGraph> general_of(std::initializer_list<const char*> texts) {
  const std::vector<ErasedSignature> outlines = outlines_of(texts);
  for (const ErasedSignature& outline : outlines)
    REQUIRE(outline.structure == outlines.front().structure);
  return generalize(parse(*texts.begin()), outlines);
}

}  // namespace

TEST_CASE("graphs that differ only in extents have the same structure") {
  const char* const text =
      "func @f(%0: f32[3]) -> f32[3] {\n  %1 = exp %0 : f32[3]\n  return %1\n}";
  const ErasedSignature one = erased_signature_of(parse(text));
  const auto other = [](const char* changed) { return erased_signature_of(parse(changed)); };
  const ErasedSignature longer =
      other("func @g(%0: f32[4]) -> f32[4] {\n  %1 = exp %0 : f32[4]\n  return %1\n}");
  CHECK(longer.structure == one.structure);
  CHECK(longer.numbers == std::vector<std::int64_t>{4});
  CHECK(
      other("func @f(%0: f32[3]) -> f32[3] {\n  %1 = sin %0 : f32[3]\n  return %1\n}").structure !=
      one.structure);
  CHECK(
      other("func @f(%0: f64[3]) -> f64[3] {\n  %1 = exp %0 : f64[3]\n  return %1\n}").structure !=
      one.structure);
  CHECK(other("func @f(%0: f32[3,1]) -> f32[3,1] {\n  %1 = exp %0 : f32[3,1]\n  return %1\n}")
            .structure != one.structure);
  CHECK(
      other("func @f(%0: f32[n]) -> f32[n] {\n  %1 = exp %0 : f32[n]\n  return %1\n}").structure !=
      one.structure);
}

TEST_CASE("extents that are always equal become one symbol, and changing constants scalars") {
  const char* const at_3 = R"(func @mean(%0: f32[3,5]) -> f32[3] {
  %1 = constant 3.0 : f32[]
  %2 = sum %0 axes=[1] : f32[3]
  %3 = divide %2, %1 : f32[3]
  return %3
})";
  const char* const at_4 = R"(func @mean(%0: f32[4,5]) -> f32[4] {
  %1 = constant 4.0 : f32[]
  %2 = sum %0 axes=[1] : f32[4]
  %3 = divide %2, %1 : f32[4]
  return %3
})";
  const auto general = general_of({at_3, at_4});
  REQUIRE(general);
  CHECK(print(general->graph) ==
        R"(func @mean(%0: f32[extent0,5], %1: scalar f32) -> f32[extent0] {
  %2 = sum %0 axes=[1] : f32[extent0]
  %3 = divide %2, %1 : f32[extent0]
  return %3
}
)");
  CHECK(covers_signature(*general, erased_signature_of(parse(at_3))));
  ErasedSignature other = erased_signature_of(parse(at_4));
  other.numbers[0] = 1;
  other.constants[0] = 77;
  CHECK(covers_signature(*general, other));
  other.numbers[1] = 6;
  CHECK_FALSE(covers_signature(*general, other));
}

TEST_CASE("extents in ops are expressed by those of parameters, or become arguments") {
  const auto text = [](int n, int m, int start) {
    return fmt::format(
        R"(func @f(%0: f32[{0},{1}], %1: f32[{0}]) -> (f32[{2}], f32[{3}], f32[{4},3]) {{
  %2 = reshape %0 : f32[{2}]
  %3 = slice %1 starts=[1] steps=[1] : f32[{3}]
  %4 = iota axes=[0] : f32[{4},3]
  return %2, %3, %4
}})",
        n, m, n * m, n - 1, start);
  };
  const std::string a = text(4, 5, 17), b = text(6, 9, 2), c = text(10, 2, 5);
  const auto general = general_of({a.c_str(), b.c_str(), c.c_str()});
  REQUIRE(general);
  CHECK(
      print(general->graph) ==
      R"(func @f(%0: f32[extent0,extent1], %1: f32[extent0], %2: u8[extent2,0]) -> (f32[extent0*extent1], f32[extent0-1], f32[extent2,3]) {
  %3 = reshape %0 : f32[extent0*extent1]
  %4 = slice %1 starts=[1] steps=[1] : f32[extent0-1]
  %5 = iota axes=[0] : f32[extent2,3]
  return %3, %4, %5
}
)");
  CHECK(general->extents.size() == 1);
  CHECK(covers_signature(*general, erased_signature_of(parse(text(1, 1, 0)))));
}

TEST_CASE("extents that differ in some graph get two symbols; mixed broadcasting is refused") {
  const char* const square =
      "func @f(%0: f32[3,3]) -> f32[3,3] {\n  %1 = exp %0 : f32[3,3]\n  return %1\n}";
  const char* const wide =
      "func @f(%0: f32[3,4]) -> f32[3,4] {\n  %1 = exp %0 : f32[3,4]\n  return %1\n}";
  const auto rows = general_of(
      {square, "func @f(%0: f32[5,5]) -> f32[5,5] {\n  %1 = exp %0 : f32[5,5]\n  return %1\n}"});
  REQUIRE(rows);
  CHECK_FALSE(covers_signature(*rows, erased_signature_of(parse(wide))));
  const auto both =
      general_of({square, wide,
                  "func @f(%0: f32[5,5]) -> f32[5,5] {\n  %1 = exp %0 : f32[5,5]\n  return %1\n}"});
  REQUIRE(both);
  CHECK(covers_signature(*both, erased_signature_of(parse(wide))));
  CHECK(both->symbols.size() == 2);

  const auto sum = [](int a, int b, int both) {
    return fmt::format(
        "func @f(%0: f32[{}], %1: f32[{}]) -> f32[{}] {{\n  %2 = add %0, %1 : f32[{}]\n  return "
        "%2\n}}",
        a, b, both, both);
  };
  // Whether 5 and 1 broadcast is not for symbols to say.
  CHECK_FALSE(general_of({sum(5, 5, 5).c_str(), sum(7, 1, 7).c_str()}));
  CHECK(general_of({sum(5, 1, 5).c_str(), sum(7, 1, 7).c_str()}));
}

TEST_CASE("an extent that is reshaped to rows of 2 becomes 2 times a symbol") {
  const auto text = [](int n) {
    return fmt::format(
        "func @f(%0: f32[{0}]) -> f32[{1},2] {{\n  %1 = reshape %0 : f32[{1},2]\n  return %1\n}}",
        2 * n, n);
  };
  const auto general = general_of({text(3).c_str(), text(8).c_str()});
  REQUIRE(general);
  CHECK(to_string(general->graph.type(general->graph.parameters()[0])) == "f32[2*extent0]");
  CHECK(covers_signature(*general, erased_signature_of(parse(text(5)))));
}

TEST_CASE("an extent n + 1 that is halved becomes 2 times a symbol of its own") {
  const auto text = [](int n) {
    return fmt::format(
        "func @f(%0: f32[{0}], %1: f32[{1}]) -> f32[{2}] {{\n"
        "  %2 = slice %1 starts=[0] steps=[1] : f32[{2}]\n  return %2\n}}",
        n, n + 1, (n + 1) / 2);
  };
  const auto general = general_of({text(5).c_str(), text(7).c_str(), text(9).c_str()});
  REQUIRE(general);
  CHECK(to_string(general->graph.type(general->graph.parameters()[0])) == "f32[extent0]");
  CHECK(to_string(general->graph.type(general->graph.parameters()[1])) == "f32[2*extent1]");
  CHECK(to_string(general->graph.type(general->graph.outputs[0])) == "f32[extent1]");
}

TEST_CASE("new symbols have names that the graph does not use") {
  const auto text = [](int n) {
    return fmt::format(
        "func @f(%0: f32[extent0,{0}]) -> f32[extent0,{0}] {{\n"
        "  %1 = exp %0 : f32[extent0,{0}]\n  return %1\n}}",
        n);
  };
  const auto general = general_of({text(5).c_str(), text(6).c_str()});
  REQUIRE(general);
  CHECK(to_string(general->graph.type(general->graph.outputs[0])) == "f32[extent0,extent1]");
}

TEST_CASE("constants of ops that are not exactly rounded belong to the structure") {
  const auto text = [](const char* op, double value) {
    return fmt::format(
        "func @f(%0: f32[4]) -> f32[4] {{\n  %1 = constant {:.1f} : f32[]\n"
        "  %2 = {} %0, %1 : f32[4]\n  return %2\n}}",
        value, op);
  };
  CHECK(erased_signature_of(parse(text("power", 2))).structure !=
        erased_signature_of(parse(text("power", 3))).structure);
  CHECK(erased_signature_of(parse(text("multiply", 2))).structure ==
        erased_signature_of(parse(text("multiply", 3))).structure);
}

TEST_CASE("graphs with too many unrelated numbers are not generalised") {
  const auto text = [](int seed) {
    std::string body;
    for (int i = 1; i <= 20; ++i)
      body += fmt::format("  %{} = slice %0 starts=[{}] steps=[1] : f32[3]\n", i,
                          i * 50 + (i * i * 7919 ^ seed * i * i * i * 104729) % 47);
    std::string outputs = "%1", types = "f32[3]";
    for (int i = 2; i <= 20; ++i) outputs += fmt::format(", %{}", i), types += ", f32[3]";
    return fmt::format("func @f(%0: f32[2000]) -> ({}) {{\n{}  return {}\n}}", types, body,
                       outputs);
  };
  CHECK_FALSE(general_of({text(1).c_str(), text(2).c_str(), text(5).c_str()}));
}

TEST_CASE("an extent that is the product of two others is recognised") {
  // Windows of 7 in n elements: rows that are one longer than the array start one later each.
  const auto text = [](int n) {
    return fmt::format(
        R"(func @f(%0: f32[{0}]) -> f32[{1},7] {{
  %1 = reshape %0 : f32[1,{0}]
  %2 = broadcast_to %1 : f32[{2},{0}]
  %3 = reshape %2 : f32[{3}]
  %4 = slice %3 starts=[0] steps=[1] : f32[{4}]
  %5 = reshape %4 : f32[{1},{5}]
  %6 = slice %5 starts=[0,0] steps=[1,1] : f32[{1},7]
  return %6
}})",
        n, n - 6, n - 5, (n - 5) * n, (n - 6) * (n + 1), n + 1);
  };
  const auto general = general_of({text(20).c_str(), text(31).c_str(), text(9).c_str()});
  REQUIRE(general);
  CHECK(general->symbols.size() == 1);
  CHECK(covers_signature(*general, erased_signature_of(parse(text(100)))));
}

TEST_CASE("an extent that is reshaped to changing factors becomes the product of two symbols") {
  const auto text = [](int n, int m) {
    return fmt::format(
        "func @f(%0: f32[{0}]) -> f32[{1},4,{2}] {{\n"
        "  %1 = reshape %0 : f32[{1},4,{2}]\n  return %1\n}}",
        4 * n * m, n, m);
  };
  const auto general = general_of({text(3, 5).c_str(), text(8, 2).c_str(), text(7, 6).c_str()});
  REQUIRE(general);
  CHECK(to_string(general->graph.type(general->graph.parameters()[0])) == "f32[4*extent0*extent1]");
  CHECK(general->graph.parameters().size() == 3);
  CHECK(general->extents.size() == 2);
  CHECK(covers_signature(*general, erased_signature_of(parse(text(1, 9)))));
  ErasedSignature other = erased_signature_of(parse(text(1, 9)));
  other.numbers[0] = 37;
  CHECK_FALSE(covers_signature(*general, other));
}

TEST_CASE("relations of extents are found from the smallest one, in any order") {
  const auto text = [](int k) {
    return fmt::format(
        "func @f(%0: f32[400]) -> (f32[{1},6], f32[{2}], f32[{3}]) {{\n"
        "  %1 = slice %0 starts=[0] steps=[1] : f32[{0}]\n"
        "  %2 = reshape %1 : f32[{1},6]\n"
        "  %3 = slice %0 starts=[0] steps=[1] : f32[{2}]\n"
        "  %4 = slice %0 starts=[0] steps=[1] : f32[{3}]\n  return %2, %3, %4\n}}",
        6 * k, k, 400 - k, 2 * k + 96);
  };
  const auto general = general_of({text(2).c_str(), text(3).c_str(), text(4).c_str()});
  REQUIRE(general);
  CHECK(
      print(general->graph) ==
      R"(func @f(%0: f32[400], %1: u8[extent0,0]) -> (f32[extent0,6], f32[-extent0+400], f32[2*extent0+96]) {
  %2 = slice %0 starts=[0] steps=[1] : f32[6*extent0]
  %3 = reshape %2 : f32[extent0,6]
  %4 = slice %0 starts=[0] steps=[1] : f32[-extent0+400]
  %5 = slice %0 starts=[0] steps=[1] : f32[2*extent0+96]
  return %3, %4, %5
}
)");
  CHECK(covers_signature(*general, erased_signature_of(parse(text(40)))));
}

TEST_CASE("a constant extent that is reshaped to changing factors becomes their product") {
  const auto text = [](int k) {
    return fmt::format(
        "func @f(%0: f32[4,60]) -> f32[4,{0},{1}] {{\n"
        "  %1 = reshape %0 : f32[4,{0},{1}]\n  return %1\n}}",
        60 / k, k);
  };
  const auto general = general_of({text(2).c_str(), text(3).c_str(), text(4).c_str()});
  REQUIRE(general);
  CHECK(to_string(general->graph.type(general->graph.parameters()[0])) == "f32[4,extent0*extent1]");
  CHECK(covers_signature(*general, erased_signature_of(parse(text(15)))));
}

TEST_CASE("a step's size is generalised, but not its sign, and not a step of 1") {
  const auto text = [](int step, int count) {
    return fmt::format(
        "func @f(%0: f32[60]) -> f32[{1}] {{\n"
        "  %1 = slice %0 starts=[{2}] steps=[{0}] : f32[{1}]\n  return %1\n}}",
        step, count, step < 0 ? 59 : 0);
  };
  const auto structure = [&](int step) {
    return erased_signature_of(parse(text(step, 3))).structure;
  };
  CHECK(structure(2) == structure(7));
  CHECK(structure(-2) == structure(-7));
  CHECK(structure(2) != structure(-2));
  CHECK(structure(2) != structure(1));
  CHECK(structure(-2) != structure(-1));
  const auto up = general_of({text(2, 30).c_str(), text(3, 20).c_str(), text(4, 15).c_str()});
  REQUIRE(up);
  CHECK(print(up->graph) ==
        R"(func @f(%0: f32[60], %1: u8[extent0,0], %2: u8[extent1,0]) -> f32[extent0] {
  %3 = slice %0 starts=[0] steps=[extent1] : f32[extent0]
  return %3
}
)");
  CHECK(covers_signature(*up, erased_signature_of(parse(text(7, 9)))));
  const auto down = general_of({text(-2, 30).c_str(), text(-3, 20).c_str(), text(-4, 15).c_str()});
  REQUIRE(down);
  CHECK(print(down->graph).find("starts=[59] steps=[-extent1]") != std::string::npos);
  CHECK(print(parse(print(down->graph))) == print(down->graph));
}

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "ir/graph/generalize.h"
#include "ir/graph/graph.h"
#include "test_calls.h"

using namespace heddle;
using namespace heddle::ir;

namespace {

const std::string extremes_text =
    "func @f(%0: i64[n,3]) -> (i64[n], i64[n], bool[]) {\n"
    "  %1, %2, %3 = call test.extremes %0 {exact = true, axis = 0, weight = -2.5, mode = "
    "\"least\", "
    "dtype = i8, counts = [1,-2], extents = [n,2*n+1]} : i64[n], i64[n], bool[]\n"
    "  return %1, %2, %3\n"
    "}\n";

const std::string repeat_text =
    "func @f(%0: i64[n], %1: i64[]) -> i64[n] {\n"
    "  %2, %3 = call test.repeat %0, %1 {times = 3} : i64[n], i64[] "
    "region (%0: i64[n], %1: i64[]) -> (i64[n], i64[]) {\n"
    "    %2 = add %0, %1 : i64[n]\n"
    "    %3 = add %1, %1 : i64[]\n"
    "    return %2, %3\n"
    "  }\n"
    "  %4 = add %2, %3 : i64[n]\n"
    "  return %4\n"
    "}\n";

HostArray i64_array(std::vector<std::int64_t> values, Shape shape) {
  HostArray array{{DType::i64, std::move(shape)}, std::vector<std::byte>(8 * values.size())};
  std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

std::vector<std::int64_t> values_of(const HostArray& array) {
  const auto* const data = reinterpret_cast<const std::int64_t*>(array.data.data());
  return {data, data + array.data.size() / 8};
}

std::string failure(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing fails";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("calls with several results and attributes of every type print and read back") {
  test::extremes();
  const Graph graph = parse(extremes_text);
  verify(graph);
  CHECK(print(graph) == extremes_text);
  CHECK(parse(print(graph)).hash() == graph.hash());
  CHECK(graph.size() == 4);
  for (const char* changed : {"weight = 3.5", "mode = \"most\"", "dtype = u8", "counts = [1,-3]"}) {
    const std::string name = std::string(changed).substr(0, std::string(changed).find(' '));
    const std::size_t begin = extremes_text.find(name + " = ");
    const std::size_t end = extremes_text.find_first_of(changed[0] == 'c' ? "]" : ",", begin) +
                            (changed[0] == 'c' ? 1 : 0);
    const std::string other = std::string(extremes_text).replace(begin, end - begin, changed);
    CAPTURE(other);
    CHECK(parse(other).hash() != graph.hash());
    CHECK(print(parse(other)) == other);
  }
}

TEST_CASE("results that nothing needs are not nodes of what is printed") {
  test::extremes();
  const std::string text =
      "func @f(%0: i64[2,3]) -> i64[2] {\n"
      "  %1, %2, _ = call test.extremes %0 {axis = 0} : i64[2], i64[2], bool[]\n"
      "  return %2\n"
      "}\n";
  const Graph graph = parse(text);
  verify(graph);
  CHECK(print(graph) == text);
  CHECK(graph.size() == 3);
  const HostArray x = i64_array({3, 1, 2, -5, 9, 0}, {2, 3});
  const std::vector<HostArray> results = interpret(graph, {&x, 1});
  REQUIRE(results.size() == 1);
  CHECK(values_of(results[0]) == std::vector<std::int64_t>{3, 9});
  const std::vector<PrintedNode> nodes = print_nodes(graph);
  REQUIRE(nodes.size() == 3);
  CHECK(nodes[2].text == "%2 = result 1 of %1 : i64[2]");
}

TEST_CASE("every result is computed once, and symbols are bound") {
  test::extremes();
  const Graph graph = parse(extremes_text);
  const HostArray x = i64_array({3, 1, 2, -5, 9, 0}, {2, 3});
  const std::vector<HostArray> results = interpret(graph, {&x, 1});
  REQUIRE(results.size() == 3);
  CHECK(values_of(results[0]) == std::vector<std::int64_t>{1, -5});
  CHECK(values_of(results[1]) == std::vector<std::int64_t>{3, 9});
  CHECK(results[2].data == std::vector<std::byte>{std::byte{0}});
}

TEST_CASE("regions print, read back, hash, and are interpreted") {
  test::repeat();
  const Graph graph = parse(repeat_text);
  verify(graph);
  CHECK(print(graph) == repeat_text);
  CHECK(parse(replaced(repeat_text, "%2 = add %0, %1", "%2 = multiply %0, %1")).hash() !=
        graph.hash());
  CHECK(parse(replaced(repeat_text, "times = 3", "times = 4")).hash() != graph.hash());
  const std::vector<HostArray> arguments = {i64_array({1, 2}, {2}), i64_array({10}, {})};
  // 10, 20 and 40 are added; the last step is 80.
  CHECK(values_of(interpret(graph, arguments)[0]) == std::vector<std::int64_t>{151, 152});
}

TEST_CASE("regions nest") {
  test::repeat();
  const std::string text =
      "func @f(%0: i64[2]) -> i64[2] {\n"
      "  %1 = call test.repeat %0 {times = 2} : i64[2] region (%0: i64[2]) -> i64[2] {\n"
      "    %1 = call test.repeat %0 {times = 3} : i64[2] region (%0: i64[2]) -> i64[2] {\n"
      "      %1 = add %0, %0 : i64[2]\n"
      "      return %1\n"
      "    }\n"
      "    return %1\n"
      "  }\n"
      "  return %1\n"
      "}\n";
  const Graph graph = parse(text);
  CHECK(print(graph) == text);
  const HostArray x = i64_array({1, 3}, {2});
  CHECK(values_of(interpret(graph, {&x, 1})[0]) == std::vector<std::int64_t>{64, 192});

  std::string head = "func @f(%0: i64[2]) -> i64[2] {\n", tail = "return %0\n}";
  for (int i = 0; i < 40; ++i) {
    head += "%1 = call test.repeat %0 : i64[2] region (%0: i64[2]) -> i64[2] {";
    tail += "return %1\n}";
  }
  CHECK(failure(head + tail).find("regions may be nested at most 32 deep") != std::string::npos);
}

TEST_CASE("lines are counted through regions, which have no facts") {
  test::repeat();
  const Graph graph = parse(repeat_text, "f.txt");
  for (const PrintedNode& node : print_nodes(graph)) {
    if (graph.op(node.id) == Op::call) CHECK(graph.node(node.id).location.line == 2);
    if (graph.op(node.id) == Op::add) CHECK(graph.node(node.id).location.line == 7);
  }
  Graph region = parse("func @f(%0: f32[n]) -> f32[n] where n >= 2 {\n  return %0\n}\n");
  CHECK(region.facts.size() == 1);
  CHECK_THROWS_WITH_AS(make_region(region),
                       "a region cannot hold facts about symbols; state them on the whole graph",
                       ValueError);
}

TEST_CASE("what is wrong with a call is said with line and column") {
  test::extremes();
  test::repeat();
  const auto line = [](const std::string& statement) {
    return failure("func @f(%0: i64[2,3]) -> i64[2] {\n" + statement + "\n  return %1\n}\n");
  };
  CHECK(line("%1 = call test.nothing %0 : i64[2]") == "2:11: unknown call op 'test.nothing'");
  CHECK(line("%1 = call test.extremes %0 : i64[2]") ==
        "2:6: test.extremes has 3 results, but 1 are named and 1 types are written");
  CHECK(line("%1, %2, %3 = call test.extremes %0 : i64[2], i64[2], i64[]") ==
        "2:14: test.extremes has type bool[], but i64[] is written");
  CHECK(line("%1, _, _ = call test.extremes %0 {colour = 1} : i64[2], i64[2], bool[]") ==
        "2:35: test.extremes has no attribute 'colour'");
  CHECK(line("%1, _, _ = call test.extremes %0 {axis = 1, axis = 1} : i64[2], i64[2], bool[]") ==
        "2:45: attribute axis is given twice");
  CHECK(line("%1, _, _ = call test.extremes %0 {mode = \"all\"} : i64[2], i64[2], bool[]") ==
        "2:12: test.extremes: unknown mode 'all'; it is one of both, least, most");
  CHECK(line("%1, _, _ = call test.extremes %0 {weight = \"x\"} : i64[2], i64[2], bool[]")
            .starts_with("2:44: "));
  CHECK(line("%1, _, _ = call test.extremes %0 {exact = 1} : i64[2], i64[2], bool[]")
            .starts_with("2:43: expected 'false'"));
  CHECK(line("%1, %2 = add %0, %0 : i64[2,3]") ==
        "2:10: add has 1 results, but 2 are named and 1 types are written");
  CHECK(line("%1 = result %0 : i64[2]") == "2:6: unknown op 'result'");
  CHECK(line("%1 = call test.repeat %0 : i64[2,3]").starts_with("3:3: expected 'region'"));
  const std::string swapped =
      replaced(replaced(repeat_text, "-> (i64[n], i64[])", "-> (i64[], i64[n])"), "%2, %3\n  }",
               "%3, %2\n  }");
  CHECK(failure(swapped).find("its region takes and gives other types") != std::string::npos);
}

TEST_CASE("graphs that differ in the extents of calls and regions generalise") {
  test::extremes();
  test::repeat();
  const auto text = [](int rows) {
    const std::string n = std::to_string(rows);
    return "func @f(%0: i64[" + n + ",3], %1: i64[]) -> (i64[" + n + "], i64[" + n + "]) {\n" +
           "  %2, %3, _ = call test.extremes %0 {axis = 0, extents = [" + n + "]} : i64[" + n +
           "], i64[" + n + "], bool[]\n" + "  %4, _ = call test.repeat %2, %1 : i64[" + n +
           "], i64[] region (%0: i64[" + n + "], %1: i64[]) -> (i64[" + n + "], i64[]) {\n" +
           "    %2 = broadcast_to %1 : i64[" + n + "]\n" + "    %3 = add %0, %2 : i64[" + n +
           "]\n" + "    return %3, %1\n  }\n  return %3, %4\n}\n";
  };
  std::vector<ErasedSignature> outlines;
  for (const int rows : {5, 7, 12}) outlines.push_back(erased_signature_of(parse(text(rows))));
  CHECK(outlines[0].structure == outlines[1].structure);
  const auto general = generalize(parse(text(5)), outlines);
  REQUIRE(general);
  verify(general->graph);
  for (const ErasedSignature& outline : outlines) CHECK(covers_signature(*general, outline));
  const std::string printed = print(general->graph);
  CAPTURE(printed);
  CHECK(printed.find("extents = [extent0]") != std::string::npos);
  CHECK(printed.find("broadcast_to %1 : i64[extent0]") != std::string::npos);
  // What a region computes, and its constants, belong to the structure.
  const std::string other = replaced(text(5), "%3 = add %0, %2", "%3 = subtract %0, %2");
  CHECK(erased_signature_of(parse(other)).structure != outlines[0].structure);
}

TEST_CASE("what regions require of symbols is required of the graph") {
  test::repeat();
  const Graph graph = parse(
      "func @f(%0: i64[n]) -> i64[n] {\n"
      "  %1 = call test.repeat %0 : i64[n] region (%0: i64[n]) -> i64[n] {\n"
      "    %1 = slice %0 starts=[n-5] steps=[1] : i64[5]\n"
      "    %2 = sum %1 axes=[0] : i64[]\n"
      "    %3 = add %0, %2 : i64[n]\n"
      "    return %3\n"
      "  }\n"
      "  return %1\n"
      "}\n");
  const std::vector<Requirement> found = requirements(graph);
  REQUIRE(found.size() == 1);
  CHECK(found[0].value == Dim::symbol("n") - 5);
}

TEST_CASE("equal calls are one node, and results are those of their call") {
  Graph graph;
  const ValueId x = graph.parameter(DType::i64, {4, 3});
  const ValueId call = graph.call(test::extremes(), {x});
  CHECK(call == graph.call(test::extremes(), {x}));
  CHECK(call != graph.call(test::extremes(), {x}, {{"weight", 2.0}}));
  CHECK(graph.result(call, 0) == call);
  CHECK(graph.result(call, 1) == graph.result(call, 1));
  CHECK(graph.result(call, 1) != graph.result(call, 2));
  CHECK(to_string(graph.type(graph.result(call, 2))) == "bool[]");
  CHECK_THROWS_AS(graph.result(call, 3), InternalError);
  CHECK_THROWS_AS(graph.result(x, 1), InternalError);
  CHECK_THROWS_AS(register_call_op(test::extremes()), ValueError);
  CHECK_THROWS_AS(graph.call(test::extremes(), {x}, {{"colour", 2.0}}), InternalError);
  CHECK_THROWS_AS(graph.call(test::extremes(), {x}, {{"weight", std::int64_t{2}}}), InternalError);
  CHECK_THROWS_AS(graph.call(test::extremes(), {x}, {{"mode", std::string("all")}}), ValueError);
}

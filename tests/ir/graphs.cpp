#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "ir/graph/graph.h"

using namespace heddle;
using namespace heddle::ir;

namespace {

Attributes axes(std::vector<std::int64_t> list) {
  Attributes attributes;
  attributes.axes = std::move(list);
  return attributes;
}

Attributes dtype(DType value) {
  Attributes attributes;
  attributes.dtype = value;
  return attributes;
}

}  // namespace

TEST_CASE("equal nodes are one node, whatever their location") {
  Graph graph;
  const ValueId x = graph.parameter(DType::f32, {4});
  const ValueId y = graph.parameter(DType::f32, {4});
  CHECK(x != y);
  const ValueId sum = graph.add(Op::add, {x, y}, {}, {"first.cpp", 3});
  CHECK(graph.add(Op::add, {x, y}, {}, {"second.cpp", 9}) == sum);
  CHECK(graph.node(sum).location.to_string() == "first.cpp:3");
  CHECK(graph.add(Op::add, {y, x}) != sum);
  CHECK(graph.add(Op::multiply, {x, y}) != sum);
  CHECK(graph.add(Op::sum, {x}, axes({0})) == graph.add(Op::sum, {x}, axes({0})));
  CHECK(graph.add(Op::sum, {x}, axes({0})) != graph.add(Op::sum, {x}));
  CHECK(graph.add(Op::cast, {x}, dtype(DType::f16)) != graph.add(Op::cast, {x}, dtype(DType::f64)));
  CHECK(graph.size() == 9);
}

TEST_CASE("constants are equal by dtype and bits") {
  Graph graph;
  const ValueId one = graph.constant(DType::i32, 1);
  CHECK(graph.constant(DType::i32, 1) == one);
  CHECK(graph.constant(DType::i64, 1) != one);
  CHECK(graph.constant(DType::i32, 2) != one);
  CHECK(graph.constant(DType::f32, 0) != graph.constant(DType::f32, 0x80000000));
  CHECK(graph.constant(DType::i8, 0xfffffffffffffff0) == graph.constant(DType::i8, 0xf0));
  CHECK(graph.constant(DType::boolean, 2) == graph.constant(DType::boolean, 1));
}

TEST_CASE("shapes are shared and symbols tell them apart") {
  Graph graph;
  const Dim n = Dim::symbol("n"), m = Dim::symbol("m");
  const ValueId x = graph.parameter(DType::f32, {n, 4});
  const ValueId y = graph.parameter(DType::f64, {n, 4});
  const ValueId z = graph.parameter(DType::f32, {m, 4});
  CHECK(graph.node(x).shape == graph.node(y).shape);
  CHECK(graph.node(x).shape != graph.node(z).shape);
  CHECK(graph.node(x).hash != graph.node(z).hash);
}

TEST_CASE("a graph's hash is of what its outputs need") {
  const auto build = [](bool with_dead_node, std::string name) {
    Graph graph;
    graph.name = std::move(name);
    const ValueId x = graph.parameter(DType::f32, {Dim::symbol("n")});
    if (with_dead_node) graph.add(Op::sin, {x});
    graph.outputs = {graph.add(Op::cos, {x}, {}, {"x.cpp", with_dead_node ? 1u : 2u})};
    graph.facts = {{intern_symbol("n"), 2, 4}};
    return graph;
  };
  const Graph graph = build(false, "a");
  CHECK(build(true, "b").hash() == graph.hash());

  Graph more_facts = build(false, "a");
  more_facts.facts.push_back({intern_symbol("n"), 1, 2});
  CHECK(more_facts.hash() == graph.hash());
  more_facts.facts.push_back({intern_symbol("n"), 3, 1});
  CHECK(more_facts.hash() != graph.hash());

  Graph more_outputs = build(false, "a");
  more_outputs.outputs.push_back(more_outputs.outputs[0]);
  CHECK(more_outputs.hash() != graph.hash());

  Graph more_parameters = build(false, "a");
  more_parameters.parameter(DType::f32, {});
  CHECK(more_parameters.hash() != graph.hash());

  Graph scalar, array;
  scalar.outputs = {scalar.scalar_parameter(DType::f32)};
  array.outputs = {array.parameter(DType::f32, {})};
  CHECK(scalar.hash() != array.hash());
  CHECK(scalar.hash().hex().size() == 32);
}

TEST_CASE("what infer refuses adds nothing") {
  Graph graph;
  const ValueId x = graph.parameter(DType::f32, {3});
  const ValueId y = graph.parameter(DType::f32, {4});
  CHECK_THROWS_AS(graph.add(Op::add, {x, y}), ShapeError);
  CHECK_THROWS_AS(graph.parameter(DType::f32, {-1}), ShapeError);
  CHECK_THROWS_AS(graph.add(Op::sin, {ValueId{7}}), InternalError);
  CHECK_THROWS_AS(graph.add(Op::parameter, {}), InternalError);
  CHECK(graph.size() == 2);
  CHECK(graph.parameters().size() == 2);
}

TEST_CASE("use_counts counts users") {
  Graph graph;
  const ValueId x = graph.parameter(DType::f32, {3});
  const ValueId square = graph.add(Op::multiply, {x, x});
  const ValueId sum = graph.add(Op::add, {square, x});
  graph.outputs = {sum, sum};
  CHECK(use_counts(graph) == std::vector<std::uint32_t>{2, 1, 0});
}

TEST_CASE("facts about one symbol merge") {
  const SymbolId n = intern_symbol("n"), a = intern_symbol("a");
  const std::vector<SymbolFact> facts = {{n, 2, 4}, {a, 0, 1}, {n, 1, 6}, {a, -3, 5}};
  const std::vector<SymbolFact> merged = {{a, 0, 5}, {n, 2, 12}};
  CHECK(merge_facts(facts) == merged);
  CHECK_THROWS_AS(merge_facts(std::vector<SymbolFact>{{n, 0, 0}}), ValueError);
  CHECK_THROWS_AS(merge_facts(std::vector<SymbolFact>{{n, 0, std::int64_t{1} << 62}, {n, 0, 3}}),
                  ValueError);
}

TEST_CASE("a chain of a million ops is built, printed, read, verified and destroyed") {
  constexpr int length = 1'000'000;
  Graph graph;
  const ValueId x = graph.parameter(DType::f32, {1000});
  ValueId y = x;
  for (int i = 0; i < length; ++i) y = graph.add(i % 2 == 0 ? Op::add : Op::multiply, {y, x});
  graph.outputs = {y};
  CHECK(graph.size() == length + 1);
  verify(graph);
  CHECK(use_counts(graph)[0] == length);
  const Graph copy = parse(print(graph));
  CHECK(copy.hash() == graph.hash());
}

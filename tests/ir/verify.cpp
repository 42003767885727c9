#include <doctest/doctest.h>

#include "heddle/error.h"

#include "ir/graph/graph.h"

using namespace heddle;
using namespace heddle::ir;

namespace {

struct Fixture {
  Graph graph;
  ValueId x = graph.parameter(DType::f32, {3});
  ValueId two = graph.constant(DType::f32, 0x40000000);
  ValueId product = graph.add(Op::multiply, {x, two});

  Fixture() { graph.outputs = {product}; }

  /// A node that a bug could have spoilt; Graph's own functions cannot.
  Node& node(ValueId id) { return const_cast<Node&>(graph.node(id)); }
  Attributes& attributes(ValueId id) { return const_cast<Attributes&>(graph.attributes(id)); }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a graph as it is built is well-formed") { verify(graph); }

TEST_CASE_FIXTURE(Fixture, "outputs") {
  graph.outputs.clear();
  CHECK_THROWS_WITH_AS(verify(graph), "graph main is malformed: it has no outputs", InternalError);
  graph.outputs = {ValueId{9}};
  CHECK_THROWS_WITH_AS(verify(graph), "graph main is malformed: output 0 is node 9 of 3",
                       InternalError);
}

TEST_CASE_FIXTURE(Fixture, "types are as infer says") {
  node(product).dtype = DType::f64;
  CHECK_THROWS_WITH_AS(
      verify(graph),
      "graph main is malformed: node 2 (multiply) has type f64[3], but its type rule gives f32[3]",
      InternalError);
  node(product).dtype = DType::f32;
  node(two).dtype = DType::f64;
  CHECK_THROWS_WITH_AS(
      verify(graph),
      "graph main is malformed: node 1 (constant) has type f64[], but its type rule gives f32[]",
      InternalError);
  node(two).dtype = DType::f32;
  node(product).op = Op::sin;
  CHECK_THROWS_WITH_AS(
      verify(graph),
      "graph main is malformed: node 2 (sin) violates its type rule: sin(float32[3], "
      "float32[]): takes 1 operands, not 2",
      InternalError);
}

TEST_CASE_FIXTURE(Fixture, "operands come first") {
  const_cast<ValueId&>(graph.operands(product)[1]) = product;
  CHECK_THROWS_WITH_AS(
      verify(graph),
      "graph main is malformed: node 2 (multiply) uses node 2, which does not come "
      "before it",
      InternalError);
}

TEST_CASE_FIXTURE(Fixture, "parameters stand at their index") {
  attributes(x).index = 1;
  CHECK_THROWS_WITH_AS(verify(graph),
                       "graph main is malformed: node 0 (parameter) is at position 0 but has "
                       "index 1",
                       InternalError);
  attributes(x).index = 0;
  const_cast<ValueId&>(graph.parameters()[0]) = two;
  CHECK_THROWS_WITH_AS(verify(graph),
                       "graph main is malformed: parameter 0 is node 1, which is not a parameter",
                       InternalError);
}

TEST_CASE_FIXTURE(Fixture, "every parameter is listed") {
  const_cast<std::vector<ValueId>&>(graph.parameters()).clear();
  CHECK_THROWS_WITH_AS(verify(graph),
                       "graph main is malformed: node 0 (parameter) has index 0 but is not the "
                       "parameter at that index",
                       InternalError);
}

TEST_CASE_FIXTURE(Fixture, "constants are 0-d") {
  node(two).shape = node(x).shape;
  CHECK_THROWS_AS(verify(graph), InternalError);
}

TEST_CASE_FIXTURE(Fixture, "attributes that an op does not name stay default") {
  Attributes axes;
  axes.axes = {0};
  graph.add(Op::sin, {x}, axes);
  CHECK_THROWS_WITH_AS(
      verify(graph),
      "graph main is malformed: node 3 (sin) has attributes that its op does not have",
      InternalError);
}

TEST_CASE_FIXTURE(Fixture, "facts") {
  graph.facts = {{intern_symbol("n"), 0, 0}};
  CHECK_THROWS_WITH_AS(verify(graph),
                       "graph main is malformed: n cannot be a multiple of 0; give a positive "
                       "number",
                       InternalError);
}

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "ir/graph/graph.h"

using namespace heddle;
using namespace heddle::ir;

namespace {

std::vector<std::string> texts(std::string_view graph) {
  std::vector<std::string> result;
  for (const Requirement& one : requirements(parse(graph)))
    result.push_back(one.value.to_string() + " >= 0, " + one.text);
  return result;
}

bool holds(const Requirement& one, std::int64_t n) {
  const SymbolBinding binding{intern_symbol("n"), n};
  return one.holds({&binding, 1});
}

/// The type of what `action` throws.
template <class Action>
std::string thrown(const Action& action) {
  try {
    action();
  } catch (const ShapeError&) {
    return "ShapeError";
  } catch (const IndexError&) {
    return "IndexError";
  } catch (const ValueError&) {
    return "ValueError";
  }
  return {};
}

std::string required(const Graph& graph, const SymbolBindings& bindings) {
  return thrown([&] {
    for (const Requirement& one : requirements(graph)) {
      if (!one.holds(bindings)) one.raise(one.text);
    }
  });
}

HostArray zeros(const Type& type, const SymbolBindings& bindings) {
  HostArray array{type, {}};
  for (Dim& extent : array.type.shape) extent = extent.evaluate(bindings);
  array.data.resize(static_cast<std::size_t>(byte_count(array.type).constant()));
  return array;
}

/// What the interpreter throws, which infers anew with values in the place of symbols.
std::string interpreted(const Graph& graph, const SymbolBindings& bindings) {
  std::vector<HostArray> arguments;
  for (const ValueId parameter : graph.parameters())
    arguments.push_back(zeros(graph.type(parameter), bindings));
  return thrown([&] { interpret(graph, arguments); });
}

constexpr const char* open_graphs[] = {
    "func @f(%0: f32[n]) -> f32[5] { %1 = slice %0 starts=[n-5] steps=[1] : f32[5] return %1 }",
    "func @f(%0: f32[n]) -> f32[5] { %1 = slice %0 starts=[2] steps=[1] : f32[5] return %1 }",
    "func @f(%0: f32[n]) -> f32[5] { %1 = slice %0 starts=[n-1] steps=[-1] : f32[5] return %1 }",
    "func @f(%0: f32[n]) -> f32[5] { %1 = slice %0 starts=[6] steps=[-1] : f32[5] return %1 }",
    "func @f(%0: f32[n]) -> f32[n-5] { %1 = slice %0 starts=[5] steps=[1] : f32[n-5] return %1 }",
    "func @f(%0: f32[n], %1: f32[k]) -> f32[k] { %2 = slice %0 starts=[7] steps=[1] : f32[k] "
    "return %2 }",
    "func @f(%0: f32[n], %1: f32[2]) -> f32[n] { %2 = slice_update %0, %1 starts=[n-4] steps=[1] "
    "shape=[2] : f32[n] return %2 }",
    "func @f(%0: f32[n,3]) -> f32[3] { %1 = max %0 axes=[0] : f32[3] return %1 }",
    "func @f(%0: f32[n,3]) -> f32[n,1] { %1 = min %0 axes=[1] keepdims : f32[n,1] return %1 }",
    "func @f(%0: f32[n]) -> i64[] { %1 = argmax %0 axes=[0] : i64[] return %1 }",
    "func @f(%0: f32[n]) -> i64[] { %1 = slice %0 starts=[3] steps=[1] : f32[n-3] "
    "%2 = argmin %1 axes=[0] : i64[] return %2 }",
    "func @f(%0: f32[n]) -> i32[n-2,4] { %1 = iota axes=[0] : i32[n-2,4] return %1 }",
    "func @f(%0: f32[n,k]) -> f32[k,n-6] { %1 = transpose %0 axes=[1,0] : f32[k,n] "
    "%2 = slice %1 starts=[0,3] steps=[1,1] : f32[k,n-6] return %2 }",
    "func @f(%0: f32[n], %1: f32[k]) -> f32[n-2] { %2 = concatenate %0, %1 axes=[0] : f32[k+n] "
    "%3 = slice %2 starts=[k+1] steps=[1] : f32[n-2] return %3 }",
};

}  // namespace

TEST_CASE("both ends of a symbolic region are required to be inside, and an extent not negative") {
  CHECK(texts(R"(func @f(%0: f32[n]) -> (f32[5], f32[n-2]) {
  %1 = slice %0 starts=[n-5] steps=[1] : f32[5]
  %2 = slice %0 starts=[3] steps=[-1] : f32[n-2]
  return %1, %2
})") == std::vector<std::string>{
            "n-5 >= 0, slice(float32[n]): start n-5 step 1 extent 5 is out of "
            "bounds for axis 0 of extent n",
            "n-2 >= 0, slice(float32[n]): axis 0 has the negative extent n-2",
            "-n+6 >= 0, slice(float32[n]): start 3 step -1 extent n-2 is out of "
            "bounds for axis 0 of extent n",
            "n-4 >= 0, slice(float32[n]): start 3 step -1 extent n-2 is out of "
            "bounds for axis 0 of extent n"});
  CHECK(texts(R"(func @f(%0: f32[n], %1: f32[]) -> f32[n] {
  %2 = slice_update %0, %1 starts=[7] steps=[1] shape=[2] : f32[n]
  return %2
})") == std::vector<std::string>{
            "n-9 >= 0, slice_update(float32[n], float32[]): start 7 step 1 extent 2 "
            "is out of bounds for axis 0 of extent n"});
}

TEST_CASE("a region without elements may lie anywhere") {
  const auto found = requirements(parse(R"(func @f(%0: f32[m], %1: f32[n]) -> f32[n] {
  %2 = slice %0 starts=[20] steps=[1] : f32[n]
  return %2
})"));
  REQUIRE(found.size() == 1);
  const auto holds = [&](std::int64_t m, std::int64_t n) {
    return found[0].holds(SymbolBindings{{intern_symbol("m"), m}, {intern_symbol("n"), n}});
  };
  CHECK(holds(3, 0));
  CHECK_FALSE(holds(3, 1));
  CHECK_FALSE(holds(29, 10));
  CHECK(holds(30, 10));
}

TEST_CASE("reductions without an identity require an element") {
  CHECK(
      texts(R"(func @f(%0: f32[n,m,4]) -> (f32[m,4], i64[n,4], f32[n,m], f32[]) {
  %1 = max %0 axes=[0] : f32[m,4]
  %2 = argmin %0 axes=[1] : i64[n,4]
  %3 = min %0 axes=[2] : f32[n,m]
  %4 = sum %0 axes=[0,1,2] : f32[]
  return %1, %2, %3, %4
})") ==
      std::vector<std::string>{
          "n-1 >= 0, max(float32[n,m,4]): axis 0 has no elements, and max of no elements is "
          "undefined",
          "16*m >= 0, max(float32[n,m,4]): the size of float32[m,4] in bytes does not fit 64 bits",
          "m-1 >= 0, argmin(float32[n,m,4]): axis 1 has no elements, and argmin of no elements is "
          "undefined",
          "32*n >= 0, argmin(float32[n,m,4]): the size of int64[n,4] in bytes does not fit 64 "
          "bits"});
}

TEST_CASE("a condition is listed once, holds from its bound on, and raises its own error") {
  const auto found = requirements(parse(R"(func @f(%0: f32[n], %1: f32[n]) -> (f32[5], f32[5]) {
  %2 = slice %0 starts=[n-5] steps=[1] : f32[5]
  %3 = slice %1 starts=[n-5] steps=[1] : f32[5]
  return %2, %3
})"));
  REQUIRE(found.size() == 1);
  CHECK_FALSE(holds(found[0], 4));
  CHECK(holds(found[0], 5));
  CHECK(holds(found[0], 50));
  CHECK_THROWS_AS(found[0].raise("outside"), IndexError);
  CHECK_THROWS_AS((Requirement{0, 1, Requirement::Breach::shape, "", ""}.raise("")), ShapeError);
  CHECK_THROWS_AS((Requirement{0, 1, Requirement::Breach::value, "", ""}.raise("")), ValueError);
}

TEST_CASE("what inference decides is not left to the launch") {
  CHECK(texts(R"(func @f(%0: f32[n,8], %1: f32[8]) -> (f32[n], f32[n,3]) {
  %2 = add %0, %1 : f32[n,8]
  %3 = max %2 axes=[1] : f32[n]
  %4 = slice %2 starts=[0,5] steps=[1,1] : f32[n,3]
  return %3, %4
})")
            .empty());
}

TEST_CASE("bytes are required to fit, but for what is no larger than a parameter") {
  CHECK(texts(R"(func @f(%0: f32[n]) -> bool[n] {
  %1 = isnan %0 : bool[n]
  return %1
})")
            .empty());
  const auto found = requirements(parse(R"(func @f(%0: f32[n]) -> f32[] {
  %1 = broadcast_to %0 : f32[n,n,n]
  %2 = exp %1 : f32[n,n,n]
  %3 = sum %2 axes=[0,1,2] : f32[]
  return %3
})"));
  REQUIRE(found.size() == 1);
  CHECK(found[0].text ==
        "broadcast_to(float32[n]): the size of float32[n,n,n] in bytes does not fit 64 bits");
  CHECK(holds(found[0], 1 << 20));
  CHECK_FALSE(holds(found[0], 1 << 21));
  CHECK_THROWS_AS(found[0].raise(""), ShapeError);
}

TEST_CASE("what no output needs, and what parameters show, is not required") {
  CHECK(texts(R"(func @f(%0: f32[n]) -> f32[n] {
  %1 = slice %0 starts=[n-5] steps=[1] : f32[5]
  %2 = exp %0 : f32[n]
  return %2
})")
            .empty());
  // An array of n-5 elements is there, so n is at least 5.
  const auto found = requirements(parse(R"(func @f(%0: f32[n-5]) -> (f32[n-5], f32[]) {
  %1 = exp %0 : f32[n-5]
  %2 = max %1 axes=[0] : f32[]
  return %1, %2
})"));
  REQUIRE(found.size() == 1);
  CHECK(found[0].value == Dim::parse("n-6"));
}

TEST_CASE("requirements refuse what inference with values refuses, as the same error") {
  for (const char* text : open_graphs) {
    CAPTURE(text);
    const Graph graph = parse(text);
    int refused = 0, count = 0;
    for (std::int64_t n = 0; n < 12; ++n) {
      for (std::int64_t k = 0; k < 4; ++k) {
        CAPTURE(n);
        CAPTURE(k);
        const SymbolBindings bindings{{intern_symbol("n"), n}, {intern_symbol("k"), k}};
        const std::string ours = required(graph, bindings);
        CHECK(ours == interpreted(graph, bindings));
        refused += !ours.empty();
        ++count;
      }
    }
    CHECK(refused < count);
    CHECK((refused > 0 || requirements(graph).empty()));
  }
}

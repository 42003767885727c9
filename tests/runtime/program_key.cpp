#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "ir/calls/calls.h"
#include "ir/graph/graph.h"
#include "runtime/base/process.h"
#include "runtime/cache/store.h"
#include "runtime/compile/compile.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::runtime;

namespace {

ir::Graph graph_of(DType dtype, std::int64_t extent, ir::Op op, ir::Location location = {}) {
  ir::Graph graph;
  const ir::ValueId x = graph.parameter(dtype, {extent}, location);
  const ir::ValueId y = graph.parameter(dtype, {extent}, location);
  graph.outputs = {graph.add(op, {x, y}, {}, location)};
  return graph;
}

ir::Graph product_of(Precision precision) {
  ir::Graph graph;
  const ir::ValueId x = graph.parameter(DType::f32, {8, 8});
  graph.outputs = {graph.add(ir::Op::call, {x, x}, ir::matmul_attributes(precision))};
  return graph;
}

std::string key_of(const ir::Graph& graph, const CompileOptions& options = {},
                   const char* target = "x86-64-v3") {
  return program_key(graph, options, ir::parse_target(target)).text;
}

TEST_CASE("every field that a program depends on changes its key") {
  const ir::Graph graph = graph_of(DType::f32, 8, ir::Op::add);
  ir::Graph one_output_twice = graph_of(DType::f32, 8, ir::Op::add);
  one_output_twice.outputs.push_back(one_output_twice.outputs[0]);
  const std::vector<std::string> keys = {
      key_of(graph),
      key_of(graph_of(DType::f64, 8, ir::Op::add)),
      key_of(graph_of(DType::f32, 9, ir::Op::add)),
      key_of(graph_of(DType::f32, 8, ir::Op::multiply)),
      key_of(product_of(Precision::ieee)),
      key_of(product_of(Precision::tf32)),
      key_of(product_of(Precision::bf16)),
      key_of(one_output_twice),
      key_of(graph, {.strict = true}),
      key_of(graph, {.approximate = true}),
      key_of(graph, {.donated = {true, false}}),
      key_of(graph, {.donated = {false, true}}),
      key_of(graph, {.aligned = {false, true}}),
      key_of(graph, {.disabled = {"fuse"}}),
      key_of(graph, {.host_level = 1}),
      key_of(graph, {}, "x86-64-v4"),
      key_of(graph, {}, "sm_90"),
      key_of(graph, {}, "sm_90:h200"),
  };
  CHECK(std::set<std::string>(keys.begin(), keys.end()).size() == keys.size());
}

TEST_CASE("what does not change a program does not change its key") {
  const ir::Graph graph = graph_of(DType::f32, 8, ir::Op::add);
  ir::Graph named = graph_of(DType::f32, 8, ir::Op::add, {"elsewhere.cpp", 12});
  named.name = "step";
  CHECK(key_of(named) == key_of(graph));
  CHECK(key_of(graph, {.donated = {false, false}, .aligned = {true, true}}) == key_of(graph));
  CHECK(key_of(graph, {.host_level = 1}, "sm_90") == key_of(graph, {}, "sm_90"));
}

TEST_CASE("where nothing may be compiled a miss says how the nearest program differs") {
  const TemporaryFolder folder;
  const auto result = test::run_child(
      "child: nothing is compiled",
      {"-uHEDDLE_CACHE_READONLY", "HEDDLE_NO_COMPILE=1", "HEDDLE_CACHE_DIR=" + folder.path()});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: nothing is compiled" * doctest::skip()) {
  const ir::Target h200 = ir::parse_target("sm_90:h200"), a100 = ir::parse_target("sm_80");
  const auto error_of = [](const ir::Graph& graph, const CompileOptions& options,
                           const ir::Target& target) {
    try {
      compile_program(graph, options, target);
    } catch (const CompileError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  const auto check = [](const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
      CHECK_MESSAGE(text.find(part) != std::string::npos, "'" << part << "' is not in " << text);
  };
  ir::Graph graph = graph_of(DType::f32, 8, ir::Op::add);
  graph.name = "step";
  check(error_of(graph, {}, h200), {"HEDDLE_NO_COMPILE=1, but program step (kernel hd_add_f32_",
                                    "there is no program to compare"});

  cache::Store& store = cache::Store::global();
  const auto keep = [&](const ir::Graph& kept, const CompileOptions& options,
                        const ir::Target& target) {
    store.save(program_key(kept, options, target), cache::PayloadKind::program, "{}", "");
  };
  keep(graph_of(DType::f64, 8, ir::Op::multiply), {}, h200);
  keep(graph, {.strict = true, .donated = {true, false}}, a100);
  check(error_of(graph, {}, h200),
        {"the nearest program (of 2)", "target (", "donated (expected '00', found '10')",
         "strict (expected '0', found '1')"});
  keep(graph_of(DType::f32, 16, ir::Op::add), {}, h200);
  const std::string text = error_of(graph, {}, h200);
  check(text, {"the nearest program (of 3)", "differs in: graph (line 1: expected '...8"});
  CHECK(text.find("strict") == std::string::npos);
  CHECK(text.find("target") == std::string::npos);
}

TEST_CASE("the environment lowers the level of the host's compiler, and nonsense is an error") {
  for (const char* text : {"HEDDLE_CXX_LEVEL=1", "HEDDLE_CXX_LEVEL=0"})
    CHECK(test::run_child("child: lower level", {text}).status == 0);
  CHECK(test::run_child("child: usual level", {"HEDDLE_CXX_LEVEL="}).status == 0);
  for (const char* text : {"HEDDLE_CXX_LEVEL=4", "HEDDLE_CXX_LEVEL=fast"})
    CHECK(test::run_child("child: no level", {text}).status == 0);
}

TEST_CASE("child: no level" * doctest::skip()) {
  CHECK_THROWS_WITH_AS(with_environment({}), doctest::Contains("valid values: 0 to 3"), ValueError);
}

TEST_CASE("names that cannot be switched off are an error that lists those that can") {
  CHECK(test::run_child("child: switches", {"HEDDLE_DISABLE=symbols,radix_sort"}).status == 0);
  CHECK(test::run_child("child: no switch", {"HEDDLE_DISABLE=symbols,fusion"}).status == 0);
}

TEST_CASE("child: switches" * doctest::skip()) {
  CHECK(with_environment({}).disabled == std::vector<std::string>{"radix_sort", "symbols"});
}

TEST_CASE("child: no switch" * doctest::skip()) {
  CHECK_THROWS_WITH_AS(
      with_environment({}),
      doctest::Contains(
          "HEDDLE_DISABLE: 'fusion' cannot be switched off; valid names are epilogue, "
          "in_place, symbols, radix_sort, merge_sort, "),
      ValueError);
}

TEST_CASE("child: lower level" * doctest::skip()) {
  CHECK(with_environment({}).host_level < CompileOptions().host_level);
  CHECK(with_environment({.host_level = 0}).host_level == 0);
}

TEST_CASE("child: usual level" * doctest::skip()) {
  CHECK(with_environment({}).host_level == CompileOptions().host_level);
}

}  // namespace

// Which modules a program's kernels become, and what is left of an interrupted compile.

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/graph/graph.h"
#include "runtime/base/interrupt.h"
#include "runtime/cache/store.h"
#include "runtime/compile/compile.h"
#include "runtime/compile/make_modules.h"
#include "tests/runtime/helpers.h"

using namespace heddle;

namespace {

/// A program whose outputs, up to 32, are kernels of their own: other ops of other extents.
ir::Graph outputs(int count) {
  std::string parameters, body, results, types;
  int next = count;
  for (int i = 0; i < count; ++i) {
    const char* const comma = i == 0 ? "" : ", ";
    const std::string type = fmt::format("f32[{}]", 5 + i);
    parameters += fmt::format("{}%{}: {}", comma, i, type);
    for (int bit = 0, value = i; bit < 5; ++bit, value = next++) {
      const char* const op = ((i >> bit) & 1) != 0 ? "exp" : "tanh";
      body += fmt::format("  %{} = {} %{} : {}\n", next, op, value, type);
    }
    results += fmt::format("{}%{}", comma, next - 1);
    types += comma + type;
  }
  return ir::parse(fmt::format("func @many({}) -> ({}) {{\n{}  return {}\n}}\n", parameters, types,
                               body, results));
}

std::vector<std::size_t> sizes_of(const runtime::ProgramImage& image) {
  std::vector<std::size_t> sizes;
  for (const runtime::ModuleImage& module : image.modules) sizes.push_back(module.kernels.size());
  return sizes;
}

std::exception_ptr interrupt_after_a_module() {
  const bool ready = runtime::cache::Store::global().statistics().writes > 0;
  return ready ? std::make_exception_ptr(1) : nullptr;
}

}  // namespace

TEST_CASE("many kernels for the CPU become modules of bounded size, few as many as there are") {
  const auto sizes = [](int count) {
    const ir::Graph graph = outputs(count);
    const auto printed = runtime::print_program(graph, {}, runtime::host_target());
    REQUIRE(printed.kernels.size() == static_cast<std::size_t>(count));
    return sizes_of(runtime::recompile_program(graph, {.host_level = 0}, runtime::host_target()));
  };
  CHECK(sizes(3) == std::vector<std::size_t>{1, 1, 1});
  CHECK(sizes(20) == std::vector<std::size_t>{3, 3, 3, 3, 3, 3, 2});
}

TEST_CASE("what an interrupted compile has finished is in the cache, and the rest compiles later") {
  const runtime::TemporaryFolder folder;
  const auto result =
      test::run_child("child: interrupted", {"HEDDLE_CACHE_DIR=" + folder.path() + "/cache",
                                             "HEDDLE_COMPILE_JOBS=1", "HEDDLE_CXX_LEVEL=0"});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: interrupted" * doctest::skip()) {
  const ir::Graph graph = outputs(6);
  const runtime::CompileOptions options = runtime::with_environment({});
  const ir::Target& target = runtime::host_target();
  runtime::set_interrupt_hook(interrupt_after_a_module);
  CHECK_THROWS_AS(runtime::compile_program(graph, options, target), runtime::Interrupted);
  runtime::set_interrupt_hook(nullptr);
  std::vector<bool> built;
  for (const runtime::ModuleImage& module :
       runtime::compile_program(graph, options, target).modules)
    built.push_back(module.built);
  CHECK(built == std::vector<bool>{false, true, true, true, true, true});
}

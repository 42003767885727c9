#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "runtime/base/statistics.h"
#include "runtime/execute/call_site.h"
#include "runtime/execute/large_program.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::runtime;

namespace {

ir::Hash128 new_place() {
  static std::uint64_t count = 0;
  return {++count, 77};
}

/// The graph with its symbols bound.
ir::Graph bound(const ir::Graph& graph, ir::SymbolBindings bindings) {
  ir::Graph result;
  result.name = graph.name;
  std::vector<ir::ValueId> values;
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const ir::ValueId id{i};
    ir::Attributes attributes = graph.attributes(id);
    for (ir::Dim& extent : attributes.shape) extent = extent.evaluate(bindings);
    for (ir::Dim& start : attributes.starts) start = start.evaluate(bindings);
    std::vector<ir::ValueId> operands;
    for (const ir::ValueId operand : graph.operands(id))
      operands.push_back(values[index_of(operand)]);
    if (graph.op(id) == ir::Op::parameter) {
      values.push_back(result.parameter(attributes.dtype, attributes.shape));
    } else if (graph.op(id) == ir::Op::constant) {
      values.push_back(result.constant(attributes.dtype, attributes.bits));
    } else {
      values.push_back(result.add(graph.op(id), operands, std::move(attributes)));
    }
  }
  for (const ir::ValueId output : graph.outputs) result.outputs.push_back(values[index_of(output)]);
  return result;
}

/// Small whole numbers, so that sums in any order are exact.
ir::HostArray values(const ir::Type& type, std::uint64_t seed) {
  ir::HostArray array{type, {}};
  const auto count = static_cast<std::size_t>(ir::element_count(type.shape).constant());
  array.data.resize(count * size_of(type.dtype));
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const auto number = static_cast<std::int32_t>(seed >> 33) % 16;
    const auto real = static_cast<float>(number);
    std::memcpy(array.data.data() + i * 4,
                type.dtype == DType::i32 ? static_cast<const void*>(&number) : &real, 4);
  }
  return array;
}

/// Runs the graph as a place's, and compares with the interpreter. `shapes` are those of parameters
/// that the graph has symbols in.
void run_and_compare(const ir::Hash128& place, const ir::Graph& graph,
                     const std::vector<ir::Shape>& shapes = {}) {
  const Device device = current_device();
  Stream stream = Stream::current(device);
  const SiteProgram program = executable_for_site(place, graph, {}, device);
  std::vector<ir::HostArray> inputs;
  std::vector<Argument> arguments;
  for (const ir::ValueId parameter : graph.parameters()) {
    ir::Type type = graph.type(parameter);
    if (!shapes.empty()) type.shape = shapes[inputs.size()];
    inputs.push_back(values(type, inputs.size() + 3));
    const ir::HostArray& input = inputs.back();
    DeviceArray array{input.type, allocate(input.data.size(), stream), 0};
    copy(array.buffer->pointer(), device, input.data.data(), Device{}, input.data.size(), stream);
    arguments.emplace_back(std::move(array));
  }
  for (const Argument& extra : program.extras) arguments.push_back(extra);
  const auto outputs = program.executable->run(std::move(arguments), stream, &graph);
  const auto expected = ir::interpret(graph, inputs);
  REQUIRE(outputs.size() == expected.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    REQUIRE(outputs[i].type == expected[i].type);
    std::vector<std::byte> bytes(expected[i].data.size());
    copy(bytes.data(), Device{}, outputs[i].buffer->pointer(), device, bytes.size(), stream);
    stream.synchronize();
    bool equal = true;
    if (expected[i].type.dtype != DType::f32) {
      equal = bytes == expected[i].data;
    } else {
      for (std::size_t k = 0; k < bytes.size(); k += sizeof(float)) {
        float is = 0, should = 0;
        std::memcpy(&is, bytes.data() + k, sizeof is);
        std::memcpy(&should, expected[i].data.data() + k, sizeof should);
        equal &= std::abs(is - should) <= 2e-6F * std::max(1.0F, std::abs(should));
      }
    }
    REQUIRE(equal);
  }
}

/// The graphs of sizes from 2 on, which a place meets one after another.
template <class Text>
void run_sizes(const Text& text, std::uint64_t most_programs = 3) {
  const ir::Hash128 place = new_place();
  const std::uint64_t before = statistics().programs_made;
  for (int k = 2; k < 40; ++k) {
    CAPTURE(k);
    run_and_compare(place, ir::parse(text(k)));
  }
  CHECK(statistics().programs_made - before <= most_programs);
}

void run_all(const char* text, std::int64_t sizes, std::uint64_t most_programs = 3) {
  const ir::Graph graph = ir::parse(text);
  const ir::Hash128 place = new_place();
  const std::uint64_t before = statistics().programs_made;
  for (std::int64_t n = 0; n < sizes; ++n) {
    CAPTURE(n);
    run_and_compare(place, bound(graph, {{ir::intern_symbol("n"), n}}));
  }
  CHECK(statistics().programs_made - before <= most_programs);
}

}  // namespace

TEST_CASE("a call site with 1,000 extents makes three programs") {
  run_all(R"(func @pointwise(%0: f32[n,13], %1: f32[13]) -> f32[n,13] {
  %2 = multiply %0, %1 : f32[n,13]
  %3 = add %2, %0 : f32[n,13]
  return %3
})",
          1000);
  run_all(R"(func @rows(%0: f32[n,24]) -> f32[n,24] {
  %1 = max %0 axes=[1] keepdims : f32[n,1]
  %2 = subtract %0, %1 : f32[n,24]
  %3 = sum %2 axes=[1] keepdims : f32[n,1]
  %4 = add %2, %3 : f32[n,24]
  return %4
})",
          1000);
}

TEST_CASE("in every kernel family three programs run all extents, including 0 and 1") {
  run_all(R"(func @columns(%0: f32[n,5]) -> f32[5] {
  %1 = sum %0 axes=[0] : f32[5]
  return %1
})",
          300);
  run_all(R"(func @whole(%0: f32[n,n]) -> (f32[], i64[n]) {
  %1 = sum %0 axes=[0,1] : f32[]
  %2 = iota axes=[0] : i64[n]
  return %1, %2
})",
          60);
  run_all(R"(func @scan(%0: f32[n]) -> f32[n] {
  %1 = cumsum %0 axes=[0] : f32[n]
  return %1
})",
          300);
  run_all(R"(func @transposed(%0: f32[n,7]) -> f32[7,n] {
  %1 = transpose %0 axes=[1,0] : f32[7,n]
  %2 = add %1, %1 : f32[7,n]
  return %2
})",
          200);
  run_all(R"(func @sorted(%0: f32[n]) -> (f32[n], i64[n]) {
  %1 = call sort %0 {axis = 0} : f32[n]
  %2 = call argsort %0 {axis = 0} : i64[n]
  return %1, %2
})",
          200);
  run_all(R"(func @joined(%0: f32[n], %1: f32[3]) -> f32[n+3] {
  %2 = concatenate %0, %1 axes=[0] : f32[n+3]
  %3 = exp %2 : f32[n+3]
  return %3
})",
          100);
  run_all(R"(func @stencil(%0: f32[n+2]) -> f32[n] {
  %1 = slice %0 starts=[0] steps=[1] : f32[n]
  %2 = slice %0 starts=[2] steps=[1] : f32[n]
  %3 = add %1, %2 : f32[n]
  return %3
})",
          200);
  run_all(R"(func @product(%0: f32[n,6], %1: f32[6,4]) -> f32[n,4] {
  %2 = call matmul %0, %1 : f32[n,4]
  return %2
})",
          100);
  run_all(R"(func @flat(%0: f32[n,6]) -> f32[6*n] {
  %1 = reshape %0 : f32[6*n]
  %2 = sum %1 axes=[0] keepdims : f32[1]
  %3 = add %1, %2 : f32[6*n]
  return %3
})",
          100);
  run_all(R"(func @taken(%0: f32[n+16], %1: i32[n]) -> f32[n] {
  %2 = gather %0, %1 axes=[0] : f32[n]
  return %2
})",
          100);
}

TEST_CASE("programs for related extents agree with the interpreter") {
  std::uint64_t seed = 99;
  const auto random = [&](std::uint64_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((seed >> 33) % below);
  };
  for (int program = 0; program < 12; ++program) {
    CAPTURE(program);
    const int factor = 1 + random(3), more = random(3), parts = 1 + random(3), start = random(3);
    const ir::Hash128 place = new_place();
    for (int k = 0; k < 6; ++k) {
      const int n = parts * (1 + random(9)) + 3, m = factor * n + more, part = m / parts;
      CAPTURE(n);
      const ir::Graph graph = ir::parse(fmt::format(
          R"(func @f(%0: f32[{0}], %1: f32[{1},{0}]) -> (f32[{2}], f32[{0}], f32[]) {{
  %2 = constant {4}.0 : f32[]
  %3 = sum %1 axes=[1] : f32[{1}]
  %4 = slice %3 starts=[{3}] steps=[1] : f32[{2}]
  %5 = multiply %4, %2 : f32[{2}]
  %6 = add %0, %2 : f32[{0}]
  %7 = max %6 axes=[0] : f32[]
  return %5, %6, %7
}})",
          n, m, std::min(part, m - start), start, k % 3 + 2));
      run_and_compare(place, graph);
    }
  }
}

TEST_CASE("an array reshaped to two changing extents makes few programs") {
  const ir::Hash128 place = new_place();
  const std::uint64_t before = statistics().programs_made;
  for (int k = 0; k < 30; ++k) {
    const int n = k * 7 % 11, m = k * 5 % 13 + 1;
    run_and_compare(place,
                    ir::parse(fmt::format(R"(func @f(%0: f32[{0}]) -> (f32[{1},{2}], f32[{1}]) {{
  %1 = reshape %0 : f32[{1},{2}]
  %2 = add %1, %1 : f32[{1},{2}]
  %3 = sum %1 axes=[1] : f32[{1}]
  return %2, %3
}})",
                                          n * m, n, m)));
  }
  CHECK(statistics().programs_made - before <= 6);
}

TEST_CASE("reshaped, rolled and padded extents make three programs") {
  run_sizes([](int k) {
    return fmt::format(R"(func @rows(%0: f32[300]) -> f32[{0}] {{
  %1 = slice %0 starts=[0] steps=[1] : f32[{1}]
  %2 = reshape %1 : f32[{0},6]
  %3 = sum %2 axes=[1] : f32[{0}]
  return %3
}})",
                       k, 6 * k);
  });
  run_sizes([](int k) {
    return fmt::format(R"(func @blocks(%0: f32[300]) -> f32[3,{0},2] {{
  %1 = slice %0 starts=[0] steps=[1] : f32[{1}]
  %2 = reshape %1 : f32[{0},2,3]
  %3 = transpose %2 axes=[2,0,1] : f32[3,{0},2]
  %4 = add %3, %3 : f32[3,{0},2]
  return %4
}})",
                       k, 6 * k);
  });
  run_sizes([](int k) {
    return fmt::format(R"(func @rolled(%0: f32[12,8]) -> f32[12,8] {{
  %1 = reshape %0 : f32[96]
  %2 = slice %1 starts=[{1}] steps=[1] : f32[{0}]
  %3 = slice %1 starts=[0] steps=[1] : f32[{1}]
  %4 = concatenate %2, %3 axes=[0] : f32[96]
  %5 = reshape %4 : f32[12,8]
  return %5
}})",
                       k, 96 - k);
  });
  run_sizes([](int k) {
    return fmt::format(R"(func @padded(%0: f32[12,8], %1: f32[]) -> f32[{1},{2}] {{
  %2 = broadcast_to %1 : f32[{0},8]
  %3 = concatenate %2, %0, %2 axes=[0] : f32[{1},8]
  %4 = broadcast_to %1 : f32[{1},{0}]
  %5 = concatenate %4, %3, %4 axes=[1] : f32[{1},{2}]
  return %5
}})",
                       k, 2 * k + 12, 2 * k + 8);
  });
  run_sizes([](int k) {
    return fmt::format(R"(func @folded(%0: f32[997]) -> f32[{0}] {{
  %1 = slice %0 starts=[0] steps=[1] : f32[{2}]
  %2 = reshape %1 : f32[{1},{0}]
  %3 = sum %2 axes=[0] : f32[{0}]
  return %3
}})",
                       k, 997 / k, 997 / k * k);
  });
}

TEST_CASE("slices with fixed steps other than 1 make few programs") {
  run_sizes([](int k) {
    return fmt::format(R"(func @halves(%0: f32[100]) -> (f32[{0}], f32[{1}]) {{
  %1 = slice %0 starts=[1] steps=[2] : f32[{0}]
  %2 = slice %0 starts=[{2}] steps=[-2] : f32[{1}]
  return %1, %2
}})",
                       k, (k + 1) / 2, k - 1);
  });
  run_sizes(
      [](int k) {
        return fmt::format(R"(func @trace(%0: f32[{0},8]) -> f32[] {{
  %1 = reshape %0 : f32[{1}]
  %2 = slice %1 starts=[0] steps=[9] : f32[{2}]
  %3 = sum %2 axes=[0] : f32[]
  return %3
}})",
                           k, 8 * k, std::min(k, 8));
      },
      6);
}

TEST_CASE("slices and updates with changing steps make three programs") {
  run_sizes([](int k) {
    return fmt::format(R"(func @read(%0: f32[300]) -> (f32[{1}], f32[{1}]) {{
  %1 = slice %0 starts=[0] steps=[{0}] : f32[{1}]
  %2 = slice %0 starts=[299] steps=[-{0}] : f32[{1}]
  return %1, %2
}})",
                       k, (299 + k) / k);
  });
  run_sizes([](int k) {
    return fmt::format(R"(func @sorted(%0: f32[{1}]) -> f32[8] {{
  %1 = call sort %0 {{axis = 0}} : f32[{1}]
  %2 = slice %1 starts=[0] steps=[{0}] : f32[8]
  return %2
}})",
                       k, 8 * k);
  });
  run_sizes([](int k) {
    return fmt::format(R"(func @written(%0: f32[300], %1: f32[]) -> (f32[300], f32[300]) {{
  %2 = exp2 %1 : f32[]
  %3 = slice_update %0, %2 starts=[0] steps=[{0}] shape=[{1}] : f32[300]
  %4 = iota axes=[0] : f32[{1}]
  %5 = slice_update %0, %4 starts=[299] steps=[-{0}] shape=[{1}] : f32[300]
  return %3, %5
}})",
                       k, (299 + k) / k);
  });
}

TEST_CASE("a symbol in the recorded graph keeps its name") {
  const ir::Hash128 place = new_place();
  for (int n = 4; n < 9; ++n) {
    const ir::Graph graph = ir::parse(
        fmt::format("func @f(%0: f32[extent0,{0}]) -> f32[extent0,{0}] {{\n  %1 = add %0, %0 : "
                    "f32[extent0,{0}]\n  return %1\n}}",
                    n));
    run_and_compare(place, graph, {{3, n}});
  }
}

TEST_CASE("extents that broadcast and extents that do not get programs of their own") {
  const ir::Hash128 place = new_place();
  const std::uint64_t before = statistics().programs_made;
  for (int n = 2; n < 40; ++n) {
    for (const int m : {n, 1}) {
      run_and_compare(place,
                      ir::parse(fmt::format("func @f(%0: f32[{0},3], %1: f32[{1},3]) -> f32[{0},3] "
                                            "{{\n  %2 = add %0, %1 : f32[{0},3]\n  return %2\n}}",
                                            n, m)));
    }
  }
  CHECK(statistics().programs_made - before <= 6);
}

TEST_CASE("with symbols disabled, every graph gets its own program") {
  const ir::Graph graph =
      ir::parse("func @f(%0: f32[n]) -> f32[n] {\n  %1 = exp %0 : f32[n]\n  return %1\n}");
  const ir::Hash128 place = new_place();
  const Device device = current_device();
  for (std::int64_t n = 2; n < 7; ++n) {
    const SiteProgram program = executable_for_site(
        place, bound(graph, {{ir::intern_symbol("n"), n}}), {.disabled = {"symbols"}}, device);
    CHECK(is_constant(program.executable->program().inputs[0].type.shape));
  }
}

TEST_CASE("a call site that makes many programs causes one warning, with the difference") {
  const test::CapturedLog captured;
  const ir::Hash128 place = new_place();
  for (int steps = 1; steps < many_programs + 9; ++steps) {
    std::string text = "func @chain(%0: f32[3]) -> f32[3] {\n";
    for (int i = 1; i <= steps; ++i) text += fmt::format("  %{} = exp %{} : f32[3]\n", i, i - 1);
    text += fmt::format("  return %{}\n}}", steps);
    executable_for_site(place, ir::parse(text, "storm.hd"), {}, current_device());
  }
  const std::string log = captured.text();
  CHECK(log.find("16 programs were made for chain at storm.hd:17, the last one because it has ") !=
        std::string::npos);
  CHECK(log.find("programs were made") == log.rfind("programs were made"));
}

TEST_CASE("a call site warns once of programs of many nodes, with the line of most of them") {
  const test::CapturedLog captured;
  const ir::Hash128 place = new_place();
  for (int more = 0; more < 2; ++more) {
    ir::Graph graph;
    graph.name = "unrolled";
    ir::ValueId value = graph.parameter(DType::i32, {4});
    for (std::size_t i = 0; i < large_program_nodes + static_cast<std::size_t>(more); ++i) {
      // This sequence contains no part three times in a row, so it is not a loop.
      const ir::Op op = std::popcount(i) % 2 == 0 ? ir::Op::negative : ir::Op::invert;
      value = graph.add(op, {value}, {}, {"loop.hd", i % 3 == 0 ? 7u : 8u});
    }
    graph.outputs = {value};
    CHECK_MESSAGE(captured.text().empty() == (more == 0), captured.text());
    executable_for_site(place, graph, {}, current_device());
  }
  const std::string log = captured.text();
  CHECK_MESSAGE(
      log.find("unrolled is a program of 5001 nodes, 3333 of them recorded at loop.hd:8") !=
          std::string::npos,
      log);
  CHECK(log.find("fori_loop") != std::string::npos);
  CHECK(log.find("a program of") == log.rfind("a program of"));
}

TEST_CASE("a call site does not warn of many nodes that become a loop") {
  const test::CapturedLog captured;
  ir::Graph graph;
  ir::ValueId value = graph.parameter(DType::i32, {4});
  for (std::size_t i = 0; i <= large_program_nodes; ++i)
    value = graph.add(ir::Op::negative, {value}, {}, {"loop.hd", 7});
  graph.outputs = {value};
  executable_for_site(new_place(), graph, {}, current_device());
  CHECK_MESSAGE(captured.text().empty(), captured.text());
}

TEST_CASE("if the general program does not compile, each graph gets its own") {
  const TemporaryFolder folder;
  const std::filesystem::path compiler = std::filesystem::path(folder.path()) / "compiler";
  const std::string refused = folder.path() + "/refused";
  // Symbols are arguments, which the texts of constant extents have none of.
  test::write_text(compiler,
                   "#!/bin/sh\nfor word; do case \"$word\" in *.cpp) file=$word;; esac; done\n"
                   "if [ -n \"$file\" ] && grep -q 'scalars\\[' \"$file\"; then echo >> " +
                       refused + "; exit 3; fi\nexec c++ \"$@\"\n");
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  const auto child =
      test::run_child("child: programs for all extents are refused",
                      {"-uHEDDLE_DUMP_DIR", "HEDDLE_DEVICE=cpu", "HEDDLE_CXX=" + compiler.string(),
                       "HEDDLE_CACHE_DIR=" + folder.path() + "/cache"});
  CHECK_MESSAGE(child.status == 0, child.output);
  CHECK(test::read_text(refused).size() == 3);
}

TEST_CASE("child: programs for all extents are refused" * doctest::skip()) {
  const test::CapturedLog captured;
  const ir::Graph graph =
      ir::parse("func @f(%0: f32[n]) -> f32[n] {\n  %1 = negative %0 : f32[n]\n  return %1\n}");
  const ir::Hash128 place = new_place();
  for (std::int64_t n = 2; n < 12; ++n)
    run_and_compare(place, bound(graph, {{ir::intern_symbol("n"), n}}));
  const std::string log = captured.text();
  CHECK(log.find("f is compiled for these extents only: ") != std::string::npos);
}

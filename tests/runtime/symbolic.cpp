#include <cmath>
#include <cstring>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/graph/graph.h"
#include "runtime/base/statistics.h"
#include "runtime/cache/store.h"
#include "runtime/execute/executable.h"

using namespace heddle;
using namespace heddle::runtime;

namespace {

constexpr int size_count = 1000;

ir::HostArray values(const ir::Shape& shape, std::uint64_t seed) {
  ir::HostArray array{{DType::f32, shape}, {}};
  const auto count = static_cast<std::size_t>(ir::element_count(shape).constant());
  array.data.resize(count * sizeof(float));
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const float value = static_cast<float>(static_cast<std::int32_t>(seed >> 33) % 2000) / 500.0f;
    std::memcpy(array.data.data() + i * sizeof value, &value, sizeof value);
  }
  return array;
}

DeviceArray on_device(const ir::HostArray& array, const Stream& stream) {
  DeviceArray out{array.type, allocate(array.data.size(), stream), 0};
  copy(out.buffer->pointer(), stream.device(), array.data.data(), Device{}, array.data.size(),
       stream);
  return out;
}

std::vector<float> floats(const std::byte* data, std::size_t count) {
  std::vector<float> out(count);
  if (count > 0) std::memcpy(out.data(), data, count * sizeof(float));
  return out;
}

/// The first output at each n that the program runs for, and the error's text at the others.
std::vector<std::string> run_at(const char* text, const std::vector<std::int64_t>& sizes) {
  const ir::Graph graph = ir::parse(text);
  const Device device = current_device();
  Stream stream = Stream::current(device);
  const auto executable = Executable::get(graph, {}, device);
  std::vector<std::string> results;
  for (const std::int64_t n : sizes) {
    std::vector<Argument> arguments;
    for (const ir::ValueId parameter : graph.parameters()) {
      ir::Shape shape = graph.shape(parameter);
      for (ir::Dim& extent : shape) extent = extent.is_constant() ? extent : ir::Dim(n);
      arguments.emplace_back(on_device(values(shape, 3), stream));
    }
    const std::size_t given = arguments.size();
    try {
      results.push_back(to_string(executable->run(std::move(arguments), stream)[0].type));
    } catch (const IndexError& error) {
      results.push_back(std::string("IndexError: ") + error.what());
    } catch (const ShapeError& error) {
      results.push_back(std::string("ShapeError: ") + error.what());
    } catch (const ValueError& error) {
      results.push_back(std::string("ValueError: ") + error.what());
    }
    // A call that fails leaves them. NOLINTNEXTLINE(bugprone-use-after-move)
    CHECK((arguments.empty() || arguments.size() == given));
  }
  return results;
}

/// Runs the graph, whose first parameter has a leading extent n, for n in [0, sizes) from one
/// compile, and compares with the interpreter.
void run_all_sizes(const char* text, double tolerance, std::int64_t sizes = size_count) {
  const ir::Graph graph = ir::parse(text);
  const Device device = current_device();
  Stream stream = Stream::current(device);
  const std::uint64_t made = statistics().programs_made;
  const auto compiles = cache::Store::global().statistics().compiles;
  const auto executable = Executable::get(graph, {}, device);
  for (std::int64_t n = 0; n < sizes; ++n) {
    CAPTURE(n);
    std::vector<ir::HostArray> inputs;
    std::vector<Argument> arguments;
    for (const ir::ValueId parameter : graph.parameters()) {
      ir::Shape shape = graph.shape(parameter);
      for (ir::Dim& extent : shape) extent = extent.is_constant() ? extent : ir::Dim(n);
      inputs.push_back(values(shape, static_cast<std::uint64_t>(n) + 7));
      arguments.emplace_back(on_device(inputs.back(), stream));
    }
    CHECK(Executable::get(graph, {}, device) == executable);
    const auto outputs = executable->run(std::move(arguments), stream);
    const auto expected = ir::interpret(graph, inputs);
    REQUIRE(outputs.size() == expected.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      REQUIRE(outputs[i].type == expected[i].type);
      const std::size_t count = expected[i].data.size() / sizeof(float);
      std::vector<std::byte> bytes(expected[i].data.size());
      copy(bytes.data(), Device{}, outputs[i].buffer->pointer(), device, bytes.size(), stream);
      stream.synchronize();
      const auto actual = floats(bytes.data(), count),
                 wanted = floats(expected[i].data.data(), count);
      double worst = 0;
      for (std::size_t k = 0; k < count; ++k) {
        const double scale = std::max(1.0, std::abs(static_cast<double>(wanted[k])));
        worst = std::max(worst, std::abs(static_cast<double>(actual[k]) - wanted[k]) / scale);
      }
      CHECK(worst <= tolerance);
    }
  }
  CHECK(statistics().programs_made - made == 1);
  CHECK(cache::Store::global().statistics().compiles - compiles <=
        static_cast<std::uint64_t>(executable->kernel_count()));
}

}  // namespace

TEST_CASE("a pointwise program runs 1,000 sizes from one compile") {
  run_all_sizes(R"(func @main(%0: f32[n,13], %1: f32[13]) -> f32[n,13] {
  %2 = multiply %0, %1 : f32[n,13]
  %3 = tanh %2 : f32[n,13]
  %4 = add %3, %0 : f32[n,13]
  return %4
})",
                2e-6);
}

TEST_CASE("an inner reduction runs 1,000 sizes from one compile") {
  run_all_sizes(R"(func @main(%0: f32[n,37]) -> (f32[n], f32[n]) {
  %1 = multiply %0, %0 : f32[n,37]
  %2 = sum %1 axes=[1] : f32[n]
  %3 = sqrt %2 : f32[n]
  %4 = max %0 axes=[1] : f32[n]
  return %3, %4
})",
                2e-6);
}

TEST_CASE("a softmax over rows runs 1,000 sizes from one compile") {
  run_all_sizes(R"(func @main(%0: f32[n,24]) -> f32[n,24] {
  %1 = max %0 axes=[1] keepdims : f32[n,1]
  %2 = subtract %0, %1 : f32[n,24]
  %3 = exp %2 : f32[n,24]
  %4 = sum %3 axes=[1] keepdims : f32[n,1]
  %5 = divide %3, %4 : f32[n,24]
  return %5
})",
                2e-6);
}

TEST_CASE("kernels with memory between them run many sizes from one compile") {
  run_all_sizes(R"(func @main(%0: f32[n,9]) -> (f32[n,9], f32[9]) {
  %1 = sum %0 axes=[0] : f32[9]
  %2 = subtract %0, %1 : f32[n,9]
  %3 = multiply %2, %2 : f32[n,9]
  %4 = sum %3 axes=[0] : f32[9]
  %5 = exp %2 : f32[n,9]
  %6 = sum %5 axes=[1] keepdims : f32[n,1]
  %7 = divide %5, %6 : f32[n,9]
  return %7, %4
})",
                2e-5, 100);
}

TEST_CASE("refused sizes, after as many as are remembered, leave the others right") {
  std::vector<std::string> expected;
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < 90; ++i) {
    const std::int64_t n = i % 7 == 6 ? i % 5 : 5 + i;
    sizes.push_back(n);
    expected.push_back(n < 5 ? "IndexError" : fmt::format("f32[{}]", n));
  }
  std::vector<std::string> found = run_at(R"(func @main(%0: f32[n]) -> f32[n] {
  %1 = slice %0 starts=[n-5] steps=[1] : f32[5]
  %2 = sum %1 axes=[0] : f32[]
  %3 = divide %0, %2 : f32[n]
  return %3
})",
                                          sizes);
  for (std::string& each : found) each = each.substr(0, each.find(':'));
  CHECK(found == expected);
}

TEST_CASE("sizes that break a fact, or each other, are refused") {
  const Device device = current_device();
  Stream stream = Stream::current(device);
  const ir::Graph graph = ir::parse(R"(func @main(%0: f32[n], %1: f32[n]) -> f32[n] {
  %2 = add %0, %1 : f32[n]
  return %2
})");
  const auto executable = Executable::get(graph, {}, device);
  std::vector<Argument> arguments{on_device(values({4}, 1), stream),
                                  on_device(values({5}, 2), stream)};
  CHECK_THROWS_AS(executable->run(std::move(arguments), stream), ShapeError);
  // What failed has taken nothing.
  REQUIRE(std::get<DeviceArray>(arguments[0]).buffer);  // NOLINT(bugprone-use-after-move)
  arguments[1] = on_device(values({4}, 2), stream);
  CHECK(executable->run(std::move(arguments), stream).size() == 1);
}

TEST_CASE("what only symbols decide is checked before anything runs") {
  using Texts = std::vector<std::string>;
  CHECK(run_at(R"(func @last(%0: f32[n]) -> f32[5] {
  %1 = slice %0 starts=[n-5] steps=[1] : f32[5]
  return %1
})",
               {9, 3, 5}) == Texts{"f32[5]",
                                   "IndexError: last with n=3: slice(float32[n]): start n-5 step 1 "
                                   "extent 5 is out of bounds for axis 0 of extent n",
                                   "f32[5]"});
  CHECK(run_at(R"(func @first(%0: f32[n], %1: f32[]) -> f32[n] {
  %2 = slice_update %0, %1 starts=[0] steps=[1] shape=[5] : f32[n]
  return %2
})",
               {5, 4, 6}) == Texts{"f32[5]",
                                   "IndexError: first with n=4: slice_update(float32[n], "
                                   "float32[]): start 0 step 1 extent 5 "
                                   "is out of bounds for axis 0 of extent n",
                                   "f32[6]"});
  CHECK(run_at(R"(func @largest(%0: f32[n]) -> f32[] {
  %1 = max %0 axes=[0] : f32[]
  return %1
})",
               {1, 0, 2}) == Texts{"f32[]",
                                   "ValueError: largest with n=0: max(float32[n]): axis 0 has no "
                                   "elements, and max of no elements is undefined",
                                   "f32[]"});
  CHECK(run_at(R"(func @shorter(%0: f32[n], %1: f32[]) -> f32[n-5] {
  %2 = broadcast_to %1 : f32[n-5]
  return %2
})",
               {5, 3, 9}) ==
        Texts{"f32[0]",
              "ShapeError: shorter with n=3: broadcast_to(float32[]): shape [n-5] has the negative "
              "extent n-5",
              "f32[4]"});
}

TEST_CASE("conditions hold of what a pass removes, not of what no output needs") {
  const std::vector<std::string> covered = run_at(R"(func @f(%0: f32[n], %1: f32[5]) -> f32[5] {
  %2 = slice %0 starts=[n-5] steps=[1] : f32[5]
  %3 = slice_update %2, %1 starts=[0] steps=[1] shape=[5] : f32[5]
  %4 = exp %3 : f32[5]
  return %4
})",
                                                  {5, 4, 6});
  CHECK(covered[0] == "f32[5]");
  CHECK(covered[1].starts_with("IndexError: f with n=4: slice(float32[n]): start n-5"));
  CHECK(covered[2] == "f32[5]");

  // Equal graphs share a program, so that neither may refuse what the other is fine with.
  const char* const unused = R"(func @g(%0: f32[n]) -> f32[n] {
  %1 = slice %0 starts=[n-5] steps=[1] : f32[5]
  %2 = cos %0 : f32[n]
  return %2
})";
  const char* const without = R"(func @g(%0: f32[n]) -> f32[n] {
  %2 = cos %0 : f32[n]
  return %2
})";
  REQUIRE(ir::parse(unused).hash() == ir::parse(without).hash());
  CHECK(run_at(unused, {4})[0] == "f32[4]");
  CHECK(run_at(without, {4})[0] == "f32[4]");
}

TEST_CASE("an output whose bytes do not fit 64 bits is refused") {
  const std::vector<std::string> results = run_at(R"(func @f(%0: f32[n]) -> f32[n,n,n,n] {
  %1 = broadcast_to %0 : f32[n,n,n,n]
  return %1
})",
                                                  {2, 100000});
  CHECK(results[0] == "f32[2,2,2,2]");
  CHECK(results[1].find("64 bits") != std::string::npos);
}

namespace {

/// Runs the graph with its array parameters' symbol n, and says what it threw and how many
/// elements came back.
std::string outcome(const ir::Graph& graph, std::int64_t n) {
  const Device device = current_device();
  Stream stream = Stream::current(device);
  const ir::SymbolBinding binding{ir::intern_symbol("n"), n};
  std::vector<Argument> arguments;
  for (const ir::ValueId parameter : graph.parameters()) {
    ir::Shape shape = graph.shape(parameter);
    for (ir::Dim& extent : shape) extent = extent.evaluate({&binding, 1});
    arguments.emplace_back(on_device(values(shape, 7), stream));
  }
  const std::size_t count = arguments.size();
  try {
    const auto outputs =
        Executable::get(graph, {}, device)->run(std::move(arguments), stream, &graph);
    stream.synchronize();
    return to_string(outputs.at(0).type);
  } catch (const IndexError& error) {
    CHECK(arguments.size() == count);  // NOLINT(bugprone-use-after-move): taken only on success
    return std::string("IndexError ") + error.what();
  } catch (const ShapeError& error) {
    return std::string("ShapeError ") + error.what();
  } catch (const ValueError& error) {
    return std::string("ValueError ") + error.what();
  }
}

struct Bounds {
  const char* body;  ///< of @main(%0: f32[n], %1: f32[3])
  const char* type;
  std::int64_t least;  ///< the smallest n that is right
  const char* error;
};

}  // namespace

TEST_CASE("sizes that an op has no meaning for are refused, and the next call runs") {
  const Bounds all[] = {
      {"%2 = slice %0 starts=[n-5] steps=[1] : f32[5]", "f32[5]", 5, "IndexError slice"},
      {"%2 = slice %0 starts=[2] steps=[1] : f32[5]", "f32[5]", 7, "IndexError slice"},
      {"%2 = slice %0 starts=[n-1] steps=[-1] : f32[5]", "f32[5]", 5, "IndexError slice"},
      {"%2 = slice %0 starts=[5] steps=[1] : f32[n-5]", "f32[n-5]", 5, "ShapeError slice"},
      {"%2 = slice_update %0, %1 starts=[n-3] steps=[1] shape=[3] : f32[n]", "f32[n]", 3,
       "IndexError slice_update"},
      {"%2 = slice_update %0, %1 starts=[1] steps=[1] shape=[3] : f32[n]", "f32[n]", 4,
       "IndexError slice_update"},
      {"%2 = max %0 axes=[0] : f32[]", "f32[]", 1, "ValueError max"},
      {"%2 = min %0 axes=[0] keepdims : f32[1]", "f32[1]", 1, "ValueError min"},
      {"%2 = argmax %0 axes=[0] : i64[]", "i64[]", 1, "ValueError argmax"},
      {"%2 = argmin %0 axes=[0] : i64[]", "i64[]", 1, "ValueError argmin"},
      {"%2 = iota axes=[0] : i32[n-2]", "i32[n-2]", 2, "ShapeError iota"},
  };
  for (const Bounds& one : all) {
    CAPTURE(one.body);
    const std::string text = std::string("func @main(%0: f32[n], %1: f32[3]) -> ") + one.type +
                             " {\n  " + one.body + "\n  return %2\n}";
    const ir::Graph graph = ir::parse(text, "bounds.hd");
    const auto fits = [&](std::int64_t n) {
      const std::string result = outcome(graph, n);
      CAPTURE(result);
      CHECK(result.find("Error") == std::string::npos);
    };
    fits(one.least);
    for (std::int64_t n = 0; n < one.least; ++n) {
      const std::string result = outcome(graph, n);
      CAPTURE(result);
      const std::string start = one.error;
      const std::size_t space = start.find(' ');
      CHECK(result.starts_with(start.substr(0, space) + " main with n=" + std::to_string(n) + ": " +
                               start.substr(space + 1) + "("));
      CHECK(result.ends_with(" (bounds.hd:2)"));
    }
    fits(one.least + 4);
  }
}

TEST_CASE("an error names the line of the graph that is run, not of the one compiled first") {
  const std::string text =
      "func @main(%0: f32[n]) -> f32[] {\n  %1 = max %0 axes=[0] : f32[]\n  return %1\n}";
  const ir::Graph first = ir::parse(text, "first.hd"), second = ir::parse("\n" + text, "second.hd");
  REQUIRE(first.hash() == second.hash());
  CHECK(outcome(first, 0).ends_with("(first.hd:2)"));
  CHECK(outcome(second, 0).ends_with("(second.hd:3)"));
}

TEST_CASE("extents that no value of a symbol gives are refused") {
  const Device device = current_device();
  Stream stream = Stream::current(device);
  for (const char* text : {"func @main(%0: f32[n+5]) -> f32[n+5] { return %0 }",
                           "func @main(%0: f32[2*n]) -> f32[2*n] { return %0 }",
                           "func @main(%0: f32[n*m]) -> f32[n*m] { return %0 }"}) {
    CAPTURE(text);
    const auto executable = Executable::get(ir::parse(text), {}, device);
    std::vector<Argument> arguments{on_device(values({3}, 1), stream)};
    CHECK_THROWS_AS(executable->run(std::move(arguments), stream), ShapeError);
  }
  const ir::Graph open =
      ir::parse("func @main(%0: f32[n]) -> i32[m] { %1 = iota axes=[0] : i32[m] return %1 }");
  CHECK(outcome(open, 3).starts_with("ShapeError main: 4*m has a symbol that no argument's"));
}

// Products of programs with and without the library that does epilogues, on the fake driver, whose
// kernels are in the fallbacks.

#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "passes/calls/gemm.h"
#include "runtime/base/statistics.h"
#include "runtime/device/memory.h"
#include "runtime/launch/program_runner.h"
#include "runtime/libraries/blas.h"
#include "tests/runtime/fake_driver/control.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::runtime;

namespace {

constexpr Device gpu{DeviceKind::cuda, 0};
using Ref = passes::BufferRef;
using Values = std::vector<float>;
constexpr Ref a{Ref::Kind::input, 0}, b{Ref::Kind::input, 1}, c{Ref::Kind::input, 2},
    out{Ref::Kind::output, 0}, alone{Ref::Kind::fallback, 0};

passes::Parameter parameter(Ref buffer) {
  passes::Parameter made;
  made.buffer = buffer;
  return made;
}

/// out[n] = factor * a[n] * b[0] + c[n], or without c; or in place of c. The fake driver's kernels
/// add and scale.
std::unique_ptr<ProgramRunner> load_product(bool adds, bool in_place = false) {
  const ir::Dim n = ir::Dim::symbol("n");
  passes::Parameter size, factor;
  size.kind = passes::Parameter::Kind::size;
  size.value = n;
  factor.kind = passes::Parameter::Kind::scalar;
  factor.scalar = 3;
  passes::GemmCall product;
  product.rows = n;
  product.columns = product.depth = product.a_leading = product.b_leading = ir::Dim(1);
  product.a_batch_stride = product.b_batch_stride = product.out_batch_stride = ir::Dim(0);
  product.a = a, product.b = b, product.out = out;
  if (adds) {
    product.residual = c;
  } else {
    product.alpha.scalar = 3;
  }
  if (in_place) product.out = c;
  passes::GemmCall plain = product;
  plain.out = alone;
  plain.alpha = {};
  plain.residual.reset();
  passes::KernelStep kernel;
  kernel.grid = {{n, 32}};
  kernel.block[0] = 32;
  kernel.kernel = adds ? 0 : 1;
  kernel.parameters = {parameter(alone), adds ? parameter(c) : parameter(product.out),
                       adds ? parameter(product.out) : factor, size};
  passes::CallStep call = to_call(product);
  call.fallback = passes::Fallback{{{to_call(plain)}, {kernel}}, {n * ir::Dim(4)}};
  passes::Program program;
  program.name = "product";
  for (int i = 0; i < 3; ++i) program.inputs.push_back({{DType::f32, {n}}});
  program.inputs.push_back({{DType::f32, {}}, true});
  program.outputs.push_back({{DType::f32, {n}}, {}, {}});
  if (in_place) {
    program.inputs[2].donated = true;
    program.outputs[0].input = 2;
  }
  program.kernel_names = {"fake_add", "fake_scale"};
  program.steps.emplace_back().work = std::move(call);
  ModuleImage module;
  module.kernels = program.kernel_names;
  module.bytes = fake_module;
  auto launcher = load_kernels({program, {module}}, gpu);
  return std::make_unique<ProgramRunner>(std::move(program), std::move(launcher));
}

DeviceArray upload(const Values& values, const Stream& stream) {
  DeviceArray array;
  array.type = {DType::f32, {static_cast<std::int64_t>(values.size())}};
  array.buffer = allocate(values.size() * sizeof(float), stream);
  copy(array.buffer->pointer(), gpu, values.data(), Device{}, values.size() * sizeof(float),
       stream);
  stream.synchronize();
  return array;
}

/// The result, and how many kernels it takes.
void check(ProgramRunner& runner, float factor, const Values& wanted, std::uint64_t kernels) {
  Stream stream = Stream::current(gpu);
  Values ramp(100);
  std::iota(ramp.begin(), ramp.end(), 1.0f);
  const DeviceArray left = upload(ramp, stream), right = upload(Values(100, 3), stream);
  const DeviceArray added = upload(Values(100, 7), stream);
  ScalarArgument scalar{DType::f32, 0};
  std::memcpy(scalar.bits.bytes(), &factor, sizeof factor);
  const std::vector<ArgumentView> arguments = {{&left}, {&right}, {&added}, {nullptr, scalar}};
  const std::uint64_t before = statistics().kernel_launches;
  std::vector<DeviceArray> outputs;
  runner.run(arguments, stream, outputs);
  Values values(100);
  copy(values.data(), Device{}, outputs[0].buffer->pointer(), gpu, 400, stream);
  stream.synchronize();
  CHECK(values == wanted);
  CHECK(statistics().kernel_launches - before == kernels);
}

Values expected(float factor, float more) {
  Values values(100);
  std::iota(values.begin(), values.end(), 1.0f);
  for (float& value : values) value = value * 3 * factor + more;
  return values;
}

struct Child {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("heddle_products_" + std::to_string(getpid()));
  Child() { std::filesystem::create_directories(folder); }
  ~Child() { std::filesystem::remove_all(folder); }

  /// What the process asked cuBLASLt for.
  std::string calls(const std::string& test_case, std::vector<std::string> more) const {
    std::vector<std::string> variables = {std::string("HEDDLE_CUDA_DRIVER=") + HEDDLE_FAKE_DRIVER,
                                          std::string("HEDDLE_CUBLAS=") + HEDDLE_FAKE_CUBLAS,
                                          std::string("HEDDLE_CUBLASLT=") + HEDDLE_FAKE_CUBLASLT,
                                          "HEDDLE_CACHE=0",
                                          "HEDDLE_FAKE_CUBLASLT_LOG=" + (folder / "log").string()};
    variables.insert(variables.end(), more.begin(), more.end());
    const auto result = test::run_child(test_case, variables);
    CHECK_MESSAGE(result.status == 0, result.output);
    std::string text = test::read_text(folder / "log");
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }
};

}  // namespace

TEST_CASE("child: products in one step" * doctest::skip()) {
  const auto sum = load_product(true), scaled = load_product(false);
  for (int i = 0; i < 3; ++i) check(*sum, 1, expected(1, 7), 0);
  check(*scaled, 2, expected(2, 0), 0);
  // A factor of 0 is the kernel's, for that call alone.
  check(*scaled, 0, expected(0, 0), 1);
  check(*scaled, -1, expected(-1, 0), 0);
}

TEST_CASE("child: products in two steps" * doctest::skip()) {
  const test::CapturedLog captured;
  log().set_level(spdlog::level::info);
  const auto sum = load_product(true), scaled = load_product(false);
  for (int i = 0; i < 4; ++i) check(*sum, 1, expected(1, 7), 1);
  check(*scaled, 2, expected(2, 0), 1);
  const std::string text = captured.text(), once = "product: cuBLASLt does not multiply 100x1x1";
  const std::size_t first = text.find(once), second = text.find(once, first + 1);
  CHECK(second != std::string::npos);
  CHECK(text.find(once, second + 1) == std::string::npos);
}

TEST_CASE("child: products by the fastest algorithm" * doctest::skip()) {
  const auto sum = load_product(true), updated = load_product(true, true);
  for (int i = 0; i < 2; ++i) check(*sum, 1, expected(1, 7), 0);
  for (int i = 0; i < 2; ++i) check(*updated, 1, expected(1, 7), 0);
}

TEST_CASE("child: a complex product" * doctest::skip()) {
  Stream stream = Stream::current(gpu);
  const DeviceArray ones = upload(Values(2, 1), stream);
  Gemm product;
  product.dtype = DType::c64;
  product.rows = product.columns = product.depth = product.a_leading = product.b_leading = 1;
  void* const memory = ones.buffer->pointer();
  CHECK_FALSE(gemm_with_epilogue(product, {}, memory, memory, memory, memory, stream));
}

TEST_CASE("a complex product is none of the library's, whatever its algorithms") {
  const Child child;
  CHECK(child.calls("child: a complex product", {"HEDDLE_AUTOTUNE=1"}).empty());
}

TEST_CASE("a product with an epilogue is one step of the library") {
  const Child child;
  CHECK(child.calls("child: products in one step", {}) ==
        "heuristic matmul matmul matmul heuristic matmul matmul ");
}

TEST_CASE("where the library refuses, the product and a kernel run, and it is not asked again") {
  for (const char* call : {"heuristic", "matmul"}) {
    const Child child;
    const std::string asked = child.calls("child: products in two steps",
                                          {std::string("HEDDLE_FAKE_CUBLASLT_REFUSES=") + call});
    CHECK(asked == (std::string(call) == "heuristic" ? "heuristic heuristic "
                                                     : "heuristic matmul heuristic matmul "));
  }
}

TEST_CASE("where the library does not start, the product and a kernel run") {
  const Child child;
  CHECK(
      child.calls("child: products in two steps", {"HEDDLE_FAKE_CUBLASLT_REFUSES=create"}).empty());
}

TEST_CASE("algorithms are timed by request, once a problem, and the fastest is kept on disk") {
  const Child child;
  const std::string cache = (child.folder / "cache").string();
  std::vector<std::string> variables = {"HEDDLE_FAKE_CUBLASLT_ALGORITHMS=3", "HEDDLE_CACHE=1",
                                        "HEDDLE_CACHE_DIR=" + cache};
  const std::string untimed = child.calls("child: products by the fastest algorithm", variables);
  CHECK(untimed.find("matmul0") != std::string::npos);
  CHECK(untimed.find("matmul1") == std::string::npos);
  CHECK(untimed.find("matmul2") == std::string::npos);

  variables.emplace_back("HEDDLE_AUTOTUNE=1");
  const std::string both = child.calls("child: products by the fastest algorithm", variables);
  const std::string timed = both.substr(untimed.size());
  for (const char* call : {"matmul0", "matmul1", "matmul2"})
    CHECK(timed.find(call) != std::string::npos);
  CHECK(timed.ends_with("matmul2 matmul2 "));

  const std::string again =
      child.calls("child: products by the fastest algorithm", variables).substr(both.size());
  CHECK(again == "check matmul2 matmul2 check matmul2 matmul2 ");
}

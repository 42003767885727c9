// Library calls inside the graphs of a program, on the fake driver with fake libraries.

#include <atomic>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "passes/calls/gemm.h"
#include "runtime/base/statistics.h"
#include "runtime/cuda/devices.h"
#include "runtime/device/memory.h"
#include "runtime/launch/recorded_call.h"
#include "runtime/libraries/blas.h"
#include "tests/runtime/fake_programs.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::test;
namespace cuda = runtime::cuda;

namespace {

constexpr Buffer left{Buffer::Kind::input, 0}, right{Buffer::Kind::input, 1};

/// (n, 1) x (1, 1)
passes::GemmCall product_of(Buffer a, Buffer b, Buffer out) {
  passes::GemmCall product;
  product.rows = n;
  product.columns = product.depth = product.a_leading = product.b_leading = ir::Dim(1);
  product.a_batch_stride = product.b_batch_stride = product.out_batch_stride = ir::Dim(0);
  product.a = a, product.b = b, product.out = out;
  return product;
}

passes::Step step_of(passes::CallStep call) {
  passes::Step step;
  step.work = std::move(call);
  return step;
}

/// ((a + b) * b[0]) * factor * b[0] + a: a kernel, a product, and a product whose epilogue scales
/// and adds, or in its place a product and two kernels.
std::unique_ptr<ProgramRunner> load_products() {
  const Buffer sum{Buffer::Kind::temporary, 0}, scaled{Buffer::Kind::temporary, 1},
      out{Buffer::Kind::output, 0}, alone{Buffer::Kind::fallback, 0};
  passes::GemmCall second = product_of(scaled, right, out);
  second.alpha.scalar = 2;
  second.residual = left;
  passes::CallStep call = to_call(second);
  const auto kernel_step = [](std::uint32_t index, std::vector<Parameter> parameters) {
    return kernel(index, std::move(parameters));
  };
  call.fallback = passes::Fallback{
      {step_of(to_call(product_of(scaled, right, alone))),
       kernel_step(scale, {buffer(alone.kind, 0), buffer(alone.kind, 0), scalar(2), size()}),
       kernel_step(add, {buffer(alone.kind, 0), input(0), output(0), size()})},
      {n * ir::Dim(4)}};
  passes::Program program =
      program_of(2, true,
                 {kernel(add, {input(0), input(1), temporary(0), size()}),
                  step_of(to_call(product_of(sum, right, scaled))), step_of(std::move(call))});
  for (int i = 0; i < 2; ++i) program.temporaries.push_back({n * 4 + 128, 0, 4});
  return load(std::move(program));
}

Values expected(const Values& a, const Values& b, float factor) {
  Values result;
  for (std::size_t i = 0; i < a.size(); ++i)
    result.push_back((a[i] + b[i]) * b[0] * b[0] * factor + a[i]);
  return result;
}

const Values ones(64, 1), twos(64, 2);

void check_run(ProgramRunner& runner, const DeviceArray& a, const Values& values,
               const DeviceArray& b, float factor, const Stream& stream) {
  CHECK(download(call(runner, {&a, &b}, factor, stream), stream) == expected(values, twos, factor));
}

/// One launch a call from the third on; `launches` are those of kernels before, and captured.
void check_one_graph(std::uint64_t launches) {
  const Stream stream = Stream::create(gpu);
  const auto runner = load_products();
  const DeviceArray a = upload(ones, stream), b = upload(twos, stream);
  Counting counting{"cuGraphLaunch", "cuLaunchKernel", "cuStreamBeginCaptureToGraph"};
  const std::uint64_t before = runtime::statistics().kernel_launches;
  for (int i = 0; i < 10; ++i) check_run(*runner, a, ones, b, 3, stream);
  CHECK_MESSAGE((runtime::statistics().kernel_launches - before) % 10 == 0, "as many in each");
  CHECK(counting("cuGraphLaunch") == 8);
  CHECK(counting("cuLaunchKernel") == launches);
  CHECK(counting("cuStreamBeginCaptureToGraph") == 2);
}

/// A loop whose results take turns between two buffers has a graph for each turn.
void check_turns() {
  const Stream stream = Stream::create(gpu);
  const auto runner = load_products();
  const Values others = ramp(64, 5);
  const DeviceArray a = upload(ones, stream), c = upload(others, stream), b = upload(twos, stream);
  Counting counting{"cuGraphInstantiateWithFlags", "cuGraphLaunch", "cuStreamBeginCaptureToGraph",
                    "cuGraphExecKernelNodeSetParams_v2"};
  for (int i = 0; i < 20; ++i) {
    const bool odd = i % 2 != 0;
    check_run(*runner, odd ? c : a, odd ? others : ones, b, 3, stream);
  }
  CHECK(counting("cuStreamBeginCaptureToGraph") == 4);
  CHECK(counting("cuGraphInstantiateWithFlags") == 3);  // and one of the first kernel alone
  CHECK_MESSAGE(counting("cuGraphExecKernelNodeSetParams_v2") == 0, "each graph has its own");
}

/// What is new each time is not captured again and again.
void check_changing_scalars() {
  const Stream stream = Stream::create(gpu);
  const auto runner = load_products();
  const DeviceArray a = upload(ones, stream), b = upload(twos, stream);
  Counting counting{"cuStreamBeginCaptureToGraph"};
  for (int i = 1; i < 40; ++i) check_run(*runner, a, ones, b, static_cast<float>(i), stream);
  CHECK(counting("cuStreamBeginCaptureToGraph") == 2);
  // A factor of 0 is the fallback's, also in a graph.
  for (int i = 0; i < 4; ++i) check_run(*runner, a, ones, b, 0, stream);
  CHECK(counting("cuStreamBeginCaptureToGraph") == 4);
  // However many come back, only so many are made.
  for (int i = 0; i < 200; ++i) check_run(*runner, a, ones, b, static_cast<float>(i % 7), stream);
  CHECK(counting("cuStreamBeginCaptureToGraph") <= 32);
}

/// Scratch memory is shared by the graphs of a stream, and goes with them.
void check_scratch() {
  const Stream stream = Stream::create(gpu);
  const std::size_t before = runtime::pool_of(gpu).statistics().in_use;
  {
    const auto first = load_products(), second = load_products();
    const DeviceArray a = upload(ones, stream), b = upload(twos, stream);
    for (ProgramRunner* const runner : {first.get(), second.get()}) {
      for (int i = 0; i < 5; ++i) check_run(*runner, a, ones, b, 3, stream);
    }
    CHECK(runtime::CallScratch::of(stream).use_count() == 3);
    const std::size_t in_use = runtime::pool_of(gpu).statistics().in_use - before;
    CHECK(in_use < 2 * runtime::blas_workspace_bytes(gpu));
  }
  CHECK(runtime::pool_of(gpu).statistics().in_use == before);
}

/// Calls that all fail somewhere, and go on as before.
void check_failures() {
  const Stream stream = Stream::create(gpu);
  const std::set<std::string> recovered = {
      "cuStreamBeginCaptureToGraph", "cuStreamEndCapture", "cuGraphCreate",
      "cuGraphInstantiateWithFlags", "cuGraphLaunch",      "cuGraphAddKernelNode_v2"};
  const DeviceArray a = upload(ones, stream), b = upload(twos, stream);
  const std::uint64_t graphs = control().live_graphs(), executables = control().live_executables();
  for (const std::string& function : recovered) {
    for (int after = 0; after < 4; ++after) {
      CAPTURE(function);
      CAPTURE(after);
      const auto runner = load_products();
      control().fail(function.c_str(), 999, after);
      for (int i = 0; i < 8; ++i) check_run(*runner, a, ones, b, 3, stream);
      control().fail("", 0, -1);
    }
  }
  CHECK(control().live_graphs() == graphs);
  CHECK(control().live_executables() == executables);
}

void check_threads() {
  const auto runner = load_products();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const Stream stream = Stream::current(gpu);
      const Values values = ramp(64, static_cast<float>(t));
      const DeviceArray a = upload(values, stream), b = upload(twos, stream);
      for (int i = 0; i < 60; ++i) {
        const auto factor = static_cast<float>(i % 3 + 1);
        if (download(call(*runner, {&a, &b}, factor, stream), stream) !=
            expected(values, twos, factor))
          ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  runtime::pool_of(gpu).verify();
}

void run_child(const char* test_case, std::vector<std::string> more = {}) {
  std::vector<std::string> variables = {"-uHEDDLE_DEVICE",
                                        std::string("HEDDLE_CUDA_DRIVER=") + HEDDLE_FAKE_DRIVER,
                                        std::string("HEDDLE_CUBLAS=") + HEDDLE_FAKE_CUBLAS,
                                        std::string("HEDDLE_CUBLASLT=") + HEDDLE_FAKE_CUBLASLT,
                                        "HEDDLE_CACHE=0",
                                        "HEDDLE_FAKE_CUBLASLT_LOG=/dev/null"};
  variables.insert(variables.end(), more.begin(), more.end());
  const auto result = test::run_child(test_case, variables);
  CHECK_MESSAGE(result.status == 0, result.output);
}

}  // namespace

TEST_CASE("library calls that repeat run inside graphs") {
  for (const char* poison : {"HEDDLE_POISON=0", "HEDDLE_POISON=1"})
    run_child("child: captured calls", {poison, "HEDDLE_GRAPHS=1"});
}

TEST_CASE("child: captured calls" * doctest::skip()) {
  REQUIRE(cuda::available());
  control();
  check_one_graph(2);
  check_turns();
  check_changing_scalars();
  check_scratch();
  check_failures();
  check_threads();
}

TEST_CASE("a product that the library refuses runs inside graphs as its fallback") {
  run_child("child: refused calls", {"HEDDLE_FAKE_CUBLASLT_REFUSES=matmul", "HEDDLE_GRAPHS=1"});
}

TEST_CASE("child: refused calls" * doctest::skip()) {
  REQUIRE(cuda::available());
  control();
  check_one_graph(8);
}

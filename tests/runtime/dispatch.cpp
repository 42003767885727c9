// Calls of programs on a GPU: launches, graphs of launches, and captures by the user, on a driver
// that is a program of its own (fake_driver/) and knows a few kernels by name.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "runtime/base/fault.h"
#include "runtime/base/statistics.h"
#include "runtime/cuda/devices.h"
#include "runtime/device/memory.h"
#include "runtime/launch/capture.h"
#include "tests/runtime/fake_programs.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::test;
namespace cuda = runtime::cuda;

namespace {

void check_patching() {
  const Stream stream = Stream::current(gpu);
  const auto runner = load_scale();
  const DeviceArray a = upload(ramp(100, 1), stream), b = upload(ramp(100, 7), stream);
  Counting counting{"cuGraphInstantiateWithFlags", "cuGraphLaunch", "cuLaunchKernel",
                    "cuGraphExecKernelNodeSetParams_v2"};
  const std::uint64_t launched = runtime::statistics().kernel_launches;
  for (int i = 0; i < 4; ++i) call(*runner, {&a}, 3, stream);
  CHECK(counting("cuLaunchKernel") == 2);
  CHECK(counting("cuGraphLaunch") == 2);
  CHECK_MESSAGE(counting("cuGraphExecKernelNodeSetParams_v2") == 0, "nothing changed");
  CHECK(runtime::statistics().kernel_launches == launched + 4);

  // All of them wait in the stream when the arguments change.
  std::vector<DeviceArray> results;
  for (int i = 0; i < 6; ++i)
    results.push_back(call(*runner, {i % 2 == 0 ? &a : &b}, static_cast<float>(i), stream));
  for (int i = 0; i < 6; ++i) {
    CHECK(download(results[static_cast<std::size_t>(i)], stream) ==
          times(ramp(100, i % 2 == 0 ? 1 : 7), static_cast<float>(i)));
  }
  CHECK(counting("cuGraphExecKernelNodeSetParams_v2") == 6);
  CHECK(counting("cuGraphInstantiateWithFlags") == 1);
}

void check_segments_and_temporaries() {
  const Stream stream = Stream::current(gpu);
  const auto runner = load_several();
  Counting counting{"cuGraphAddMemsetNode", "cuGraphAddKernelNode_v2", "cuGraphLaunch"};
  for (int i = 0; i < 8; ++i) {
    const Values left = ramp(200, static_cast<float>(i)), right = ramp(200, 5);
    const DeviceArray a = upload(left, stream), b = upload(right, stream);
    const DeviceArray result = call(*runner, {&a, &b}, static_cast<float>(i), stream);
    CHECK(download(result, stream) == several(left, right, static_cast<float>(i)));
  }
  CHECK(counting("cuGraphAddMemsetNode") == 2);
  CHECK(counting("cuGraphAddKernelNode_v2") == 4);
  CHECK(counting("cuGraphLaunch") == 6);
}

/// Blocks come in clusters with and without a graph, and after the graph was patched.
void check_clusters() {
  const Stream stream = Stream::current(gpu);
  passes::Step step = kernel(clusters, {output(0), size()});
  step.kernel()->cluster = 4;
  const auto runner = load(program_of(1, true, {step}));
  const DeviceArray a = upload(ramp(128, 1), stream);
  std::vector<DeviceArray> results;
  for (int i = 0; i < 6; ++i) results.push_back(call(*runner, {&a}, 1, stream));
  for (const DeviceArray& result : results) CHECK(download(result, stream) == Values(128, 4));
}

void check_changing_shapes() {
  const Stream stream = Stream::current(gpu);
  const auto runner = load_several();
  Counting counting{"cuGraphInstantiateWithFlags"};
  for (int i = 0; i < 30; ++i) {
    const std::size_t count = i % 3 == 0 ? 40 : i % 3 == 1 ? 1000 : 0;
    const Values left = ramp(count, static_cast<float>(i)), right = ramp(count, 2);
    const DeviceArray a = upload(left, stream), b = upload(right, stream);
    CHECK(download(call(*runner, {&a, &b}, 2, stream), stream) == several(left, right, 2));
  }
  CHECK_MESSAGE(counting("cuGraphInstantiateWithFlags") == 2, "one a shape that has elements");
  // More shapes than lanes, round and round: still right, and no graph that is not used again.
  for (std::size_t turn = 0; turn < 3; ++turn) {
    for (std::size_t count = 1; count < 24; ++count) {
      const Values left = ramp(count, 1), right = ramp(count, 2);
      const DeviceArray a = upload(left, stream), b = upload(right, stream);
      CHECK(download(call(*runner, {&a, &b}, 2, stream), stream) == several(left, right, 2));
    }
  }
  CHECK(counting("cuGraphInstantiateWithFlags") == 2);
}

void check_alternating_streams() {
  const auto runner = load_several();
  const Stream first = Stream::create(gpu), second = Stream::create(gpu);
  Counting counting{"cuGraphInstantiateWithFlags", "cuGraphLaunch"};
  Values left = ramp(300, 1);
  const Values right = ramp(300, 2);
  DeviceArray a = upload(left, first);
  const DeviceArray b = upload(right, first);
  // Each call reads what the one before it on the other stream makes.
  for (int i = 0; i < 12; ++i) {
    a = call(*runner, {&a, &b}, 0.5f, i % 2 == 0 ? first : second);
    left = several(left, right, 0.5f);
  }
  CHECK(download(a, second) == left);
  CHECK(counting("cuGraphInstantiateWithFlags") == 2);
  CHECK(counting("cuGraphLaunch") == 8);
}

void check_threads(bool one_stream) {
  const auto runner = load_several();
  const Stream shared = Stream::create(gpu);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const Stream stream = one_stream ? shared : Stream::current(gpu);
      const Values right = ramp(64, static_cast<float>(t));
      const DeviceArray b = upload(right, stream);
      for (int i = 0; i < 100; ++i) {
        const Values left = ramp(64, static_cast<float>(i));
        const DeviceArray a = upload(left, stream);
        const DeviceArray result = call(*runner, {&a, &b}, 2, stream);
        if (download(result, stream) != several(left, right, 2)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  runtime::pool_of(gpu).verify();
}

cuda::GraphExecHandle end_capture(const Stream& stream) {
  cuda::GraphHandle graph = nullptr;
  cuda::driver().stream_end_capture(stream.handle(), &graph);
  cuda::GraphExecHandle executable = nullptr;
  cuda::driver().graph_instantiate(&executable, graph, 0);
  cuda::driver().graph_destroy(graph);
  return executable;
}

/// `warm`: the program has a graph of its own already.
void check_capture(bool warm) {
  const cuda::ContextScope context(0);
  const std::size_t in_use = runtime::pool_of(gpu).statistics().in_use;
  {
    const auto runner = load_several();
    const Stream stream = Stream::create(gpu), other = Stream::create(gpu);
    const DeviceArray a = upload(ramp(500, 1), stream), b = upload(ramp(500, 2), other);
    for (int i = 0; warm && i < 5; ++i) call(*runner, {&a, &b}, 3, stream);

    Counting counting{"cuGraphLaunch", "cuGraphCreate", "cuMemAlloc_v2"};
    cuda::driver().stream_begin_capture(stream.handle(), cuda::CaptureMode::global);
    DeviceArray between = call(*runner, {&a, &b}, 3, stream);
    const DeviceArray result = call(*runner, {&between, &b}, 2, stream);
    between = {};
    CHECK(stream.capturing());
    const cuda::GraphExecHandle executable = end_capture(stream);
    CHECK(counting("cuGraphLaunch") == 0);
    CHECK(counting("cuGraphCreate") == 0);

    // Memory of the captured calls is nobody else's while the graph is there.
    std::vector<DeviceArray> others;
    for (int i = 0; i < 20; ++i) others.push_back(upload(ramp(500, -7), stream));
    for (const float first : {1.0f, 10.0f}) {
      const Values fresh = ramp(500, first);
      runtime::copy(a.buffer->pointer(), gpu, fresh.data(), Device{}, a.buffer->bytes(), stream);
      cuda::driver().graph_launch(executable, stream.handle());
      CHECK(download(result, stream) == several(several(fresh, ramp(500, 2), 3), ramp(500, 2), 2));
    }
    for (const DeviceArray& one : others) CHECK(download(one, stream) == ramp(500, -7));
    cuda::driver().graph_exec_destroy(executable);
    // Calls go on as before.
    CHECK(download(call(*runner, {&a, &b}, 3, stream), stream) ==
          several(ramp(500, 10), ramp(500, 2), 3));
    // What a graph that is gone has kept is given back by the next capture.
    cuda::driver().stream_begin_capture(other.handle(), cuda::CaptureMode::relaxed);
    load_scale();
    call(*load_scale(), {&b}, 1, other);
    cuda::driver().graph_exec_destroy(end_capture(other));
    cuda::driver().stream_begin_capture(other.handle(), cuda::CaptureMode::relaxed);
    call(*load_scale(), {&b}, 1, other);
    cuda::GraphHandle graph = nullptr;
    cuda::driver().stream_end_capture(other.handle(), &graph);
    cuda::driver().graph_destroy(graph);
  }
  CHECK(runtime::pool_of(gpu).statistics().in_use <= in_use + 3 * 2048);
}

void check_failing_capture() {
  const cuda::ContextScope context(0);
  const Stream stream = Stream::create(gpu);
  const auto runner = load_several();
  const DeviceArray a = upload(ramp(50, 1), stream), b = upload(ramp(50, 2), stream);
  call(*runner, {&a, &b}, 3, stream);
  cuda::driver().stream_begin_capture(stream.handle(), cuda::CaptureMode::global);
  control().fail("cuGraphRetainUserObject", 999, 0);
  CHECK_THROWS_AS(call(*runner, {&a, &b}, 3, stream), DeviceError);
  cuda::driver().graph_exec_destroy(end_capture(stream));
  CHECK(download(call(*runner, {&a, &b}, 3, stream), stream) ==
        several(ramp(50, 1), ramp(50, 2), 3));
}

void check_out_of_memory() {
  const Stream stream = Stream::current(gpu);
  runtime::release_destroyed_graphs();
  const std::size_t in_use = runtime::pool_of(gpu).statistics().in_use;
  const std::uint64_t executables = control().live_executables();
  const auto runner = load_several();
  {
    // Three temporaries of 4 MiB.
    const Values left = ramp(mib, 1), right = ramp(mib, 2);
    const DeviceArray a = upload(left, stream), b = upload(right, stream);
    for (int i = 0; i < 4; ++i) call(*runner, {&a, &b}, 2, stream);
    CHECK(control().live_executables() == executables + 1);
  }
  CHECK_MESSAGE(runtime::pool_of(gpu).statistics().in_use >= in_use + 12 * mib, "the graph's own");
  {
    const runtime::BufferRef large = allocate(246 * mib, stream);
    CHECK(control().live_executables() == executables);
  }
  CHECK(runtime::pool_of(gpu).statistics().in_use == in_use);
  const Values left = ramp(10, 1), right = ramp(10, 2);
  const DeviceArray a = upload(left, stream), b = upload(right, stream);
  for (int i = 0; i < 5; ++i)
    CHECK(download(call(*runner, {&a, &b}, 2, stream), stream) == several(left, right, 2));
  CHECK(control().live_executables() == executables + 1);
}

/// Large temporaries are of one call each, and lie where there is room.
void check_large_temporaries() {
  const Stream stream = Stream::current(gpu);
  const std::size_t in_use = runtime::pool_of(gpu).statistics().in_use;
  const auto runner = load_several();
  Counting counting{"cuGraphLaunch"};
  std::vector<runtime::BufferRef> others;
  for (int i = 0; i < 6; ++i) {
    const Values left = ramp(2 * mib, static_cast<float>(i)), right = ramp(2 * mib, 2);
    {
      const DeviceArray a = upload(left, stream), b = upload(right, stream);
      CHECK(download(call(*runner, {&a, &b}, 2, stream), stream) == several(left, right, 2));
    }
    CHECK(runtime::pool_of(gpu).statistics().in_use == in_use + others.size() * 8 * mib);
    others.push_back(allocate(8 * mib, stream));
  }
  CHECK(counting("cuGraphLaunch") == 4);
}

/// Six calls with changing arguments on two streams; each gives what it should, or throws.
int calls_that_fail(ProgramRunner& runner, const Stream& first, const Stream& second) {
  int failures = 0;
  for (int i = 0; i < 8; ++i) {
    const Stream& stream = i == 6 ? second : first;
    const Values left = ramp(64, static_cast<float>(i)), right = ramp(64, 2);
    try {
      const DeviceArray a = upload(left, first), b = upload(right, first);
      const DeviceArray result = call(runner, {&a, &b}, static_cast<float>(i), stream);
      const Values values = download(result, stream);
      CHECK(values == several(left, right, static_cast<float>(i)));
    } catch (const Error&) {
      ++failures;
    }
  }
  return failures;
}

void check_failing_calls() {
  const Stream first = Stream::create(gpu), second = Stream::create(gpu);
  calls_that_fail(*load_several(), first, second);
  runtime::pool_of(gpu).trim(true);
  const std::size_t in_use = runtime::pool_of(gpu).statistics().in_use;
  const std::uint64_t graphs = control().live_graphs(), executables = control().live_executables();
  constexpr int unknown = 999;
  const std::set<std::string> recovered = {"cuGraphCreate",
                                           "cuGraphAddKernelNode_v2",
                                           "cuGraphAddMemsetNode",
                                           "cuGraphInstantiateWithFlags",
                                           "cuGraphLaunch",
                                           "cuGraphExecKernelNodeSetParams_v2",
                                           "cuGraphExecMemsetNodeSetParams"};
  std::set<std::string> all = recovered;
  all.insert(
      {"cuMemAlloc_v2", "cuMemsetD8Async", "cuLaunchKernel", "cuEventRecord", "cuStreamWaitEvent"});
  for (const std::string& function : all) {
    for (int after = 0; after < 12; ++after) {
      CAPTURE(function);
      CAPTURE(after);
      const auto runner = load_several();
      first.synchronize();
      second.synchronize();
      runtime::pool_of(gpu).trim(true);
      control().fail(function.c_str(), unknown, after);
      const int failures = calls_that_fail(*runner, first, second);
      CHECK(failures <= (recovered.contains(function) ? 0 : 1));
      if (after == 0) CHECK(control().failed());
      control().fail("", 0, -1);
      CHECK(calls_that_fail(*runner, first, second) == 0);
    }
  }
  for (int after = 0; after < 30; ++after) {
    const auto runner = load_several();
    const runtime::fault::Watch watch(runtime::fault::Kind::launch, after);
    CHECK(calls_that_fail(*runner, first, second) <= 1);
  }
  first.synchronize();
  second.synchronize();
  runtime::pool_of(gpu).trim(true);
  CHECK(runtime::pool_of(gpu).statistics().in_use == in_use);
  CHECK(control().live_graphs() == graphs);
  CHECK(control().live_executables() == executables);
}

runtime::ProcessResult run_on_fake_driver(const char* test_case,
                                          std::vector<std::string> variables = {}) {
  variables.push_back(std::string("HEDDLE_CUDA_DRIVER=") + HEDDLE_FAKE_DRIVER);
  variables.emplace_back("-uHEDDLE_DEVICE");
  std::rotate(variables.begin(), variables.end() - 1, variables.end());
  return test::run_child(test_case, variables);
}

}  // namespace

TEST_CASE("calls that repeat are launched as graphs") {
  for (const char* poison : {"HEDDLE_POISON=0", "HEDDLE_POISON=1"}) {
    const auto result = run_on_fake_driver("child: graphs", {poison, "HEDDLE_GRAPHS=1"});
    CHECK_MESSAGE(result.status == 0, result.output);
  }
}

TEST_CASE("child: graphs" * doctest::skip()) {
  REQUIRE(cuda::available());
  check_patching();
  check_segments_and_temporaries();
  check_clusters();
  check_changing_shapes();
  check_alternating_streams();
  check_threads(false);
  check_threads(true);
  check_capture(false);
  check_capture(true);
  check_failing_capture();
  check_out_of_memory();
  check_large_temporaries();
}

TEST_CASE("a failing call of the driver leaves calls working, and memory and graphs balanced") {
  const auto result = run_on_fake_driver("child: failing calls");
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: failing calls" * doctest::skip()) {
  REQUIRE(cuda::available());
  control();
  check_failing_calls();
}

TEST_CASE("HEDDLE_GRAPHS=0 launches kernels one by one") {
  const auto result = run_on_fake_driver("child: no graphs", {"HEDDLE_GRAPHS=0"});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: no graphs" * doctest::skip()) {
  REQUIRE(cuda::available());
  const auto runner = load_several();
  const Stream stream = Stream::current(gpu);
  Counting counting{"cuGraphCreate", "cuLaunchKernel"};
  CHECK(calls_that_fail(*runner, stream, stream) == 0);
  CHECK(counting("cuGraphCreate") == 0);
  CHECK(counting("cuLaunchKernel") == 32);
}

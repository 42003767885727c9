// Calls that repeat, on whatever device there is: on a GPU they are launches of graphs.

#include <atomic>
#include <cmath>
#include <thread>

#include "runtime/cuda/devices.h"
#include "runtime/device/memory.h"
#include "runtime/device/stream.h"
#include "values.h"

namespace runtime = heddle::runtime;

namespace {

hd::Array ramp(std::int64_t count, float first) {
  return (hd::arange<float>(count) + first).eval();
}

/// Several kernels: results of different sizes, a sum of many parts, and one that needs the other.
std::vector<hd::Array> several(const hd::Array& x, const hd::Array& factor) {
  const hd::Array total = hd::sum(x) * factor;
  const hd::Array sums = hd::cumsum(x);
  return {total, x / total, sums(hd::slice(3, {})) * factor, hd::sort(-x)};
}

bool right(const std::vector<hd::Array>& results, std::int64_t count, float first, float factor) {
  const float sum = static_cast<float>(count) * (first + static_cast<float>(count - 1) / 2);
  const float last = first + static_cast<float>(count - 1);
  const auto close = [](float actual, float wanted) {
    return std::abs(actual - wanted) <= 1e-4f * std::abs(wanted);
  };
  return close(results[0].item<float>(), sum * factor) &&
         close(results[1](-1).item<float>(), last / (sum * factor)) &&
         close(results[2](-1).item<float>(), sum * factor) && results[3](0).item<float>() == -last;
}

}  // namespace

TEST_CASE("calls that repeat take new arrays, scalars and sizes") {
  const auto f = hd::jit(several);
  for (int i = 1; i <= 12; ++i) {
    const std::int64_t count = i % 4 == 0 ? 70000 : 1000;
    const auto first = static_cast<float>(i), factor = static_cast<float>(i % 5 + 1);
    CHECK(right(f(ramp(count, first), factor), count, first, factor));
  }
  const auto g = hd::jit(several, {.dynamic = {{"n"}}});
  for (int i = 1; i <= 40; ++i) {
    const std::int64_t count = 100 + i % 12;
    CHECK(right(g(ramp(count, 1), 2.0f), count, 1, 2));
  }
}

TEST_CASE("eight threads call one program, each on its stream, and all on one") {
  const auto f = hd::jit(several);
  const runtime::Device device = runtime::current_device();
  const runtime::Stream shared = runtime::Stream::create(device);
  for (const bool one_stream : {false, true}) {
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        const runtime::StreamScope scope(one_stream ? shared : runtime::Stream::create(device));
        for (int i = 0; i < 25; ++i) {
          const auto first = static_cast<float>(t + i);
          if (!right(f(ramp(2000, first), 3.0f), 2000, first, 3)) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
  }
}

TEST_CASE("calls on alternating streams read each other's results") {
  const auto f = hd::jit([](const hd::Array& x) { return hd::cumsum(x) / hd::sum(x); });
  const runtime::Device device = runtime::current_device();
  const runtime::Stream streams[] = {runtime::Stream::create(device),
                                     runtime::Stream::create(device)};
  hd::Array x = ramp(5000, 1), wanted = x;
  for (int i = 0; i < 12; ++i) {
    const runtime::StreamScope scope(streams[i % 2]);
    x = f(x);
  }
  for (int i = 0; i < 12; ++i) wanted = hd::cumsum(wanted) / hd::sum(wanted);
  CHECK(hd::allclose(x, wanted, 1e-4));
}

TEST_CASE("an array that is moved in is updated in place: nothing is allocated") {
  const auto step = hd::jit([](const hd::Array& a, const hd::Array& b) { return a * 2 + b; });
  const hd::Array b = ramp(1000, 0);
  hd::Array a = hd::ones<float>({1000}).eval();
  a = step(std::move(a), b);
  const runtime::MemoryPool& pool = runtime::pool_of(runtime::current_device());
  const runtime::MemoryStatistics before = pool.statistics();
  for (int i = 0; i < 10; ++i) a = step(std::move(a), b);
  const runtime::MemoryStatistics after = pool.statistics();
  CHECK(after.allocations == before.allocations);
  CHECK(after.in_use == before.in_use);
  CHECK(a(1).item<float>() == 4095);
  // The same lazily: the old value dies with the assignment.
  a = (a * 0 + 1).eval();
  a = (a * 2 + b).eval();
  const std::uint64_t allocations = pool.statistics().allocations;
  for (int i = 0; i < 10; ++i) {
    a = a * 2 + b;
    a.eval();
  }
  CHECK(pool.statistics().allocations == allocations);
  CHECK(a(1).item<float>() == 4095);
}

TEST_CASE("a jitted call inside a CUDA graph that the user captures") {
  const runtime::Device device = runtime::current_device();
  if (device == runtime::Device{}) {
    MESSAGE("no GPU here");
    return;
  }
  const runtime::cuda::Driver& driver = runtime::cuda::driver();
  const runtime::cuda::ContextScope context(device.ordinal);
  const auto f = hd::jit([](const hd::Array& x) { return hd::cumsum(x * 2) / hd::sum(x); });
  const auto g = hd::jit([](const hd::Array& x) { return x + 1; });
  const runtime::Stream stream = runtime::Stream::create(device);
  // Made on another stream than the one that is captured.
  hd::Array x = ramp(100000, 1);
  for (int warm = 0; warm < 2; ++warm) {
    const runtime::StreamScope scope(stream);
    for (int i = 0; i < 4; ++i) g(f(x));
    driver.stream_begin_capture(stream.handle(), runtime::cuda::CaptureMode::global);
    const hd::Array y = g(f(x));
    runtime::cuda::GraphHandle graph = nullptr;
    driver.stream_end_capture(stream.handle(), &graph);
    runtime::cuda::GraphExecHandle executable = nullptr;
    driver.graph_instantiate(&executable, graph, 0);
    driver.graph_destroy(graph);
    std::vector<hd::Array> others;
    for (int i = 0; i < 8; ++i) others.push_back(hd::full({100000}, 7.0f).eval());
    for (int replay = 0; replay < 3; ++replay) driver.graph_launch(executable, stream.handle());
    CHECK(hd::allclose(y, hd::cumsum(x * 2) / hd::sum(x) + 1, 1e-4));
    for (const hd::Array& one : others) CHECK(hd::min(one).item<float>() == 7);
    driver.graph_exec_destroy(executable);
  }
}

#include <algorithm>
#include <chrono>
#include <exception>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "heddle/heddle.h"

#include "runtime/cuda/driver.h"
#include "runtime/device/device.h"

// Measures the cost of a call that computes almost nothing. On a GPU this is the time from the
// start of a call to the start of the next, with the device kept busy, and the part of it spent on
// the host. With the tests' fake driver (HEDDLE_CUDA_DRIVER=.../libheddle_fake_driver.so), whose
// launches do nothing, it is Heddle's own overhead.

namespace heddle::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int batches = 15;
constexpr std::int64_t length = 1024;

double nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

struct Times {
  double submit = 0;  ///< until the calls have returned, per call
  double end = 0;     ///< until the device has finished them, per call
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Nanoseconds per call: medians over batches short enough for the device's queue.
Times time_calls(const std::function<void()>& call, int count) {
  for (int i = 0; i < 50; ++i) call();
  synchronize();
  std::vector<double> submits, ends;
  for (int batch = 0; batch < batches; ++batch) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < count; ++i) call();
    submits.push_back(nanoseconds_since(start) / count);
    synchronize();
    ends.push_back(nanoseconds_since(start) / count);
  }
  return {median(submits), median(ends)};
}

/// The same calls on several threads at once, each on its own stream; nanoseconds per call of one
/// thread.
Times time_threads(const std::function<void()>& call, int threads, int count) {
  std::vector<Times> times(static_cast<std::size_t>(threads));
  std::vector<std::thread> workers;
  for (Times& one : times) workers.emplace_back([&] { one = time_calls(call, count); });
  for (std::thread& worker : workers) worker.join();
  Times sum;
  for (const Times& one : times) {
    sum.submit += one.submit / threads;
    sum.end += one.end / threads;
  }
  return sum;
}

Array ten_ops(const Array& x) {
  Array y = x;
  for (int i = 0; i < 5; ++i) y = sin(y) + 0.5f;
  return y;
}

struct Case {
  std::string name;
  std::function<void()> call;
  int threads = 1;
};

std::vector<Case> all_cases() {
  const Array x = ones<float>({length}).eval(), w = full({length}, 2.0f).eval(),
              b = full({length}, 3.0f).eval();
  const auto axpy = jit([](const Array& a, const Array& c, const Array& d) { return a * c + d; });
  const auto scaled = jit([](const Array& a, const Array& factor) { return a * factor; });
  const auto chain = jit(ten_ops);
  // Results of five different sizes need five kernels.
  const auto five = jit([](const Array& a, const Array& c) {
    std::vector<Array> results;
    for (const std::int64_t n : {1000, 900, 800, 700, 600})
      results.push_back(a(slice(0, n)) * c(slice(0, n)));
    return results;
  });
  const auto step = jit([](const Array& a, const Array& c) { return a * 2.0f + c; });
  const Array rows = ones<float>({64, 64}).eval(), weights = full({64, 64}, 0.01f).eval();
  const auto product = jit([](const Array& a, const Array& c) { return matmul(a, c); });
  const auto layers = jit([](const Array& a, const Array& c) {
    Array hidden = a;
    for (int i = 0; i < 3; ++i) hidden = tanh(matmul(hidden, c)) * 0.5f;
    return hidden;
  });
  auto hidden = std::make_shared<Array>(ones<float>({64, 64}).eval());
  auto state = std::make_shared<Array>(full({length}, 1.0f).eval());
  auto factor = std::make_shared<double>(1);
  return {{"one kernel, three arrays", [=] { axpy(x, w, b); }},
          {"one kernel, a new scalar each call", [=] { scaled(x, *factor += 1); }},
          {"ten-op chain", [=] { chain(x); }},
          {"five kernels", [=] { five(x, w); }},
          {"one product", [=] { product(rows, weights); }},
          {"three products, each with a kernel", [=] { layers(rows, weights); }},
          {"the same on its own result", [=] { *hidden = layers(*hidden, weights); }},
          {"donated: a = a*2 + b", [=] { *state = step(std::move(*state), b); }},
          {"lazy ten-op chain", [=] { ten_ops(x).eval(); }},
          {"one kernel, eight threads", [=] { axpy(x, w, b); }, 8}};
}

struct Options {
  std::string device, only, json;
  int count = 500;
};

std::string commit() {
  std::ifstream file(HEDDLE_SOURCE_FOLDER "/.commit");
  std::string text;
  return std::getline(file, text) ? text : "unknown";
}

int run(const Options& options) {
  if (!options.device.empty()) set_device(options.device);
  const runtime::Device device = runtime::current_device();
  nlohmann::json report{{"commit", commit()},
                        {"device", runtime::to_string(device)},
                        {"name", runtime::facts_of(device).name},
                        {"driver_cuda", runtime::cuda::driver_version()}};
  fmt::print("{} ({})\n{:<36} {:>12} {:>16}\n", runtime::to_string(device),
             runtime::facts_of(device).name, "nanoseconds a call", "submitted", "end to end");
  for (const Case& one : all_cases()) {
    if (one.name.find(options.only) == std::string::npos) continue;
    const Times times = one.threads == 1 ? time_calls(one.call, options.count)
                                         : time_threads(one.call, one.threads, options.count);
    fmt::print("{:<36} {:>12.0f} {:>16.0f}\n", one.name, times.submit, times.end);
    std::fflush(stdout);
    report["calls"].push_back({{"name", one.name},
                               {"submit_nanoseconds", times.submit},
                               {"end_to_end_nanoseconds", times.end}});
  }
  if (!options.json.empty()) std::ofstream(options.json) << report.dump(1) << '\n';
  return 0;
}

}  // namespace
}  // namespace heddle::bench

int main(int argc, char** argv) {
  heddle::bench::Options options;
  CLI::App app("Times calls that compute almost nothing.");
  app.add_option("--device", options.device,
                 "cpu or cuda:N; by default HEDDLE_DEVICE, else a GPU, else cpu");
  app.add_option("--only", options.only, "Only calls whose name contains this");
  app.add_option("--json", options.json, "Also write the figures to this file");
  app.add_option("--count", options.count, "Calls between two synchronisations")
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    return heddle::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_dispatch: {}\n", error.what());
    return 1;
  }
}

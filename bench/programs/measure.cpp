#include "bench/programs/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>

#include "runtime/device/memory.h"

namespace heddle::bench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<double> elements_of(const Array& result) {
  if (result.dtype() != DType::f32)
    return result.reshape({-1}).astype(DType::f64).to_vector<double>();
  const std::vector<float> elements = result.reshape({-1}).to_vector<float>();
  return {elements.begin(), elements.end()};
}

/// The largest error of sampled elements, spread over the result; infinite if one is NaN.
double worst_error(const Case& program, const Array& result) {
  const std::vector<double> actual = elements_of(result);
  if (program.error_of_all) return program.error_of_all(program.inputs, actual);
  const auto count = static_cast<std::int64_t>(actual.size());
  double worst = 0;
  for (int i = 0; i < program.samples && i < count; ++i) {
    const std::int64_t flat =
        count == 1 ? 0 : (count - 1) * i / (std::min<std::int64_t>(program.samples, count) - 1);
    const double wanted = program.reference(program.inputs, flat);
    const double error = std::abs(actual[static_cast<std::size_t>(flat)] - wanted) /
                         std::max(program.scale, std::abs(wanted));
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  return worst;
}

}  // namespace

double microseconds_a_call(const std::function<void()>& call, double seconds) {
  call();
  call();
  synchronize();
  Clock::time_point start = Clock::now();
  call();
  synchronize();
  const double one = seconds_since(start);
  const int count = static_cast<int>(std::clamp(seconds / std::max(one, 1e-6), 3.0, 4000.0));
  for (int i = 0; i < count; ++i) call();
  synchronize();
  std::vector<double> batches;
  for (int batch = 0; batch < 7; ++batch) {
    start = Clock::now();
    for (int i = 0; i < count; ++i) call();
    synchronize();
    batches.push_back(seconds_since(start) / count);
  }
  std::sort(batches.begin(), batches.end());
  return batches[batches.size() / 2] * 1e6;
}

Ceilings measure_ceilings(bool small) {
  const std::int64_t elements = small ? 1 << 24 : 1 << 28;
  const double bytes = static_cast<double>(elements) * sizeof(float);
  Ceilings ceilings;
  {
    const runtime::Device device = runtime::current_device();
    const runtime::Stream stream = runtime::Stream::current(device);
    const auto size = static_cast<std::size_t>(bytes);
    const runtime::BufferRef from = runtime::allocate(size, stream),
                             to = runtime::allocate(size, stream);
    runtime::fill(from->pointer(), 1, size, stream);
    const double copy = microseconds_a_call(
        [&] { runtime::copy(to->pointer(), device, from->pointer(), device, size, stream); });
    ceilings.copy = 2 * bytes / copy * 1e6;
  }
  const Array x = ones<float>({elements}).eval();
  const auto negate = jit([](const Array& a) { return -a; });
  const auto total = jit([](const Array& a) { return sum(a); });
  ceilings.kernel_copy = 2 * bytes / microseconds_a_call([&] { negate(x); }) * 1e6;
  ceilings.read = bytes / microseconds_a_call([&] { total(x); }) * 1e6;
  return ceilings;
}

Prepared::Prepared(const Case& program) : program_(program) {
  runtime::MemoryPool& pool = runtime::pool_of(runtime::current_device());
  for (const Input& input : program.inputs) inputs_.push_back(input.make());
  synchronize();
  pool.trim(true);
  {
    const Array result = program.call(inputs_);
    found_.error = worst_error(program, result);
  }
  found_.correct = found_.error <= program.tolerance;
  pool.reset_peak();
  const std::uint64_t launched = statistics().kernels_launched;
  program.call(inputs_);
  found_.kernels = static_cast<int>(statistics().kernels_launched - launched);
  synchronize();
  found_.peak_bytes = pool.statistics().peak_in_use;
}

Measurement Prepared::measure(double seconds) const {
  Measurement measured = found_;
  measured.microseconds = microseconds_a_call([&] { program_.call(inputs_); }, seconds);
  return measured;
}

FirstCall time_first_call(const Case& program) {
  std::vector<Array> inputs;
  for (const Input& input : program.inputs) {
    // Made on the host: making them on the device would compile a kernel.
    std::vector<float> elements(static_cast<std::size_t>(input.size()));
    for (std::size_t i = 0; i < elements.size(); ++i)
      elements[i] = static_cast<float>(input[static_cast<std::int64_t>(i)]);
    inputs.push_back(array(elements, input.shape).eval());
  }
  synchronize();
  const Clock::time_point start = Clock::now();
  program.call(inputs);
  synchronize();
  FirstCall first{seconds_since(start) * 1e3};
  std::ifstream maps("/proc/self/maps");
  const std::string text(std::istreambuf_iterator<char>(maps), {});
  first.nvrtc_loaded = text.find("libnvrtc") != std::string::npos;
  return first;
}

}  // namespace heddle::bench

// Memory that work on another stream than its own still reads is nobody else's: on a driver that
// runs enqueued work as late as it may, in whichever order the streams are waited for.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/cuda/devices.h"
#include "runtime/device/memory.h"
#include "tests/runtime/fake_programs.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::test;

namespace {

/// The blocks of one stream, next to each other; others read them, and their owner lets them go.
struct Readers {
  static constexpr std::size_t count = 8 * mib / sizeof(float);
  Stream own = Stream::create(gpu), second = Stream::create(gpu), third = Stream::create(gpu);
};

/// Calls of programs: the runtime itself says which stream reads what.
void check_calls(const Readers& streams, bool wait_backwards, bool warm) {
  const auto runner = load_scale();
  const Stream& own = streams.own;
  std::optional<DeviceArray> a, b, c;
  a.emplace(upload(ramp(Readers::count, 1), own));
  b.emplace(upload(ramp(Readers::count, 2), own));
  c.emplace(upload(ramp(Readers::count, 3), own));
  const std::uintptr_t whole = reinterpret_cast<std::uintptr_t>(b->buffer->pointer());
  for (int i = 0; warm && i < 4; ++i) {  // the later of these are graphs
    call(*runner, {&*b}, 1, streams.second);
    call(*runner, {&*b}, 1, streams.third);
  }
  const DeviceArray first = call(*runner, {&*b}, 2, streams.second);
  const DeviceArray second = call(*runner, {&*b}, 3, streams.third);
  // Freed in the middle of two that nobody else reads, which merge.
  a.reset();
  b.reset();
  c.reset();
  // All sizes that could be cut from what was freed, or be it.
  std::vector<DeviceArray> others;
  for (const std::size_t part : {1, 1, 2, 4, 8}) {
    others.push_back(upload(Values(Readers::count / part, -7), own));
    const auto begin = reinterpret_cast<std::uintptr_t>(others.back().buffer->pointer());
    CHECK((begin + others.back().buffer->bytes() <= whole ||
           begin >= whole + Readers::count * sizeof(float)));
  }
  own.synchronize();
  (wait_backwards ? streams.third : streams.second).synchronize();
  others.push_back(upload(Values(Readers::count, -7), own));
  own.synchronize();
  CHECK(download(first, streams.second) == times(ramp(Readers::count, 2), 2));
  CHECK(download(second, streams.third) == times(ramp(Readers::count, 2), 3));
}

/// When all readers are done the block is used again.
void check_reuse() {
  const Readers streams;
  const auto runner = load_scale();
  std::optional<DeviceArray> a(upload(ramp(Readers::count, 1), streams.own));
  void* const where = a->buffer->pointer();
  const DeviceArray result = call(*runner, {&*a}, 2, streams.second);
  a.reset();
  CHECK(upload(ramp(Readers::count, 5), streams.own).buffer->pointer() != where);
  streams.second.synchronize();
  runtime::pool_of(gpu).trim(false);
  runtime::pool_of(gpu).verify();
  CHECK(download(result, streams.second) == times(ramp(Readers::count, 1), 2));
}

/// A call that writes in place waits for those that still read.
void check_in_place(bool on_own) {
  const Readers streams;
  const auto runner = load_scale();
  passes::Program program =
      program_of(1, true, {kernel(scale, {input(0), output(0), scalar(1), size()})});
  program.inputs[0].donated = true;
  program.outputs[0].input = 0;
  const auto in_place = load(std::move(program));
  const DeviceArray a = upload(ramp(Readers::count, 1), streams.own);
  void* const where = a.buffer->pointer();
  const DeviceArray read = call(*runner, {&a}, 2, streams.second);
  const Stream& writer = on_own ? streams.own : streams.third;
  const DeviceArray written = call(*in_place, {&a}, 5, writer);
  CHECK(written.buffer->pointer() == where);
  CHECK(download(written, writer) == times(ramp(Readers::count, 1), 5));
  CHECK(download(read, streams.second) == times(ramp(Readers::count, 1), 2));
}

/// Temporaries and outputs of a call die on the call's own stream, whoever lets them go.
void check_results_read_elsewhere() {
  const Readers streams;
  const auto runner = load_several();
  const Values left = ramp(Readers::count, 1), right = ramp(Readers::count, 2);
  std::vector<DeviceArray> results;
  {
    const DeviceArray a = upload(left, streams.own), b = upload(right, streams.second);
    const DeviceArray between = call(*runner, {&a, &b}, 0.5f, streams.second);
    results.push_back(call(*runner, {&between, &a}, 2, streams.third));
  }
  for (const Stream& stream : {streams.own, streams.second, streams.third}) {
    for (int i = 0; i < 3; ++i) results.push_back(upload(Values(Readers::count, -7), stream));
  }
  streams.own.synchronize();
  CHECK(download(results[0], streams.third) == several(several(left, right, 0.5f), left, 2));
}

/// Memory that a busy stream has free is no other stream's without waiting for it.
void check_out_of_memory_waits() {
  const Readers streams;
  const auto runner = load_scale();
  runtime::synchronize(gpu);
  runtime::pool_of(gpu).trim(true);
  std::optional<DeviceArray> a(upload(ramp(25 * mib, 1), streams.own));  // 100 of 256 MiB
  const DeviceArray result = call(*runner, {&*a}, 2, streams.second);
  a.reset();
  // Another 120 MiB: only where a was.
  const DeviceArray other = upload(Values(30 * mib, -7), streams.third);
  CHECK(download(result, streams.second) == times(ramp(25 * mib, 1), 2));
  CHECK(download(other, streams.third) == Values(30 * mib, -7));
}

/// Where memory is short, free parts of what another stream has reserved serve too, in order.
void check_borrowed() {
  const Readers streams;
  const auto runner = load_scale();
  runtime::synchronize(gpu);
  runtime::pool_of(gpu).trim(true);
  std::optional<DeviceArray> low(upload(ramp(40 * mib, 1), streams.own));  // 160 of 256 MiB
  low.reset();
  const DeviceArray kept = upload(ramp(10 * mib, 1), streams.own);
  std::optional<DeviceArray> scaled(call(*runner, {&kept}, 3, streams.own));
  scaled.reset();  // its kernel has not run yet, and writes there
  // 110 MiB: more than the device has left, so from the first.
  std::optional<DeviceArray> other(upload(Values(110 * mib / 4, -7), streams.second));
  const DeviceArray doubled = call(*runner, {&kept}, 2, streams.third);
  CHECK(download(*other, streams.second) == Values(110 * mib / 4, -7));
  // Freed while its borrower still has to write it.
  runtime::fill(other->buffer->pointer(), 0xee, other->buffer->bytes(), streams.second);
  other.reset();
  const DeviceArray next = upload(ramp(20 * mib, 5), streams.own);
  streams.own.synchronize();
  streams.second.synchronize();
  CHECK(download(next, streams.own) == ramp(20 * mib, 5));
  CHECK(download(doubled, streams.third) == times(ramp(10 * mib, 1), 2));
}

}  // namespace

TEST_CASE("memory that another stream reads is not used again early") {
  for (const char* graphs : {"HEDDLE_GRAPHS=1", "HEDDLE_GRAPHS=0"}) {
    const auto result = test::run_child("child: readers on other streams",
                                        {"-uHEDDLE_DEVICE", graphs, "HEDDLE_POISON=0",
                                         std::string("HEDDLE_CUDA_DRIVER=") + HEDDLE_FAKE_DRIVER});
    CHECK_MESSAGE(result.status == 0, result.output);
  }
}

TEST_CASE("child: readers on other streams" * doctest::skip()) {
  REQUIRE(runtime::cuda::available());
  for (const bool backwards : {false, true}) {
    for (const bool warm : {false, true}) check_calls(Readers(), backwards, warm);
  }
  check_reuse();
  for (const bool on_own : {false, true}) check_in_place(on_own);
  check_results_read_elsewhere();
  check_out_of_memory_waits();
  check_borrowed();
  runtime::pool_of(gpu).verify();
}

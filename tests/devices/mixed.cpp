// Arrays of several devices in one op or one call: refused before anything is launched. On a driver
// with two GPUs that is a program of its own, and on two real GPUs where there are any.

#include <tuple>

#include "runtime/base/temporary_folder.h"
#include "runtime/cuda/devices.h"
#include "runtime/device/memory.h"
#include "runtime/device/stream.h"
#include "tests/devices/fake_gpus.h"

using namespace heddle;
using namespace heddle::test;

namespace {

Array ramp(int ordinal, std::int64_t count = 3) {
  return on(cuda(ordinal), [&] { return arange(static_cast<float>(count)); });
}

/// The op, both devices and the line are named, and nothing was launched.
template <class Call>
void check_refused(const std::string& what, int line, const Call& call) {
  CAPTURE(what);
  const std::uint64_t launched = statistics().kernels_launched;
  const std::string text = refusal<DeviceError>(call);
  check_parts(text, {what, "float32[", "cuda:0", "cuda:1", "mixed.cpp:" + std::to_string(line)});
  CHECK(statistics().kernels_launched == launched);
}

void check_ops() {
  const Array x = ramp(0), y = ramp(1);
  const Array number = on(cuda(1), [] { return array({2.0f}).reshape({}); });
  const Array places = on(cuda(1), [] { return array({0, 2}); });
  const Array mask = on(cuda(1), [] { return array({true, false, true}); });
  check_refused("add", __LINE__, [&] { static_cast<void>(x + y); });
  check_refused("multiply", __LINE__, [&] { static_cast<void>(x * number); });
  check_refused("select", __LINE__, [&] { static_cast<void>(where(mask, x, x)); });
  check_refused("concatenate", __LINE__, [&] { static_cast<void>(concatenate({x, y})); });
  check_refused("gather", __LINE__, [&] { static_cast<void>(take(x, places)); });
  check_refused("gather", __LINE__, [&] { static_cast<void>(x(places)); });
  const Array row = x.reshape({1, 3}), column = y.reshape({3, 1});
  check_refused("matmul", __LINE__, [&] { static_cast<void>(matmul(row, column)); });
  check_refused("add", __LINE__, [&] { Array(x) += y; });
  // Pending values too, and those that are only on a device by what they are made of.
  check_refused("subtract", __LINE__, [&] { static_cast<void>(sin(x) - (y + 1.0f)); });
}

void check_writes() {
  Array x = ramp(0);
  const Array y = ramp(1);
  check_refused("at", __LINE__, [&] { x.at(slice(0, 2)) = y(slice(0, 2)); });
  check_refused("at", __LINE__, [&] { x.at(slice(0, 3)) = y; });
  check_refused("select", __LINE__, [&] { x.at(x < 2.0f) = y(0); });
  x.at(slice(0, 2)) = 1.0f;
  CHECK(x.eval().size() == 3);
}

void check_jit() {
  const Array x = ramp(0), y = ramp(1);
  constexpr int sum = __LINE__ + 1;
  const auto add = jit([](const Array& a, const Array& b) { return a + b; });
  add(x, x);
  check_refused("input 1, float32[3], on cuda:1", sum, [&] { add(x, y); });
  check_refused("input 1, float32[3], on cuda:0", sum, [&] { add(y, x); });
  // As often as it is asked, of a function that was compiled for such arrays as well.
  check_refused("input 1, float32[3], on cuda:1", sum, [&] { add(x, y); });
  Array held = y;
  constexpr int product = __LINE__ + 1;
  const auto reads = jit([&](const Array& a) { return a * held; });
  check_refused("input 1, float32[3], on cuda:1", product, [&] { reads(x); });
  reads(y);
  held = x;
  reads(x);
  check_refused("input 1, float32[3], on cuda:0", product, [&] { reads(y); });
  // What is not read may be anywhere.
  const auto one = jit([](const Array& a) { return a + 1.0f; });
  one(x);
  one(y);
  Array mine = ramp(0);
  check_refused("input 1", sum, [&] { add(std::move(mine), y); });
  CHECK(mine.has_value());
}

void check_saved_programs() {
  const runtime::TemporaryFolder folder;
  const std::string path = folder.path() + "/add.hdp";
  const auto add = jit([](const Array& a, const Array& b) { return a + b; });
  add.save(path, {spec<float>({"n"}), spec<float>({"n"})});
  const Program program = load_program(path);
  const Array x = ramp(0), y = ramp(1);
  program({x, x});
  program({y, y});
  const std::uint64_t launched = statistics().kernels_launched;
  check_parts(refusal<DeviceError>([&] { program({x, y}); }),
              {"input 0, float32[3], on cuda:0", "input 1, float32[3], on cuda:1"});
  CHECK(statistics().kernels_launched == launched);
}

void check_captured_graphs() {
  const Array x = ramp(0), y = ramp(1);
  const auto add = jit([](const Array& a, const Array& b) { return a + b; });
  add(x, x);
  const runtime::cuda::ContextScope context(0);
  const runtime::Stream stream = runtime::Stream::create(cuda(0));
  const runtime::StreamScope scope(stream);
  runtime::cuda::driver().stream_begin_capture(stream.handle(), runtime::cuda::CaptureMode::global);
  CHECK_THROWS_AS(add(x, y), DeviceError);
  CHECK(stream.capturing());
  runtime::cuda::GraphHandle graph = nullptr;
  runtime::cuda::driver().stream_end_capture(stream.handle(), &graph);
  runtime::cuda::driver().graph_destroy(graph);
}

/// Work of several devices may be pending, and be asked for, at once.
void check_side_by_side() {
  const Array x = ramp(0), y = ramp(1);
  const Array a = x + 1.0f, b = y + 1.0f, c = arange(3.0f) * 2.0f;
  eval({a, b, c});
  const auto device_of = [](const Array& array) {
    Array view = array;
    return refusal<DeviceError>([&] { static_cast<void>(view + ramp(0)); }) == "no error" ? 0 : 1;
  };
  CHECK(device_of(a) == 0);
  CHECK(device_of(b) == 1);
  CHECK(device_of(c) == 0);
  // A number, and what is made of numbers, is on none before it is computed.
  const Array d = y + arange(3.0f) + zeros<float>({3});
  CHECK(device_of(d) == 1);
  // Computed for the other device, and only then used by what was recorded before.
  const Array waves = sin(arange(3.0f)), turned = negative(waves);
  const Array e = y + waves;
  e.eval();
  const Array f = x * 2.0f;
  eval({turned, f});
  CHECK(device_of(turned) == 1);
  CHECK(device_of(f) == 0);
  std::vector<Array> kept;
  for (int i = 0; i < 200; ++i) {
    kept.push_back((i % 2 == 0 ? x : y) + static_cast<float>(i));
    kept.push_back(arange(3.0f) * static_cast<float>(i));
  }
  for (std::size_t i = 0; i < kept.size(); i += 2)
    CHECK(device_of(kept[i]) == (i % 4 == 0 ? 0 : 1));
  if (is_fake()) return;
  CHECK(b.to_vector<float>() == std::vector<float>{1, 2, 3});
  CHECK(d.to_vector<float>() == std::vector<float>{0, 2, 4});
}

/// Everything goes on as before.
void check_afterwards() {
  const Array x = ramp(0), y = ramp(1);
  (x + x).eval();
  (y + y).eval();
  for (const int ordinal : {0, 1}) {
    runtime::synchronize(cuda(ordinal));
    runtime::pool_of(cuda(ordinal)).verify();
  }
}

void check_everything() {
  check_ops();
  check_writes();
  check_jit();
  check_saved_programs();
  check_captured_graphs();
  check_side_by_side();
  check_afterwards();
}

}  // namespace

TEST_CASE("arrays of two devices are refused before anything is launched") {
  const auto result = run_on_fake_gpus("child: two devices");
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("the same on two GPUs") {
  if (runtime::device_count(runtime::DeviceKind::cuda) < 2) {
    MESSAGE("there are no two GPUs here");
    return;
  }
  const auto result = run_child("child: two devices", {"-uHEDDLE_DEVICE"});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: two devices" * doctest::skip()) {
  REQUIRE(runtime::device_count(runtime::DeviceKind::cuda) >= 2);
  check_everything();
}

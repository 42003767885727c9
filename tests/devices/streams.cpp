// The public streams, events and devices, on two fake GPUs and on the CPU.

#include <atomic>
#include <thread>

#include "tests/devices/fake_gpus.h"

using namespace heddle;
using namespace heddle::test;

namespace {

/// Everything that is recorded before a scope runs outside of it, and what is recorded inside runs
/// on its stream.
void check_scopes() {
  const Stream stream({.waits_for_default = true, .priority = -1});
  CHECK_FALSE(stream == Stream::own());
  const std::uint64_t before = statistics().evaluations;
  const Array outside = arange(8.0f) + 1.0f;
  Array inside;
  {
    const StreamScope scope(stream);
    CHECK(statistics().evaluations == before + 1);
    CHECK(Stream::current() == stream);
    inside = outside * 2.0f;
    CHECK(statistics().evaluations == before + 1);
  }
  CHECK(statistics().evaluations == before + 2);
  CHECK(Stream::current() == Stream::own());
  stream.synchronize();
  CHECK(stream.done());
  stream.use();
  std::thread([&] { CHECK(Stream::current() == Stream::own()); }).join();
  Stream::own().use();
}

void check_events() {
  Event start, end;
  CHECK(start.done());
  CHECK_THROWS_AS(static_cast<void>(end.milliseconds_since(start)), DeviceError);
  start.record();
  const Array x = ones({1000}) * 3.0f;
  const std::uint64_t before = statistics().evaluations;
  end.record();
  CHECK_MESSAGE(statistics().evaluations == before + 1, "recorded work comes before the event");
  end.synchronize();
  CHECK(end.milliseconds_since(start) >= 0);
  const Stream other;
  other.wait(end);
  CHECK_THROWS_AS(Event({.timed = true, .interprocess = true}), ValueError);
  std::atomic<int> called{0};
  other.launch_host_function([&] { ++called; });
  other.synchronize();
  CHECK(called == 1);
}

void check_traces() {
  const Stream stream;
  const auto scoped = jit([&](const Array& x) {
    const StreamScope scope(stream);
    return x + 1.0f;
  });
  if (stream == Stream::own()) return;  // the CPU has one stream: nothing changes
  check_parts(refusal<TraceError>([&] { scoped(ones({3})); }), {"traced", "stream"});
}

void check_everywhere() {
  check_scopes();
  check_events();
  check_traces();
}

void check_graphs() {
  const Stream stream;
  const Array x = ones({8}).eval();
  const StreamScope scope(stream);
  stream.begin_capture();
  const Array y = x + 1.0f;
  const CapturedGraph graph = stream.end_capture();
  const std::uint64_t before = control().calls("cuGraphLaunch");
  graph.launch();
  graph.launch(Stream::own());
  CHECK(control().calls("cuGraphLaunch") == before + 2);
  stream.synchronize();
}

void check_devices() {
  CHECK(device_count() == 2);
  CHECK(devices() == std::vector<std::string>{"cuda:0", "cuda:1", "cpu"});
  CHECK(device() == "cuda:0");
  const DeviceProperties second = device_properties("cuda:1");
  CHECK(second.compute_capability == "90");
  CHECK(device_at(second.pci_bus_id) == "cuda:1");
  CHECK_THROWS_AS(device_at("0000:99:00.0"), DeviceError);
  CHECK(second.attributes.at("MultiProcessorCount") == 132);
  CHECK_FALSE(can_access_peer("cuda:0", "cuda:1"));
  CHECK(can_access_peer("cuda:1", "cuda:1"));
  CHECK_FALSE(can_access_peer("cuda:0", "cpu"));
  CHECK(driver_version() == 13000);
  CHECK_THROWS_AS(device_properties("cuda:2"), DeviceError);
  const Array first = arange(4.0f) + 1.0f;
  Array other;
  {
    const DeviceScope scope("cuda:1");
    other = arange(4.0f) * 2.0f;
    CHECK(Stream::current().device() == "cuda:1");
  }
  CHECK(runtime::current_device() == cuda(0));
  check_parts(refusal<DeviceError>([&] { static_cast<void>(first + other); }),
              {"cuda:0", "cuda:1"});
  synchronize("cuda:1");
  Event elsewhere({}, "cuda:1");
  check_parts(refusal<DeviceError>([&] { elsewhere.record(Stream()); }), {"cuda:0", "cuda:1"});
}

void check_failures() {
  constexpr int failure = 999;
  for (const char* function : {"cuStreamCreateWithPriority", "cuEventCreate", "cuEventRecord",
                               "cuLaunchHostFunc", "cuStreamWaitEvent", "cuStreamSynchronize"}) {
    CAPTURE(function);
    const auto use = [&] {
      const Stream stream({.priority = -7 - static_cast<int>(std::string(function).size())});
      Event event;
      event.record(stream);
      stream.wait(event);
      stream.launch_host_function([] {});
      stream.synchronize();
    };
    control().fail(function, failure, 0);
    check_parts(refusal<DeviceError>(use), {function});
    control().fail("", 0, -1);
    CHECK(refusal<DeviceError>(use) == "no error");
  }
}

}  // namespace

TEST_CASE("streams, events and devices on two GPUs") {
  const auto result = run_on_fake_gpus("child: public streams");
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: public streams" * doctest::skip()) {
  REQUIRE(is_fake());
  REQUIRE(device_count() == 2);
  control();
  check_everywhere();
  check_graphs();
  check_devices();
  check_failures();
}

TEST_CASE("streams, events and devices without a GPU") {
  const auto result = run_child("child: streams on the CPU", {"HEDDLE_DEVICE=cpu"});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: streams on the CPU" * doctest::skip()) {
  CHECK(Stream() == Stream::own());
  CHECK(Stream::own().handle() == nullptr);
  CHECK(Stream::external(nullptr) == Stream::own());
  CHECK_THROWS_AS(Stream::own().begin_capture(), DeviceError);
  CHECK(device_properties().attributes.empty());
  CHECK(device_memory().total >= device_memory().free);
  check_events();
  check_traces();
  const PinnedMemory memory(100);
  CHECK(memory.data() != nullptr);
}

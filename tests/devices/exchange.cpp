// DLPack and pointers of other code, on two fake GPUs.
#include <memory>

#include "heddle/dlpack.h"

#include "tests/devices/fake_gpus.h"

using namespace heddle;
using namespace heddle::test;

namespace {

std::uint64_t calls(const char* name) { return control().calls(name); }

/// The consumer's stream waits on the device for the elements, and the memory is used again only
/// after the consumer's work.
void check_exports() {
  const Array x = ones({256}, DType::f32) * 2.0f;
  x.eval();
  const Stream consumer({}, "cuda:0");
  const std::uint64_t waits = calls("cuStreamWaitEvent"), host = calls("cuStreamSynchronize");
  dlpack::OwnedTensor tensor = to_dlpack(x, {.consumer = consumer});
  CHECK(calls("cuStreamWaitEvent") > waits);
  CHECK(calls("cuStreamSynchronize") == host);
  CHECK(tensor->tensor.device.type == dlpack::cuda);
  CHECK(tensor->tensor.device.ordinal == 0);
  to_dlpack(x);
  CHECK_MESSAGE(calls("cuStreamSynchronize") > host, "without a stream the host waits");
  const Array back = from_dlpack(tensor.release());
  CHECK(ready_memory(back).device == "cuda:0");
  const ReadyMemory memory = ready_memory(x);
  CHECK(memory.device == "cuda:0");
  CHECK(memory.ready.handle() != nullptr);
  dlpack::OwnedTensor again = to_dlpack(x);
  CHECK(memory.data == again->tensor.data);
}

/// What reads a pointer waits for its event, on the device of the pointer.
void check_imports() {
  Array source;
  {
    const DeviceScope scope("cuda:1");
    source = (ones({24}, DType::f32) + 1.0f).eval();
  }
  const ReadyMemory memory = ready_memory(source);
  const std::uint64_t waits = calls("cuStreamWaitEvent");
  BorrowedMemory borrowed{.data = memory.data,
                          .dtype = DType::f32,
                          .shape = {4, 6},
                          .device = memory.device,
                          .ready = memory.ready,
                          .owner = memory.owner};
  const Array x = borrow(borrowed);
  CHECK(ready_memory(x).device == "cuda:1");
  CHECK(calls("cuStreamWaitEvent") > waits);
  // Elements with gaps are read on their device, when somebody needs them in a row.
  borrowed.shape = {4, 3};
  borrowed.strides = {6, 2};
  const std::uint64_t launches = calls("cuLaunchKernel"), downloads = calls("cuMemcpyDtoHAsync_v2");
  const Array gaps = borrow(borrowed);
  CHECK(calls("cuLaunchKernel") == launches);
  CHECK(ready_memory(gaps).device == "cuda:1");
  CHECK(gaps.shape() == Shape{4, 3});
  CHECK(calls("cuLaunchKernel") == launches + 1);
  CHECK(calls("cuMemcpyDtoHAsync_v2") == downloads);
  borrowed.data = static_cast<const std::byte*>(memory.data) + 1;
  CHECK_THROWS_AS(borrow(borrowed), DeviceError);
}

}  // namespace

TEST_CASE("child: exchange" * doctest::skip()) {
  REQUIRE(is_fake());
  REQUIRE(device_count() == 2);  // loads the driver
  check_exports();
  check_imports();
}

TEST_CASE("memory of GPUs is exchanged in the order of streams") {
  const auto result = run_on_fake_gpus("child: exchange");
  CHECK_MESSAGE(result.status == 0, result.output);
}

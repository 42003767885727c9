#include "runtime/device/device.h"

#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "runtime/cuda/devices.h"
#include "runtime/device/stream.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using runtime::Device;
using runtime::DeviceKind;

TEST_CASE("devices have names that read back") {
  for (const Device device :
       {Device{}, Device{DeviceKind::cuda, 0}, Device{DeviceKind::cuda, 12}}) {
    CHECK(runtime::parse_device(runtime::to_string(device)) == device);
  }
  CHECK(runtime::parse_device("cuda") == Device{DeviceKind::cuda, 0});
  for (const char* wrong : {"", "gpu", "cuda:", "cuda:-1", "cuda:1x", "cpu:0", "CPU"}) {
    CHECK_THROWS_AS(runtime::parse_device(wrong), ValueError);
  }
}

TEST_CASE("the host's target is explicit and reads back") {
  const ir::Target& target = runtime::target_of(Device{});
  CHECK(target.kind == ir::TargetKind::host);
  CHECK_FALSE(target.architecture.empty());
  CHECK(target.architecture != "native");
  CHECK(target.vector_bytes >= 16);
  CHECK(target.l2_bytes > 0);
  CHECK(ir::parse_target(ir::to_string(target)) == target);
  CHECK(runtime::facts_of(Device{}).multiprocessors >= 1);
  CHECK(runtime::facts_of(Device{}).total_bytes > 0);
}

TEST_CASE("HEDDLE_DEVICE chooses, and a device that is not there says why") {
  CHECK(test::run_child("child: the CPU is current", {"HEDDLE_DEVICE=cpu"}).status == 0);
  const auto result =
      test::run_child("child: no such GPU", {"HEDDLE_DEVICE=cuda:77", "CUDA_VISIBLE_DEVICES="});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: the CPU is current" * doctest::skip()) {
  CHECK(runtime::current_device() == Device{});
  std::thread([] { CHECK(runtime::current_device() == Device{}); }).join();
}

TEST_CASE("child: no such GPU" * doctest::skip()) {
  try {
    runtime::current_device();
    FAIL("there is such a GPU");
  } catch (const DeviceError& failure) {
    CHECK(std::string(failure.what()).find("cuda:77") != std::string::npos);
  }
  runtime::set_current_device(Device{});
  CHECK(runtime::current_device() == Device{});
}

TEST_CASE("without a driver everything about GPUs is an error that lists what was tried") {
  const auto result = test::run_child(
      "child: no driver", {"HEDDLE_CUDA_DRIVER=/nowhere/libcuda.so.1", "LD_LIBRARY_PATH=/nowhere",
                           "CUDA_VISIBLE_DEVICES=", "HEDDLE_DEVICE="});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: no driver" * doctest::skip()) {
  CHECK_FALSE(runtime::cuda::available());
  CHECK_FALSE(runtime::cuda::unavailable_reason().empty());
  CHECK(runtime::device_count(DeviceKind::cuda) == 0);
  CHECK(runtime::current_device() == Device{});
  CHECK_THROWS_AS(runtime::cuda::driver(), DeviceError);
  CHECK_THROWS_AS(runtime::set_current_device({DeviceKind::cuda, 0}), DeviceError);
  CHECK_THROWS_AS(runtime::Stream::create({DeviceKind::cuda, 0}), DeviceError);
  CHECK_THROWS_AS(runtime::target_of({DeviceKind::cuda, 0}), DeviceError);
}

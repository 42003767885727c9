#include "runtime/device/backend.h"

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "passes/calls/gemm.h"
#include "runtime/compile/kernel_compiler.h"

using namespace heddle;
using runtime::Backend;
using runtime::Device;
using runtime::DeviceKind;

TEST_CASE("a backend is found by its devices and by the targets that it serves") {
  CHECK(&runtime::backend_of(Device{}) == &runtime::host_backend());
  CHECK(&runtime::backend_of(DeviceKind::cuda) == &runtime::cuda_backend());
  CHECK(&runtime::backend_of(ir::parse_target("sm_90")) == &runtime::cuda_backend());
  CHECK(&runtime::backend_of(ir::parse_target("x86-64-v3")) == &runtime::host_backend());
  for (const DeviceKind kind : runtime::preferred_kinds) {
    const Backend& backend = runtime::backend_of(kind);
    CHECK(backend.serves(ir::parse_target(backend.usual_target())));
    CHECK(backend.name() == runtime::to_string({kind, 0}).substr(0, backend.name().size()));
    CHECK(backend.unavailable_reason().empty() == (backend.device_count() > 0));
  }
}

TEST_CASE("capabilities say what a device can do") {
  const runtime::Capabilities& host = runtime::capabilities_of(Device{});
  CHECK(host.host_memory);
  CHECK_FALSE(host.asynchronous);
  CHECK_FALSE(host.timed_events);
  const runtime::Capabilities& gpu = runtime::capabilities_of({DeviceKind::cuda, 0});
  CHECK(gpu.asynchronous);
  CHECK(gpu.timed_events);
  CHECK_FALSE(gpu.host_memory);
}

TEST_CASE("every backend multiplies and sorts, and prints a language of its own") {
  for (const DeviceKind kind : runtime::preferred_kinds) {
    const Backend& backend = runtime::backend_of(kind);
    CHECK(backend.call_handler(passes::gemm_handler) != nullptr);
    CHECK(backend.call_handler("no such call") == nullptr);
  }
  CHECK(runtime::host_backend().compiler().language().name == "host");
  CHECK(runtime::cuda_backend().compiler().language().extension == ".cu");
}

TEST_CASE("kernels are shown for a usual target where there is no such device") {
  CHECK(runtime::cuda_backend().serves(runtime::shown_target("cuda")));
  CHECK_THROWS_AS(runtime::shown_target("abacus"), ValueError);
}

TEST_CASE("all devices are listed, the CPU last") {
  const std::vector<Device> devices = runtime::all_devices();
  CHECK(static_cast<int>(devices.size()) == runtime::device_count());
  CHECK(devices.back() == Device{});
}

// RawKernel and RawModule from C++: on a driver that is a program of its own and runs work as late
// as it may. Of a module that begins as its own, it has kernels that compute something.

#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "frontend/array/access.h"
#include "runtime/base/fault.h"
#include "runtime/base/statistics.h"
#include "runtime/base/temporary_folder.h"
#include "runtime/device/memory.h"
#include "runtime/device/stream.h"
#include "tests/devices/fake_gpus.h"

using namespace heddle;
using namespace heddle::test;

namespace {

using Floats = std::vector<float>;
constexpr std::int64_t count = 4;

RawModule fake_kernels(const runtime::TemporaryFolder& folder, bool cooperative = false) {
  const std::string path = folder.path() + "/kernels.cubin";
  std::ofstream(path) << fake_module;
  return RawModule::load(path, cooperative);
}

Array ramp() { return array<float>({1, 2, 3, 4}); }

void check_writes(const RawModule& module) {
  const RawKernel scale = module.get_function("fake_scale");
  Array x = ramp(), out = array<float>({0, 0, 0, 0});
  const Array before = x;  // another variable with the same value
  scale({1}, {4}, {x, x, 3.0f, count});
  CHECK(x.to_vector<float>() == Floats{3, 6, 9, 12});
  CHECK(before.to_vector<float>() == Floats{1, 2, 3, 4});

  // What only reads shares memory with the others.
  const Array copy = x;
  const std::uint64_t used = memory_statistics().blocks;
  scale({1}, {4}, {copy, out, 2.0f, count});
  CHECK(memory_statistics().blocks == used);
  scale({1}, {4}, {out, out, 2.0f, count});
  CHECK(memory_statistics().blocks == used);
  CHECK(out.to_vector<float>() == Floats{12, 24, 36, 48});

  // Memory of empty() is not filled first.
  Array made = empty<float>({count});
  const std::uint64_t programs = runtime::statistics().program_launches;
  scale({1}, {4}, {x, made, 2.0f, count});
  CHECK(runtime::statistics().program_launches == programs);
  CHECK(made.to_vector<float>() == Floats{6, 12, 18, 24});
}

void check_values(const RawModule& module) {
  Array out = full<std::uint64_t>({16}, 9);
  struct Pair {
    std::int32_t a;
    float b;
  };
  const std::array<double, 2> z = {1, -2};
  module.get_function("fake_bytes")(
      {1}, {1}, {out, std::int64_t{1} << 40, 1.5, true, z, half(1.0f), nullptr, Pair{5, 1.0f}});
  const auto values = out.to_vector<std::uint64_t>();
  CHECK(values[2] == std::uint64_t{1} << 40);
  CHECK(values[4] == 0x3ff8000000000000);
  CHECK(values[6] == 1);
  CHECK(values[8] == 0x3ff0000000000000);
  CHECK(values[9] == 0xc000000000000000);
  CHECK(values[10] == 0x3c00);
  CHECK(values[12] == 0);
  CHECK(values[14] == 0x3f80000000000005);
}

void check_shapes(const runtime::TemporaryFolder& folder) {
  using Shape8 = std::vector<std::uint32_t>;
  Array out = zeros<std::uint32_t>({8});
  const auto launch = [&](bool cooperative, LaunchOptions options = {}) {
    fake_kernels(folder, cooperative).get_function("fake_shape")({3, 4, 5}, {6, 7}, {out}, options);
    return out.to_vector<std::uint32_t>();
  };
  CHECK(launch(false, {.shared_mem = 100}) == Shape8{3, 4, 5, 6, 7, 1, 100, 0});
  CHECK(launch(true) == Shape8{3, 4, 5, 6, 7, 1, 0, 1});
}

void check_attributes(const RawModule& module) {
  const RawKernel kernel = module.get_function("fake_shape");
  CHECK(kernel.attributes().max_threads_per_block == 1024);
  CHECK(kernel.attributes().num_regs == 32);
  Array out = zeros<std::uint32_t>({8});
  const LaunchOptions large{.shared_mem = 60000};
  check_parts(refusal<ValueError>([&] { kernel({1}, {1}, {out}, large); }),
              {"fake_shape", "60000", "max_dynamic_shared_size_bytes is 49152"});
  kernel.set_max_dynamic_shared_size_bytes(60000);
  kernel.set_preferred_shared_memory_carveout(50);
  CHECK(kernel.attributes().max_dynamic_shared_size_bytes == 60000);
  CHECK(kernel.attributes().preferred_shared_memory_carveout == 50);
  kernel({1}, {1}, {out}, large);
  CHECK(out.to_vector<std::uint32_t>()[6] == 60000);
}

void check_globals(const RawModule& module) {
  const RawGlobal table = module.get_global("fake_table");
  CHECK(table.bytes == 64);
  CHECK(table.device == "cuda:0");
  Array x = ramp(), out = zeros<float>({4});
  const RawKernel scale = module.get_function("fake_scale");
  scale({1}, {4}, {x, table.pointer, 2.0f, count});
  scale({1}, {4}, {table.pointer, out, 5.0f, count});
  CHECK(out.to_vector<float>() == Floats{10, 20, 30, 40});
  check_parts(refusal<DeviceError>([&] { module.get_global("nothing"); }), {"nothing"});
}

void check_streams(const RawModule& module) {
  const RawKernel scale = module.get_function("fake_scale");
  const auto own = runtime::Stream::create(cuda(0));
  const LaunchOptions on_own{.stream = own.handle()};
  Array x = ramp(), out = zeros<float>({4});
  // Each launch reads what the one before on another stream has written.
  scale({1}, {4}, {x, x, 2.0f, count}, on_own);
  scale({1}, {4}, {x, out, 2.0f, count});
  scale({1}, {4}, {out, out, 2.0f, count}, on_own);
  CHECK(out.to_vector<float>() == Floats{8, 16, 24, 32});
  scale({1}, {4}, {x, out, 2.0f, count}, on_own);
  std::thread([&] { CHECK(out.to_vector<float>() == Floats{4, 8, 12, 16}); }).join();
  // The memory of an array that dies after the launch is not reused before the kernel has run.
  Array y = ramp();
  scale({1}, {4}, {y, out, 3.0f, count}, on_own);
  y = Array();
  const Array later = full<float>({4}, -1);
  later.eval();
  CHECK(out.to_vector<float>() == Floats{3, 6, 9, 12});
}

/// A kernel that writes an array waits for work on other streams that still reads it.
void check_readers(const RawModule& module) {
  const auto other = runtime::Stream::create(cuda(0));
  Array x = ramp();
  x.eval();
  constexpr std::size_t bytes = count * sizeof(float);
  const runtime::BufferRef kept = runtime::allocate(bytes, other);
  {
    const runtime::DeviceArray& value = frontend::Access::raw(x)->value;
    value.buffer->used_on(other);
    runtime::copy(kept->pointer(), cuda(0), value.buffer->pointer(), cuda(0), bytes, other);
  }
  module.get_function("fake_scale")({1}, {4}, {x, x, 3.0f, count});
  CHECK(x.to_vector<float>() == Floats{3, 6, 9, 12});
  Floats got(count);
  runtime::copy(got.data(), runtime::Device{}, kept->pointer(), cuda(0), bytes, other);
  other.synchronize();
  CHECK(got == Floats{1, 2, 3, 4});
}

/// A graph keeps the memory and the module of the launches in it.
void check_captures(const RawModule& module, const runtime::TemporaryFolder& folder) {
  const Stream stream;
  const StreamScope scope(stream);
  std::optional<RawModule> own(fake_kernels(folder));
  Array x = ramp(), out = array<float>({0, 0, 0, 0});
  const Array before = x;
  own->compile();
  const std::uint64_t unloaded = control().calls("cuModuleUnload");
  stream.begin_capture();
  own->get_function("fake_scale")({1}, {4}, {x, out, 2.0f, count});  // of a copy, which is captured
  std::optional<CapturedGraph> graph(stream.end_capture());
  own.reset();
  x = Array();
  std::vector<Array> others;
  for (int i = 0; i < 8; ++i) others.push_back(array<float>({-1, -1, -1, -1}));
  CHECK(control().calls("cuModuleUnload") == unloaded);
  CHECK(out.to_vector<float>() == Floats{0, 0, 0, 0});
  graph->launch(stream);
  CHECK(out.to_vector<float>() == Floats{2, 4, 6, 8});
  graph.reset();
  module.get_function("fake_scale")({1}, {4}, {out, out, 2.0f, count});
  CHECK(control().calls("cuModuleUnload") == unloaded + 1);
  CHECK(out.to_vector<float>() == Floats{4, 8, 12, 16});

  // A launch on another stream that is captured.
  const Stream side;
  side.begin_capture();
  module.get_function("fake_scale")({1}, {4}, {out, out, 3.0f, count}, {.stream = side.handle()});
  side.end_capture().launch(stream);
  CHECK(out.to_vector<float>() == Floats{12, 24, 36, 48});
}

void check_parameters(const RawModule& module) {
  const RawKernel scale = module.get_function("fake_scale");
  Array x = ramp(), out = full<std::uint64_t>({16}, 9);
  check_parts(refusal<ValueError>([&] { scale({1}, {4}, {x, x, 3.0f}); }),
              {"fake_scale", "4 parameters", "3 arguments"});
  check_parts(refusal<ValueError>([&] { scale({1}, {4}, {x, x, 3.0, count}); }),
              {"argument 3 has 8 bytes", "parameter has 4"});
  check_parts(refusal<ValueError>([&] { scale({1}, {4}, {x, x, 3.0f, std::int32_t{4}}); }),
              {"argument 4 has 4 bytes", "parameter has 8"});
  const auto sixth = [&](std::int64_t value) {
    module.get_function("fake_bytes")(
        {1}, {1}, {out, 0L, 0L, true, std::array<double, 2>{}, value, nullptr, nullptr});
    return out.to_vector<std::uint64_t>()[10];
  };
  CHECK(sixth(7) == 7);
  CHECK(sixth(-2) == 0xfffe);
  CHECK(sixth(65535) == 65535);
  check_parts(refusal<ValueError>([&] { sixth(65536); }), {"argument 6", "2 bytes"});
  check_parts(refusal<ValueError>([&] { sixth(-32769); }), {"argument 6", "2 bytes"});
  CHECK(x.to_vector<float>() == Floats{1, 2, 3, 4});
}

/// The same text again is neither compiled nor loaded nor unloaded.
void check_repetition() {
  const std::uint64_t loaded = control().calls("cuModuleLoadDataEx");
  const std::uint64_t unloaded = control().calls("cuModuleUnload");
  for (int i = 0; i < 3; ++i)
    RawKernel("extern \"C\" __global__ void again() {}", "again").compile();
  CHECK(control().calls("cuModuleLoadDataEx") == loaded + 1);
  CHECK(control().calls("cuModuleUnload") == unloaded);
  for (int i = 0; i < 70; ++i)
    RawKernel("// " + std::to_string(i), "again").compile();  // more than are kept
  CHECK(control().calls("cuModuleUnload") > unloaded);
}

void check_refusals(const RawModule& module) {
  const RawKernel scale = module.get_function("fake_scale");
  Array x = ramp();
  check_parts(refusal<ValueError>([&] { scale({1, 70000}, {4}, {x, x, 3.0f, count}); }),
              {"fake_scale", "axis 1 of the grid is 70000"});
  check_parts(refusal<ValueError>([&] { scale({1}, {32, 64}, {x, x, 3.0f, count}); }),
              {"2048 threads", "at most 1024"});
  check_parts(refusal<ValueError>([&] { scale({0}, {4}, {x, x, 3.0f, count}); }),
              {"axis 0 of the grid is 0"});
  check_parts(refusal<DeviceError>([&] { module.get_function("none")({1}, {1}, {}); }),
              {"no kernel none", "extern \"C\""});
  check_parts(refusal<ValueError>([&] { scale({1}, {4}, {Array(), x, 3.0f, count}); }),
              {"no value"});
  Array other = on(cuda(1), ramp);
  check_parts(refusal<DeviceError>([&] { scale({1}, {4}, {x, other, 3.0f, count}); }),
              {"cuda:0", "cuda:1", "float32[4]"});
  scale({1}, {4}, {other, other, 3.0f, count});  // on the other GPU
  CHECK(other.to_vector<float>() == Floats{3, 6, 9, 12});
  Array host = on(runtime::Device{}, ramp);
  check_parts(refusal<DeviceError>([&] { scale({1}, {4}, {host, host, 3.0f, count}); }),
              {"run on GPUs only", "ElementwiseKernel"});
  const auto traced = jit([&](const Array& a) {
    Array b = a;
    scale({1}, {4}, {b, b, 3.0f, count});
    return b;
  });
  check_parts(refusal<TraceError>([&] { traced(x); }), {"RawKernel", "raw_kernels.cpp"});
}

void check_failures(const RawModule& module) {
  const RawKernel scale = module.get_function("fake_scale");
  Array x = ramp();
  const auto check_fails = [&](const char* call) {
    control().fail(call, 1, 0);
    check_parts(refusal<DeviceError>([&] { scale({1}, {4}, {x, x, 3.0f, count}); }), {call});
    CHECK(x.to_vector<float>() == Floats{1, 2, 3, 4});
  };
  check_fails("cuFuncGetAttribute");  // which only the first launch asks
  check_fails("cuLaunchKernel");
  scale({1}, {4}, {x, x, 3.0f, count});
  CHECK(x.to_vector<float>() == Floats{3, 6, 9, 12});
  const RawKernel text("extern \"C\" __global__ void f() {}", "f");
  control().fail("cuModuleLoadDataEx", 200, 0);
  check_parts(refusal<DeviceError>([&] { text.compile(); }), {"cuModuleLoadDataEx"});
  text.compile();
}

/// Everything that can fail does so once; then the same call succeeds.
void check_faults(const runtime::TemporaryFolder& folder) {
  int fired = 0;
  for (int kind = 0; kind < runtime::fault::kind_count; ++kind) {
    for (int k = 0;; ++k) {
      const RawModule module = fake_kernels(folder);
      const RawKernel text("// " + std::to_string(kind) + " " + std::to_string(k), "f");
      Array x = ramp();
      const Array before = x;  // so that the launch allocates
      const auto launch = [&] {
        text.compile();
        module.get_function("fake_scale")({1}, {4}, {x, x, 3.0f, count});
      };
      bool failed = false;
      {
        const runtime::fault::Watch watch(static_cast<runtime::fault::Kind>(kind), k);
        try {
          launch();
        } catch (const Error&) {
          failed = true;
        }
        if (!watch.fired()) break;
      }
      ++fired;
      if (failed) {
        CHECK(x.to_vector<float>() == Floats{1, 2, 3, 4});
        launch();
      }
      CHECK(x.to_vector<float>() == Floats{3, 6, 9, 12});
      CHECK(before.to_vector<float>() == Floats{1, 2, 3, 4});
    }
  }
  CHECK(fired >= 5);
}

}  // namespace

TEST_CASE("raw kernels on fake GPUs") {
  const auto result = run_on_fake_gpus("child: raw kernels", {"HEDDLE_CACHE=0"});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: raw kernels" * doctest::skip()) {
  static_cast<void>(device());  // loads the driver
  const runtime::TemporaryFolder folder;
  const RawModule module = fake_kernels(folder);
  check_writes(module);
  check_values(module);
  check_shapes(folder);
  check_attributes(module);
  check_globals(module);
  check_streams(module);
  check_readers(module);
  check_captures(module, folder);
  check_parameters(module);
  check_repetition();
  check_refusals(module);
  check_failures(fake_kernels(folder));
  check_faults(folder);
}

TEST_CASE("code in the cache that the driver rejects is compiled again") {
  const runtime::TemporaryFolder folder;
  const auto result = run_on_fake_gpus("child: rejected raw kernels",
                                       {"HEDDLE_CACHE=1", "HEDDLE_CACHE_DIR=" + folder.path()});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: rejected raw kernels" * doctest::skip()) {
  static_cast<void>(device());  // loads the driver
  const RawKernel kernel("extern \"C\" __global__ void f() {}", "f");
  kernel.compile();  // and stores it
  const std::uint64_t loaded = control().calls("cuModuleLoadDataEx");
  control().fail("cuModuleLoadDataEx", 200, 0);
  {
    const runtime::DeviceScope scope(cuda(1));
    kernel.compile();
  }
  CHECK(control().failed());
  CHECK(control().calls("cuModuleLoadDataEx") == loaded + 2);
}

TEST_CASE("the CPU refuses raw kernels, and names what it runs") {
  if (is_fake()) return;
  const runtime::DeviceScope scope(runtime::Device{});
  const RawKernel kernel("extern \"C\" __global__ void f() {}", "f");
  check_parts(refusal<DeviceError>([&] { kernel.compile(); }), {"f: ", "ElementwiseKernel"});
  check_parts(refusal<DeviceError>([&] { kernel({1}, {1}, {}); }), {"f: ", "ElementwiseKernel"});
}

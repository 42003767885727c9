// Loops and branches inside the graphs of a program, on the fake driver.

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "runtime/base/statistics.h"
#include "runtime/cuda/devices.h"
#include "runtime/device/memory.h"
#include "tests/runtime/fake_programs.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::test;
namespace cuda = runtime::cuda;

namespace {

using Kind = Buffer::Kind;

passes::Step step_of(passes::CallStep call) {
  passes::Step step;
  step.work = std::move(call);
  return step;
}

/// A program of `arrays` inputs f32[n] from input `first` on, and an output of `type`.
std::shared_ptr<passes::Program> body_of(std::vector<passes::ProgramInput> before,
                                         std::size_t arrays, const ir::Type& type,
                                         passes::Step step) {
  auto body = std::make_shared<passes::Program>(program_of(0, false, {std::move(step)}));
  body->inputs = std::move(before);
  for (std::size_t i = 0; i < arrays; ++i) body->inputs.push_back({{DType::f32, {n}}});
  body->outputs[0].type = type;
  body->temporaries.push_back({n * 4, 0, 1});
  return body;
}

/// A loop with one carry. `step` reads the constant from input 2 and the carry from input 3, and
/// writes the next carry to output 0.
passes::CallStep scan_of(std::int64_t steps, passes::Step step, Buffer constant, Buffer carry,
                         Buffer result) {
  passes::CallStep call;
  call.handler = call.operation = "control.scan";
  call.operands = {{constant}, {carry}};
  call.results = {{result}};
  call.scratch = {{Kind::temporary, 0}};
  call.values.set("carries", ir::Dim(1));
  call.values.set("sequences", ir::Dim(0));
  call.values.set("length", ir::Dim(steps));
  call.values.set("reverse", false);
  call.bodies.push_back(body_of({{{DType::u8, {ir::Dim(0)}}}, {{DType::i64, {}}, true}}, 2,
                                {DType::f32, {n}}, std::move(step)));
  return call;
}

std::unique_ptr<ProgramRunner> load_call(std::size_t arrays, passes::CallStep call) {
  passes::Program program = program_of(arrays, true, {step_of(std::move(call))});
  program.temporaries.push_back({n * 4, 0, 1});
  return load(std::move(program));
}

constexpr Buffer in0{Kind::input, 0}, in1{Kind::input, 1}, in2{Kind::input, 2}, in3{Kind::input, 3},
    out{Kind::output, 0};

/// a + steps * 3 * b, as a loop of loops of three additions.
std::unique_ptr<ProgramRunner> load_scan(std::int64_t steps) {
  passes::CallStep inner =
      scan_of(3, kernel(add, {input(2), input(3), output(0), size()}), in2, in3, out);
  return load_call(2, scan_of(steps, step_of(std::move(inner)), in0, in1, out));
}

/// Adds input 0 to input 2 as long as it is less than input 1, in its first element.
passes::CallStep while_call(Buffer result) {
  passes::CallStep call;
  call.handler = call.operation = "control.while";
  call.operands = {{in0}, {in1}, {in2}};
  call.results = {{result}};
  call.scratch = {{Kind::temporary, 0}};
  call.values.set("carries", ir::Dim(1));
  call.bodies = {
      body_of({}, 3, {DType::boolean, {}}, kernel(less, {input(2), input(1), output(0)})),
      body_of({}, 3, {DType::f32, {n}}, kernel(add, {input(0), input(2), output(0), size()}))};
  call.kernels.emplace_back().kernel = decide;
  return call;
}

/// Input 0 chooses: 0 gives input 1, 1 gives twice input 2, 2 gives the result of while_call on
/// inputs 1, 2 and 3.
std::unique_ptr<ProgramRunner> load_switch() {
  passes::CallStep call;
  call.handler = call.operation = "control.switch";
  call.operands = {{in0}, {in1}, {in2}, {in3}};
  call.results = {{out}};
  const ir::Type type{DType::f32, {n}};
  auto same = body_of({}, 3, type, step_of({}));
  same->steps.clear();
  same->outputs[0].input = 0;
  call.bodies = {std::move(same),
                 body_of({}, 3, type, kernel(add, {input(1), input(1), output(0), size()})),
                 body_of({}, 3, type, step_of(while_call(out)))};
  call.kernels.emplace_back().kernel = decide;
  passes::Program program = program_of(4, true, {step_of(std::move(call))});
  program.inputs[0] = {{DType::i64, {}}};
  return load(std::move(program));
}

DeviceArray index_array(std::int64_t value, const Stream& stream) {
  DeviceArray array;
  array.type = {DType::i64, {}};
  array.buffer = allocate(sizeof value, stream);
  runtime::copy(array.buffer->pointer(), gpu, &value, Device{}, sizeof value, stream);
  return array;
}

const Values twos(64, 2), limit(64, 20);

/// Ten calls whose results are `expected`.
void check_calls(ProgramRunner& runner, const std::vector<const DeviceArray*>& arrays,
                 const Values& expected, const Stream& stream, int calls = 10) {
  for (int i = 0; i < calls; ++i)
    CHECK(download(call(runner, arrays, 0, stream), stream) == expected);
}

void check_scans() {
  const Stream stream = Stream::create(gpu);
  const DeviceArray a = upload(ramp(64, 1), stream), b = upload(twos, stream);
  const std::uint64_t in_use = runtime::pool_of(gpu).statistics().in_use;
  std::vector<std::uint64_t> scratch;
  for (const std::int64_t steps : {5, 50}) {
    const auto runner = load_scan(steps);
    Counting counting{"cuGraphLaunch", "cuLaunchKernel", "cuStreamBeginCaptureToGraph"};
    const std::uint64_t before = runtime::statistics().kernel_launches;
    check_calls(*runner, {&b, &a}, ramp(64, 1 + 6 * static_cast<float>(steps)), stream);
    const auto kernels = static_cast<std::uint64_t>(3 * steps);
    CHECK(runtime::statistics().kernel_launches - before == 10 * kernels);
    CHECK(counting("cuGraphLaunch") == 8);
    CHECK(counting("cuLaunchKernel") == 3 * kernels);  // two calls, and what is captured
    CHECK(counting("cuStreamBeginCaptureToGraph") == 1);
    scratch.push_back(runtime::pool_of(gpu).statistics().in_use - in_use);
  }
  CHECK_MESSAGE(scratch[0] == scratch[1], "memory does not grow with the steps");
  // A loop of too many steps is enqueued step by step.
  const auto runner = load_scan(2000);
  Counting counting{"cuGraphLaunch"};
  check_calls(*runner, {&b, &a}, ramp(64, 12001), stream, 4);
  CHECK(counting("cuGraphLaunch") == 0);
}

/// `reads`: how often the host reads a condition.
void check_while(std::uint64_t reads, std::uint64_t graphs) {
  const Stream stream = Stream::create(gpu);
  const DeviceArray a = upload(ramp(64, 1), stream), b = upload(twos, stream),
                    c = upload(limit, stream), high = upload(ramp(64, 30), stream);
  const auto runner = load_call(3, while_call(out));
  Counting counting{"cuGraphLaunch", "cuMemcpyDtoHAsync_v2"};
  check_calls(*runner, {&b, &c, &a}, ramp(64, 21), stream);
  CHECK(counting("cuMemcpyDtoHAsync_v2") == 10 + reads);  // one for each result
  CHECK(counting("cuGraphLaunch") == graphs);
  check_calls(*runner, {&b, &c, &high}, ramp(64, 30), stream);  // no step
}

void check_switch(std::uint64_t reads) {
  const Stream stream = Stream::create(gpu);
  const DeviceArray a = upload(ramp(64, 1), stream), b = upload(twos, stream),
                    c = upload(limit, stream);
  const std::vector<Values> expected = {twos, Values(64, 40), ramp(64, 21)};
  for (const std::int64_t index : {0, 1, 2, 7}) {
    CAPTURE(index);
    const DeviceArray at = index_array(index, stream);
    const auto runner = load_switch();
    Counting counting{"cuMemcpyDtoHAsync_v2"};
    check_calls(*runner, {&at, &b, &c, &a}, expected[std::min<std::size_t>(index, 2)], stream);
    if (index < 2) CHECK(counting("cuMemcpyDtoHAsync_v2") == 10 + reads);
  }
}

/// Calls that all fail somewhere, and go on as before.
void check_failures() {
  const Stream stream = Stream::create(gpu);
  const DeviceArray at = index_array(2, stream), a = upload(ramp(64, 1), stream),
                    b = upload(twos, stream), c = upload(limit, stream);
  const std::uint64_t graphs = control().live_graphs(), executables = control().live_executables();
  for (const char* function :
       {"cuStreamBeginCaptureToGraph", "cuStreamEndCapture", "cuGraphConditionalHandleCreate",
        "cuGraphAddNode_v2", "cuGraphInstantiateWithFlags", "cuGraphLaunch"}) {
    for (int after = 0; after < 6; ++after) {
      CAPTURE(function);
      CAPTURE(after);
      const auto runner = load_switch();
      control().fail(function, 999, after);
      check_calls(*runner, {&at, &b, &c, &a}, ramp(64, 21), stream, 6);
      control().fail("", 0, -1);
    }
  }
  CHECK(control().live_graphs() == graphs);
  CHECK(control().live_executables() == executables);
}

void run_child(const char* test_case, const char* variable) {
  const auto result = test::run_child(
      test_case, {"-uHEDDLE_DEVICE", std::string("HEDDLE_CUDA_DRIVER=") + HEDDLE_FAKE_DRIVER,
                  "HEDDLE_CACHE=0", "HEDDLE_GRAPHS=1", variable});
  CHECK_MESSAGE(result.status == 0, result.output);
}

}  // namespace

TEST_CASE("loops and branches that repeat run inside graphs") {
  for (const char* poison : {"HEDDLE_POISON=0", "HEDDLE_POISON=1"})
    run_child("child: captured loops", poison);
}

TEST_CASE("child: captured loops" * doctest::skip()) {
  REQUIRE(cuda::available());
  control();
  check_scans();
  check_while(2 * 11, 8);  // of two calls
  check_switch(2);
  check_failures();
}

TEST_CASE("the device decides from the first call on where the host must not wait") {
  run_child("child: loops without waiting", "HEDDLE_NO_SYNC=1");
}

TEST_CASE("child: loops without waiting" * doctest::skip()) {
  REQUIRE(cuda::available());
  control();
  check_while(0, 10);
  check_switch(0);
}

// What spans and timed steps tell of a call: on the CPU, and on a driver that is a program of its
// own, whose kernels take a microsecond a block.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "heddle/error.h"

#include "runtime/base/statistics.h"
#include "runtime/cuda/devices.h"
#include "runtime/execute/executable.h"
#include "runtime/launch/kernel_run.h"
#include "runtime/profile/profile.h"
#include "runtime/report/step_times.h"
#include "tests/runtime/fake_programs.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::test;
using runtime::device_time;
namespace cuda = runtime::cuda;

namespace {

/// Keeps all spans that it is told of.
class Recorder final : public ir::SpanWatcher {
 public:
  explicit Recorder(bool kernels = true) : kernels_(kernels) {}
  void begin(const ir::SpanData& span) override { begun.push_back(span.name); }
  void end(const ir::SpanData& span) override { ended.push_back(span); }
  bool wants_kernels() const noexcept override { return kernels_; }
  std::vector<ir::SpanData> of(ir::Phase phase) const {
    std::vector<ir::SpanData> found;
    std::ranges::copy_if(ended, std::back_inserter(found),
                         [&](const ir::SpanData& span) { return span.phase == phase; });
    return found;
  }
  std::vector<std::string> begun;
  std::vector<ir::SpanData> ended;

 private:
  bool kernels_;
};

class Watching {
 public:
  explicit Watching(bool kernels = true) : recorder(std::make_shared<Recorder>(kernels)) {
    ir::add_watcher(recorder);
  }
  ~Watching() { ir::remove_watcher(recorder.get()); }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;
  const std::shared_ptr<Recorder> recorder;
};

DeviceArray filled(ir::Type type, float first) {
  DeviceArray array;
  array.type = std::move(type);
  const auto bytes = static_cast<std::size_t>(ir::byte_count(array.type).constant());
  array.buffer = allocate(bytes, Stream::current(Device{}));
  auto* values = static_cast<float*>(array.buffer->pointer());
  for (std::size_t i = 0; i < bytes / sizeof(float); ++i)
    values[i] = std::sin(first + static_cast<float>(i));
  return array;
}

constexpr const char* layers = R"(func @layers(%0: f32[300,200], %1: f32[200,100]) -> f32[300,100] {
  %2 = call matmul %0, %1 : f32[300,100]
  %3 = max %2 axes=[1] keepdims : f32[300,1]
  %4 = subtract %2, %3 : f32[300,100]
  %5 = call sort %4 {axis = 1} : f32[300,100]
  return %5
})";

void check_times_on_a_gpu() {
  const Stream stream = Stream::current(gpu);
  const auto runner = load_several();
  const Values left = ramp(100, 1), right = ramp(100, 5);
  const DeviceArray a = upload(left, stream), b = upload(right, stream);
  for (int i = 0; i < 5; ++i) call(*runner, {&a, &b}, 2, stream);
  Counting counting{"cuGraphLaunch", "cuLaunchKernel", "cuEventRecord"};
  {
    const Watching watching;
    const DeviceArray result = call(*runner, {&a, &b}, 3, stream);
    CHECK(counting("cuGraphLaunch") == 0);
    CHECK(counting("cuLaunchKernel") == 4);
    const std::vector<ir::SpanData> spans = watching.recorder->of(ir::Phase::kernel);
    std::vector<std::string> names;
    std::vector<double> times;
    for (const ir::SpanData& span : spans) {
      names.push_back(span.name);
      CHECK_MESSAGE(!device_time(span, false).has_value(), "nobody has waited");
      CHECK(runtime::kernel_run_of(span)->pending());
      times.push_back(device_time(span, true).value().microseconds);
      CHECK_FALSE(runtime::kernel_run_of(span)->pending());
      const runtime::KernelRun& run = *runtime::kernel_run_of(span);
      CHECK(run.program == "test");
      CHECK(run.stream == stream.state()->number);
      CHECK(run.device == gpu);
    }
    CHECK(names == std::vector<std::string>{"fake_add", "fill_bytes", "fake_tally", "fill_bytes",
                                            "fake_add", "fake_scale"});
    // Blocks of 32 for 100 elements.
    for (std::size_t i = 0; i < times.size(); ++i)
      CHECK(times[i] == doctest::Approx(names[i] == "fill_bytes" ? 1 : 4));
    CHECK(runtime::kernel_run_of(spans[0])->blocks == 4);
    CHECK(runtime::kernel_run_of(spans[0])->threads[0] == 32);
    CHECK(runtime::kernel_run_of(spans[1])->bytes == 16);
    CHECK(download(result, stream) == several(left, right, 3));
  }
  // Graphs go on where they were, with the arguments of now.
  const std::uint64_t before = counting("cuGraphLaunch");
  CHECK(download(call(*runner, {&b, &b}, 7, stream), stream) == several(right, right, 7));
  CHECK(counting("cuGraphLaunch") == before + 1);
  {
    const Watching watching(false);
    CHECK(download(call(*runner, {&a, &b}, 7, stream), stream) == several(left, right, 7));
    CHECK_MESSAGE(counting("cuGraphLaunch") == before + 2, "nobody wants to know of kernels");
    CHECK(watching.recorder->of(ir::Phase::kernel).empty());
    CHECK(watching.recorder->of(ir::Phase::launch).size() == 1);
  }
}

/// What happens on the device stands in rows of its streams, with arrows from what launched it.
void check_profile() {
  const Stream stream = Stream::create(gpu), other = Stream::create(gpu);
  const auto runner = load_several();
  const DeviceArray a = upload(ramp(100, 1), stream), b = upload(ramp(100, 5), stream);
  runtime::Profiler profiler;
  // Marks of the driver are given back while more launches come.
  constexpr int calls = 200;
  for (int i = 0; i < calls; ++i) {
    const DeviceArray result = call(*runner, {&a, &b}, 2, i % 2 == 0 ? stream : other);
    if (i % 50 == 0) CHECK(download(result, stream) == several(ramp(100, 1), ramp(100, 5), 2));
  }
  profiler.stop();
  const std::vector<ProfileRow> rows = profiler.rows(ir::Phase::kernel);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].name == "fake_add");
  CHECK(rows[0].count == 2 * calls);
  CHECK(rows[0].total == doctest::Approx(2 * calls * 4));
  CHECK(rows[0].mean == doctest::Approx(4));
  const std::vector<ProfileRow> phases = profiler.rows();
  const auto launches = std::ranges::find(phases, "launch", &ProfileRow::phase);
  REQUIRE(launches != phases.end());
  CHECK(launches->count == calls);

  const nlohmann::json trace = nlohmann::json::parse(profiler.chrome_trace());
  std::map<int, double> busy;  // by stream
  std::map<std::uint64_t, std::string> flows;
  std::set<std::string> names;
  int on_device = 0, on_host = 0;
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    const std::string kind = event.at("ph");
    if (kind == "s") flows[event.at("id")] += "s";
    if (kind == "f") flows[event.at("id")] += "f";
    if (kind == "M") names.insert(event.at("args").at("name").get<std::string>());
    if (kind != "X") continue;
    if (event.at("pid") == 1) {
      on_host += event.at("name") == "launch fake_add";
      continue;
    }
    CHECK(event.at("pid") == 2);
    CHECK(event.at("ts").get<double>() >= busy[event.at("tid")]);
    busy[event.at("tid")] = event.at("ts").get<double>() + event.at("dur").get<double>();
    on_device += event.at("name") == "fake_add";
  }
  CHECK(on_host == 2 * calls);
  CHECK(on_device == 2 * calls);
  CHECK(busy.size() == 2);
  CHECK(flows.size() == static_cast<std::size_t>(6 * calls));
  for (const auto& [id, ends] : flows) CHECK(ends == "sf");
  for (const Stream& one : {stream, other})
    CHECK(names.contains("stream " + std::to_string(one.state()->number)));
  CHECK(names.contains("cuda:0"));
}

void check_capture() {
  const cuda::ContextScope context(0);
  const Stream stream = Stream::create(gpu);
  const auto runner = load_several();
  const DeviceArray a = upload(ramp(50, 1), stream), b = upload(ramp(50, 2), stream);
  const runtime::Profiler profiler;
  const Watching watching;
  Counting counting{"cuEventRecord"};
  cuda::driver().stream_begin_capture(stream.handle(), cuda::CaptureMode::global);
  const DeviceArray result = call(*runner, {&a, &b}, 3, stream);
  cuda::GraphHandle graph = nullptr;
  cuda::driver().stream_end_capture(stream.handle(), &graph);
  CHECK(counting("cuEventRecord") == 0);
  const std::vector<ir::SpanData> spans = watching.recorder->of(ir::Phase::kernel);
  REQUIRE(spans.size() == 6);
  for (const ir::SpanData& span : spans) {
    CHECK(runtime::kernel_run_of(span)->captured);
    CHECK_FALSE(device_time(span, true).has_value());
  }
  CHECK(profiler.table().find("\n6 launches were captured into CUDA graphs") != std::string::npos);
  cuda::GraphExecHandle executable = nullptr;
  cuda::driver().graph_instantiate(&executable, graph, 0);
  cuda::driver().graph_launch(executable, stream.handle());
  CHECK(download(result, stream) == several(ramp(50, 1), ramp(50, 2), 3));
  cuda::driver().graph_exec_destroy(executable);
  cuda::driver().graph_destroy(graph);
}

void check_events_that_fail() {
  const Stream stream = Stream::current(gpu);
  const auto runner = load_scale();
  const DeviceArray a = upload(ramp(50, 1), stream);
  const Watching watching;
  control().fail("cuEventRecord", 999, 0);
  CHECK(download(call(*runner, {&a}, 3, stream), stream) == times(ramp(50, 1), 3));
  CHECK(control().failed());
  const std::vector<ir::SpanData> spans = watching.recorder->of(ir::Phase::kernel);
  REQUIRE(spans.size() == 1);
  CHECK_FALSE(device_time(spans[0], true).has_value());
  control().fail("cuLaunchKernel", 999, 0);
  CHECK_THROWS_AS(call(*runner, {&a}, 3, stream), DeviceError);
  CHECK_FALSE(device_time(watching.recorder->of(ir::Phase::kernel).back(), true).has_value());
}

}  // namespace

TEST_CASE("each step of a program has its time and its kernel's name") {
  const ir::Graph graph = ir::parse(layers, "layers.hd");
  const auto executable = runtime::Executable::get(graph, {}, Device{});
  const DeviceArray a = filled({DType::f32, {300, 200}}, 1),
                    b = filled({DType::f32, {200, 100}}, 2);
  Stream stream = Stream::current(Device{});
  const std::vector<runtime::ArgumentView> arguments = {{&a}, {&b}};
  const std::uint64_t launched = runtime::statistics().kernel_launches;
  const auto steps = runtime::time_steps(*executable, arguments, stream, 3, &graph);
  const passes::Program& program = executable->program();
  REQUIRE(steps.size() == program.steps.size());
  std::uint64_t kernels = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    CHECK(steps[i].step == i);
    CHECK(steps[i].microseconds > 0);
    const passes::Step& step = program.steps[i];
    if (const passes::CallStep* const call = step.call())
      CHECK(steps[i].kernel == (call->handler == "gemm" ? "matmul_f32" : "sort_f32"));
    if (step.kernel() == nullptr) continue;
    CHECK(steps[i].kernel == program.kernel_names[step.kernel()->kernel]);
    ++kernels;
  }
  CHECK(kernels > 0);
  CHECK(runtime::statistics().kernel_launches == launched + 4 * kernels);
  CHECK_FALSE(ir::watched());
}

TEST_CASE("a kernel's span has shapes, bytes and the caller's lines") {
  const ir::Graph graph = ir::parse(layers, "layers.hd");
  const auto executable = runtime::Executable::get(graph, {}, Device{});
  const DeviceArray a = filled({DType::f32, {300, 200}}, 1),
                    b = filled({DType::f32, {200, 100}}, 2);
  Stream stream = Stream::current(Device{});
  const std::vector<runtime::ArgumentView> arguments = {{&a}, {&b}};
  const Watching watching;
  std::vector<DeviceArray> outputs;
  executable->run(arguments, stream, outputs, &graph);
  const std::vector<ir::SpanData> spans = watching.recorder->of(ir::Phase::kernel);
  REQUIRE(spans.size() == 3);
  const runtime::KernelRun& product = *runtime::kernel_run_of(spans[0]);
  CHECK(spans[0].name == "matmul_f32");
  CHECK(product.operands == "f32[300,200] x f32[200,100] -> 120000 bytes");
  CHECK(product.bytes == 4 * (300 * 200 + 200 * 100 + 300 * 100));
  REQUIRE(product.lines.size() == 1);
  CHECK(product.lines[0].to_string() == "layers.hd:2");
  const runtime::KernelRun& rows = *runtime::kernel_run_of(spans[1]);
  CHECK(rows.lines.size() == 2);
  CHECK(runtime::kernel_run_of(spans[2])->lines[0].to_string() == "layers.hd:5");
  // Of a caller who does not say where he is.
  executable->run(arguments, stream, outputs);
  CHECK(runtime::kernel_run_of(watching.recorder->of(ir::Phase::kernel)[3])->lines.empty());

  const std::vector<ir::SpanData> launches = watching.recorder->of(ir::Phase::launch);
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].name == "layers");
  CHECK(launches[0].inner <= launches[0].end - launches[0].start);
  std::chrono::steady_clock::duration inside{};
  for (std::size_t i = 0; i < 3; ++i) inside += spans[i].end - spans[i].start;
  CHECK(launches[0].inner >= inside);
}

TEST_CASE("watchers are told of what begins while they watch, and what they throw is lost") {
  struct Thrower final : ir::SpanWatcher {
    void begin(const ir::SpanData&) override { throw std::runtime_error("no"); }
    void end(const ir::SpanData&) override { throw std::runtime_error("no"); }
  };
  const auto thrower = std::make_shared<Thrower>();
  ir::add_watcher(thrower);
  auto recorder = std::make_shared<Recorder>();
  {
    const ir::Span outer(ir::Phase::pass, "before");
    ir::add_watcher(recorder);
    const ir::Span inner(ir::Phase::pass, "during");
    ir::remove_watcher(recorder.get());
    const ir::Span late(ir::Phase::pass, "after");
  }
  ir::remove_watcher(thrower.get());
  CHECK(recorder->begun == std::vector<std::string>{"during"});
  REQUIRE(recorder->ended.size() == 1);
  CHECK(recorder->ended[0].name == "during");
  const ir::Span nobody(ir::Phase::pass, "nobody");
  CHECK(nobody.data() == nullptr);
}

TEST_CASE("kernels on a GPU are timed one by one, beside graphs and captures") {
  const auto result =
      run_child("child: watched calls", {"-uHEDDLE_DEVICE", "HEDDLE_POISON=0", "HEDDLE_GRAPHS=1",
                                         std::string("HEDDLE_CUDA_DRIVER=") + HEDDLE_FAKE_DRIVER});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: watched calls" * doctest::skip()) {
  REQUIRE(cuda::available());
  check_times_on_a_gpu();
  check_profile();
  check_capture();
  check_events_that_fail();
}

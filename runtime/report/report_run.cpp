#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "heddle/error.h"

#include "runtime/launch/prepared.h"
#include "runtime/report/report.h"
#include "runtime/report/step_times.h"

namespace heddle::runtime {

namespace {

double median(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

/// The median duration of a run in microseconds, from its launch until the device has finished.
double time_runs(const Executable& executable, std::span<const ArgumentView> arguments,
                 Stream& stream, const ir::Graph& graph, int runs) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    std::vector<DeviceArray> outputs;
    const auto start = std::chrono::steady_clock::now();
    executable.run(arguments, stream, outputs, &graph);
    stream.synchronize();
    times.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
            .count());
  }
  return median(std::move(times));
}

/// Measures the maximum memory rate with a kernel that only copies.
passes::Ceiling measure_ceiling(const ir::Target& target, Stream& stream) {
  constexpr std::int64_t least = std::int64_t{64} << 20, most = std::int64_t{256} << 20;
  constexpr int runs = 9;
  const std::int64_t bytes = std::clamp(4 * target.l2_bytes, least, most);
  ir::Graph graph;
  graph.name = "copy";
  const ir::ValueId from = graph.parameter(DType::f32, {bytes / 4});
  graph.outputs = {graph.add(ir::Op::negative, {from})};
  const auto executable = Executable::get(graph, {}, stream.device());
  const DeviceArray array{graph.type(from), allocate(static_cast<std::size_t>(bytes), stream), 0};
  fill(array.buffer->pointer(), 1, static_cast<std::size_t>(bytes), stream);
  const ArgumentView argument{&array};
  const std::vector<StepTime> steps = time_steps(*executable, {&argument, 1}, stream, runs);
  // Interpreted programs have no steps.
  const double time = steps.empty() ? time_runs(*executable, {&argument, 1}, stream, graph, runs)
                                    : steps.front().microseconds;
  return {2 * static_cast<double>(bytes) / (time * 1e-6),
          fmt::format("a kernel that copies {} MiB on {}, median of {} in this process",
                      bytes >> 20, to_string(stream.device()), runs)};
}

}  // namespace

void add_run(passes::Report& report, const ir::Graph& graph, const CompileOptions& options,
             std::span<const Argument> arguments, Stream& stream, int runs) {
  const std::vector<ArgumentView> views = views_of(arguments);
  const auto executable = Executable::get(graph, options, stream.device());
  if (executable->program().steps.size() != report.steps.size())
    throw ValueError("the report belongs to another program");
  report.symbols = bind_arguments(executable->program(), views);
  for (passes::ReportStep& step : report.steps) step.microseconds.reset();
  for (const StepTime& time : time_steps(*executable, views, stream, runs, &graph)) {
    std::optional<double>& taken = report.steps[time.step].microseconds;
    taken = taken.value_or(0) + time.microseconds;
  }
  report.run = {to_string(stream.device()), runs,
                time_runs(*executable, views, stream, graph, runs),
                measure_ceiling(report.target, stream)};
}

}  // namespace heddle::runtime

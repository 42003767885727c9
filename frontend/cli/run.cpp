#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "heddle/error.h"
#include "heddle/io.h"
#include "heddle/profile.h"

#include "frontend/array/access.h"
#include "frontend/cli/command.h"
#include "frontend/cli/inputs.h"
#include "frontend/graph/record.h"
#include "runtime/device/stream.h"

namespace heddle::cli {

namespace {

struct RunOptions {
  std::string program, device, out;
  InputOptions inputs;
  int repeat = 0;
  bool json = false;
  bool profile = false;
  std::string trace;  ///< output file
  Modes modes;
};

struct Timing {
  double median = 0, best = 0;  ///< microseconds
};

/// Measures each run, from its launch until the device is done.
Timing time_runs(const runtime::Executable& executable,
                 const std::vector<runtime::Argument>& arguments, runtime::Stream& stream,
                 int count) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    std::vector<runtime::Argument> copies = arguments;
    const auto start = std::chrono::steady_clock::now();
    executable.run(std::move(copies), stream);
    stream.synchronize();
    times.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front()};
}

void write_outputs(const std::vector<Array>& outputs, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw FileError(fmt::format("{}: {}", folder, error.message()));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string path =
        (std::filesystem::path(folder) / fmt::format("output{}.npy", i)).string();
    save(path, outputs[i], SourceLocation());
    fmt::print("{}\n", path);
  }
}

void print_outputs(const std::vector<Array>& outputs) {
  for (const Array& output : outputs) {
    const frontend::NodeRef& node = frontend::Access::raw(output);
    fmt::print("{}\n{}\n", ir::to_string(ir::Type{node->dtype, node->shape}),
               to_string(output, SourceLocation()));
  }
}

nlohmann::json json_of(const std::vector<ProfileRow>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const ProfileRow& row : rows) {
    list.push_back(
        {{"phase", row.phase},
         {"name", row.name},
         {"count", row.count},
         {"microseconds",
          {{"total", row.total}, {"mean", row.mean}, {"least", row.least}, {"most", row.most}}},
         {"share", row.share},
         {"bytes", row.bytes},
         {"gigabytes_per_second", row.gigabytes_per_second}});
  }
  return list;
}

/// Writes the profile to standard error or into `json`, and the trace to its file.
void report(Profile& profile, const RunOptions& wanted, nlohmann::json& json) {
  profile.stop();
  if (wanted.json) {
    json["profile"] = {{"phases", json_of(profile.rows())},
                       {"kernels", json_of(profile.rows("kernel"))}};
  } else if (wanted.profile) {
    fmt::print(stderr, "{}", profile.table());
  }
  if (!wanted.trace.empty()) profile.save_trace(wanted.trace);
}

int run(const RunOptions& wanted) {
  const ir::Graph graph = read_program(wanted.program);
  const runtime::CompileOptions options = wanted.modes.options(graph);
  if (!wanted.device.empty()) runtime::set_current_device(runtime::parse_device(wanted.device));
  const runtime::Device device = runtime::current_device();
  const std::vector<runtime::Argument> arguments = make_arguments(graph, wanted.inputs);
  std::optional<Profile> profile;
  if (wanted.profile || !wanted.trace.empty()) profile.emplace();
  const auto executable = runtime::Executable::get(graph, options, device);
  runtime::Stream stream = runtime::Stream::current(device);
  std::vector<Array> outputs;
  for (runtime::DeviceArray& value : executable->run(std::vector(arguments), stream, &graph)) {
    outputs.push_back(frontend::Access::make(frontend::array_node(std::move(value))));
  }
  if (!wanted.out.empty()) {
    write_outputs(outputs, wanted.out);
  } else if (!wanted.json) {
    print_outputs(outputs);
  }
  Timing timing;
  if (wanted.repeat > 0) timing = time_runs(*executable, arguments, stream, wanted.repeat);
  nlohmann::json json{{"device", runtime::to_string(device)},
                      {"kernels", executable->kernel_count()}};
  if (profile) report(*profile, wanted, json);
  if (wanted.json) {
    if (wanted.repeat > 0) {
      json["runs"] = wanted.repeat;
      json["microseconds"] = {{"median", timing.median}, {"best", timing.best}};
    }
    fmt::print("{}\n", json.dump(2));
  } else if (wanted.repeat > 0) {
    fmt::print(stderr, "{} runs on {}: median {:.1f} us, best {:.1f} us, {} kernels\n",
               wanted.repeat, runtime::to_string(device), timing.median, timing.best,
               executable->kernel_count());
  }
  return 0;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  const auto wanted = std::make_shared<RunOptions>();
  CLI::App* verb = app.add_subcommand("run", "Run a program and print or save its outputs");
  verb->add_option("program", wanted->program, "A graph in text form; - is standard input")
      ->required()
      ->type_name("PROGRAM.hd");
  verb->add_option("inputs", wanted->inputs.given,
                   "Inputs in order: a .npy file for an array, a number for a scalar parameter")
      ->type_name("INPUTS");
  verb->add_option("--out", wanted->out,
                   "Save the outputs in this directory as output0.npy, output1.npy ...")
      ->type_name("DIR");
  verb->add_option("--device", wanted->device,
                   "cpu or cuda:N; by default HEDDLE_DEVICE, else a GPU, else cpu")
      ->type_name("DEVICE");
  verb->add_option("--random", wanted->inputs.seed,
                   "Fill missing inputs with random numbers from this seed: floats in [0, 1), "
                   "integers in [0, 100)")
      ->type_name("SEED");
  verb->add_option("--size", wanted->inputs.sizes, "Extents of random inputs, for instance n=1000")
      ->delimiter(',')
      ->type_name("NAME=EXTENT");
  verb->add_option("--repeat", wanted->repeat, "Run N more times, and print how long a run takes")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  verb->add_flag("--profile", wanted->profile,
                 "Print where the time goes: compiling, launching, and each kernel on its device");
  verb->add_option("--trace", wanted->trace,
                   "Save the profile for chrome://tracing and ui.perfetto.dev")
      ->type_name("FILE.json");
  verb->add_flag("--json", wanted->json,
                 "Print device, kernels and times as JSON, without the outputs");
  wanted->modes.add_to(*verb);
  verb->callback([&action, wanted] { action = [wanted] { return run(*wanted); }; });
}

}  // namespace heddle::cli

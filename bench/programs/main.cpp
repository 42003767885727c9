#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/programs/measure.h"
#include "bench/programs/numpy.h"
#include "runtime/cuda/driver.h"
#include "runtime/device/backend.h"
#include "runtime/device/device.h"
#include "runtime/device/memory.h"

// Times the programs of the performance page on one device, checks them, and compares them with the
// memory bandwidth measured in the same run; on the CPU also with NumPy. With --serve, bench/peers
// decides what to time, and when.

namespace heddle::bench {
namespace {

struct Options {
  std::string device, only, json, first_call;
  std::int64_t scale = 0;  ///< 0: choose by the device
  double batch_milliseconds = 20;
  bool no_numpy = false, serve = false;

  double batch_seconds() const { return batch_milliseconds / 1e3; }
};

std::string commit() {
  std::ifstream file(HEDDLE_SOURCE_FOLDER "/.commit");
  std::string text;
  return std::getline(file, text) ? text : "unknown";
}

nlohmann::json machine(const Ceilings& ceilings) {
  const runtime::Device device = runtime::current_device();
  return {{"commit", commit()},
          {"device", runtime::to_string(device)},
          {"name", runtime::facts_of(device).name},
          {"target", to_string(runtime::target_of(device))},
          {"driver_cuda", runtime::cuda::driver_version()},
          {"copy_gigabytes_per_second", ceilings.copy / 1e9},
          {"kernel_copy_gigabytes_per_second", ceilings.kernel_copy / 1e9},
          {"read_gigabytes_per_second", ceilings.read / 1e9}};
}

struct Row {
  const Case& program;
  Measurement measured;
  double over_copy = 0, over_read = 0;  ///< 0 if not limited by memory
  double numpy = 0;                     ///< microseconds; 0: not measured
};

void print(const Row& row) {
  const auto ratio = [](double value) {
    return value > 0 ? fmt::format("{:.2f}", value) : std::string("-");
  };
  fmt::print("{:<28} {:>12.1f} {:>7} {:>7} {:>8} {:>11.1f} {:>9.1e} {}", row.program.name,
             row.measured.microseconds, ratio(row.over_copy), ratio(row.over_read),
             row.measured.kernels, static_cast<double>(row.measured.peak_bytes) / (1 << 20),
             row.measured.error, row.measured.correct ? "ok" : "WRONG");
  if (row.numpy > 0)
    fmt::print("  {:>12.1f} {:>6.1f}x", row.numpy, row.numpy / row.measured.microseconds);
  fmt::print("\n");
  std::fflush(stdout);
}

nlohmann::json json_of(const Row& row) {
  nlohmann::json json{{"name", row.program.name},
                      {"microseconds", row.measured.microseconds},
                      {"shapes", nlohmann::json::array()},
                      {"kernels", row.measured.kernels},
                      {"fewest_bytes", row.program.fewest_bytes},
                      {"peak_bytes", row.measured.peak_bytes},
                      {"error", row.measured.error},
                      {"tolerance", row.program.tolerance},
                      {"correct", row.measured.correct}};
  for (const Input& input : row.program.inputs) json["shapes"].push_back(input.shape);
  if (row.over_copy > 0) json["over_copy_ceiling"] = row.over_copy;
  if (row.over_read > 0) json["over_read_ceiling"] = row.over_read;
  if (row.numpy > 0) json["numpy_microseconds"] = row.numpy;
  return json;
}

Row measured_row(const Case& program, const Prepared& prepared, const Ceilings& ceilings,
                 double seconds) {
  Row row{program, prepared.measure(seconds)};
  const auto bytes = static_cast<double>(program.fewest_bytes);
  if (bytes > 0) row.over_copy = row.measured.microseconds / (bytes / ceilings.copy * 1e6);
  if (program.mostly_reads)
    row.over_read = row.measured.microseconds / (bytes / ceilings.read * 1e6);
  return row;
}

int print_table(const Options& options, const std::vector<Case>& cases, bool on_cpu) {
  const Ceilings ceilings = measure_ceilings(on_cpu);
  nlohmann::json report = machine(ceilings);
  fmt::print("{} ({}): copy {:.0f} GB/s, copy by a kernel {:.0f}, read {:.0f}\n", device(),
             runtime::facts_of(runtime::current_device()).name, ceilings.copy / 1e9,
             ceilings.kernel_copy / 1e9, ceilings.read / 1e9);
  fmt::print("{:<28} {:>12} {:>7} {:>7} {:>8} {:>11} {:>9}{}\n", "program", "us a call", "/copy",
             "/read", "kernels", "peak MiB", "error",
             on_cpu && !options.no_numpy ? "          NumPy us" : "");
  std::map<std::string, double> numpy;
  if (on_cpu && !options.no_numpy) numpy = numpy_times(cases, options.scale);
  bool correct = true;
  for (const Case& program : cases) {
    Row row = measured_row(program, Prepared(program), ceilings, options.batch_seconds());
    if (numpy.count(program.name) != 0) row.numpy = numpy.at(program.name);
    correct &= row.measured.correct;
    print(row);
    report["programs"].push_back(json_of(row));
  }
  if (!options.json.empty()) std::ofstream(options.json) << report.dump(1) << '\n';
  return correct ? 0 : 1;
}

const Case& case_named(const std::vector<Case>& cases, const std::string& name) {
  for (const Case& program : cases) {
    if (program.name == name) return program;
  }
  throw std::invalid_argument("bench_programs has no program of that name");
}

/// Answers each line of standard input, a program's name, with a line of JSON: its measurements, or
/// the reason why there are none. The first output line describes the machine. If a program is
/// named again, it is only timed again.
int serve(const std::vector<Case>& cases, bool on_cpu, double seconds) {
  const Ceilings ceilings = measure_ceilings(on_cpu);
  std::cout << machine(ceilings).dump() << std::endl;
  std::string name;
  std::optional<Prepared> prepared;
  const Case* program = nullptr;
  while (std::getline(std::cin, name)) {
    nlohmann::json answer;
    try {
      if (program == nullptr || program->name != name) {
        prepared.reset();
        program = nullptr;
        prepared.emplace(case_named(cases, name));
        program = &case_named(cases, name);
      }
      answer = json_of(measured_row(*program, *prepared, ceilings, seconds));
    } catch (const std::exception& error) {
      answer = {{"reason", error.what()}};
    }
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}

int run(Options options) {
  if (!options.device.empty()) set_device(options.device);
  const bool on_cpu = runtime::capabilities_of(runtime::current_device()).host_memory;
  if (options.scale == 0) options.scale = on_cpu ? 4 : 1;
  const std::vector<Case> all = all_cases(options.scale);
  if (options.serve) return serve(all, on_cpu, options.batch_seconds());
  if (!options.first_call.empty()) {
    const FirstCall first = time_first_call(case_named(all, options.first_call));
    fmt::print("{}\n", nlohmann::json{{"milliseconds", first.milliseconds},
                                      {"nvrtc_loaded", first.nvrtc_loaded}}
                           .dump());
    return 0;
  }
  std::vector<Case> cases;
  for (const Case& program : all) {
    if (program.name.find(options.only) != std::string::npos) cases.push_back(program);
  }
  return print_table(options, cases, on_cpu);
}

}  // namespace
}  // namespace heddle::bench

int main(int argc, char** argv) {
  heddle::bench::Options options;
  CLI::App app("Times Heddle on the programs of the performance page.");
  app.add_option("--device", options.device,
                 "cpu or cuda:N; by default HEDDLE_DEVICE, else a GPU, else cpu");
  app.add_option("--only", options.only, "Only programs whose name contains this");
  app.add_option("--json", options.json, "Also write the figures to this file");
  app.add_flag("--no-numpy", options.no_numpy, "On the CPU: do not time NumPy");
  app.add_option("--scale", options.scale,
                 "Divides the sides of matrices by N and long axes by N*N; by default 1 on a GPU, "
                 "4 on the CPU")
      ->check(CLI::PositiveNumber);
  app.add_option("--batch-milliseconds", options.batch_milliseconds,
                 "Target time of a batch of calls (20)")
      ->check(CLI::PositiveNumber);
  app.add_flag("--serve", options.serve,
               "Time the programs whose names are read from standard input");
  app.add_option("--first-call", options.first_call,
                 "Time only the first call of the program of this name");
  CLI11_PARSE(app, argc, argv);
  try {
    return heddle::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_programs: {}\n", error.what());
    return 1;
  }
}

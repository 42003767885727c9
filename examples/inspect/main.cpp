// Reads what became of a program: its kernels and their memory traffic, its CUDA, and a profile.
//
// The program smooths a table along its rows, standardizes the columns, and multiplies by weights.
// The names of its operations and lines are in the texts that are only measured here: print them to
// read all of it.

#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include <heddle/heddle.h>

#include "../example.h"

namespace hd = heddle;

namespace {

hd::Array layer(const hd::Array& table, const hd::Array& weights) {
  const hd::Array smooth = (table(hd::_, hd::slice(-2)) + 2 * table(hd::_, hd::slice(1, -1)) +
                            table(hd::_, hd::slice(2, hd::none))) /
                           4;
  const hd::Array centered = smooth - hd::mean(smooth, 0);
  const hd::Array deviation = hd::sqrt(hd::mean(centered * centered, 0) + 1e-6);
  return hd::tanh(hd::matmul(centered / deviation, weights) + 0.1);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void run(const Options& options) {
  const auto jitted = hd::jit(layer, {.name = "layer"});
  const hd::Array place = hd::arange(options.size * 258).astype<float>();
  const hd::Array table = hd::sin(0.37 * place.reshape({options.size, 258}));
  const hd::Array weights = hd::cos(hd::arange(256 * 64).astype<float>()).reshape({256, 64}) / 16;
  hd::eval({table, weights});

  // The whole text also says why there is more than one kernel. ExplainForm::html is a page with
  // sources.
  const std::vector<std::string> explained = lines_of(jitted.explain(table, weights));
  std::printf("%s\n", explained[0].c_str());
  for (const std::string& line : explained) {
    if (line.starts_with("bytes moved")) std::printf("%s\n", line.c_str());
  }

  // What an H100 would run can be read without one. host() is what this processor runs.
  int kernels = 0;
  for (const std::string& line : lines_of(jitted.cuda(table, weights))) {
    kernels += line.find("__global__") != std::string::npos;
  }
  std::printf("CUDA kernels: %d\n", kernels);

  hd::Array result = jitted(table, weights).eval();  // the first call compiles
  const hd::Profile profile;
  for (std::int64_t i = 0; i < options.steps; ++i) result = jitted(table, weights).eval();
  hd::synchronize();
  // profile.table() has times, and profile.save_trace(path) what chrome://tracing shows.
  std::vector<hd::KernelLaunch> launches;
  for (const hd::ProfileEvent& event : profile.events()) {
    if (event.launch) launches.push_back(*event.launch);
  }
  std::vector<std::int64_t> bytes;
  for (std::size_t i = 0; i < launches.size() / static_cast<std::size_t>(options.steps); ++i) {
    bytes.push_back(launches[i].bytes.value_or(0));
    std::printf("  %s: %lld bytes\n", launches[i].kernel.c_str(),
                static_cast<long long>(bytes.back()));
  }
  std::printf("launches: %zu\n", launches.size());
  std::printf("mean %.4f, deviation %.4f\n", result.mean().item<double>(),
              result.std().item<double>());
  if (!options.out.empty()) hd::save(options.out, hd::array(bytes));
}

}  // namespace

int main(int argc, char** argv) {
  return run_example(argc, argv, {.size = 2048, .steps = 20}, run);
}

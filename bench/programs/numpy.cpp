#include "bench/programs/numpy.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "runtime/base/process.h"
#include "runtime/base/temporary_folder.h"

namespace heddle::bench {

namespace {

std::string python() {
  if (const char* named = std::getenv("HEDDLE_BENCH_PYTHON"); named != nullptr) return named;
  const std::filesystem::path own = HEDDLE_SOURCE_FOLDER "/.venv/bin/python";
  return std::filesystem::exists(own) ? own.string() : "python3";
}

}  // namespace

std::map<std::string, double> numpy_times(const std::vector<Case>& cases, std::int64_t scale) {
  const runtime::TemporaryFolder folder;
  const std::string answer = folder.path() + "/times.json";
  std::vector<std::string> command{"sh",
                                   "-c",
                                   "PYTHONPATH='" HEDDLE_SOURCE_FOLDER "/bench' \"$@\" >\"$0\"",
                                   answer,
                                   python(),
                                   "-m",
                                   "peers.numpy_times",
                                   std::to_string(scale)};
  for (const Case& program : cases) command.push_back(program.name);
  const runtime::ProcessResult run = runtime::run_process(command);
  if (run.status != 0) throw std::runtime_error("NumPy cannot be timed: " + run.output);
  std::ifstream file(answer);
  return nlohmann::json::parse(std::string(std::istreambuf_iterator<char>(file), {}))
      .get<std::map<std::string, double>>();
}

}  // namespace heddle::bench

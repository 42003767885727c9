#include "bench/programs/numpy.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "runtime/process.h"

namespace heddle::bench {

namespace {

std::string python() {
  if (const char* named = std::getenv("HEDDLE_BENCH_PYTHON"); named != nullptr) return named;
  const std::filesystem::path own = HEDDLE_SOURCE_FOLDER "/.venv/bin/python";
  return std::filesystem::exists(own) ? own.string() : "python3";
}

}  // namespace

std::map<std::string, double> numpy_times(const std::vector<Case>& cases) {
  nlohmann::json wanted = nlohmann::json::array();
  for (const Case& program : cases) {
    nlohmann::json entry{{"name", program.name},
                         {"shapes", nlohmann::json::array()},
                         {"ranges", nlohmann::json::array()}};
    for (const Input& input : program.inputs) {
      entry["shapes"].push_back(input.shape);
      entry["ranges"].push_back({input.low, input.high});
    }
    wanted.push_back(std::move(entry));
  }
  const runtime::TemporaryFolder folder;
  const std::string request = folder.path() + "/cases.json", answer = folder.path() + "/times.json";
  std::ofstream(request) << wanted.dump();
  const std::string command = "'" + python() +
                              "' '" HEDDLE_SOURCE_FOLDER "/bench/programs/numpy_times.py' <'" +
                              request + "' >'" + answer + "'";
  const runtime::ProcessResult run = runtime::run_process({"sh", "-c", command});
  if (run.status != 0) throw std::runtime_error("NumPy cannot be timed: " + run.output);
  std::ifstream file(answer);
  const auto times = nlohmann::json::parse(std::string(std::istreambuf_iterator<char>(file), {}));
  return times.at("microseconds").get<std::map<std::string, double>>();
}

}  // namespace heddle::bench

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <map>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/cases/check.h"
#include "tests/fuzz/coverage.h"
#include "tests/fuzz/generate.h"
#include "tests/fuzz/shrink.h"

namespace heddle::test {
namespace {

constexpr std::size_t batch_size = 128;
constexpr int failures_shown = 3;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

ir::Target fuzz_target() { return ir::parse_target("sm_90:h200"); }

/// Emulated graphs take long, and on a GPU they are superfluous. Optimization takes most of a
/// compiler's time: every second graph is compiled without it.
std::vector<Way> ways_of(std::uint64_t number) {
  const bool optimized = number % 2 == 0;
  std::vector<Way> ways = {Way::interpreter, optimized ? Way::host : Way::host_quick,
                           Way::host_off};
  if (tests_on_gpu()) {
    ways.push_back(Way::device);
  } else if (number % 6 == 0) {
    ways.push_back(Way::emulated);
  }
  if (number % 64 == 0) ways.push_back(Way::executable);
  return ways;
}

void report(const Case& one, const Finding& finding, const std::string& label,
            const ir::Target& target) {
  const std::vector<Way> ways = {Way::interpreter, finding.way};
  const Case small = shrink(
      one,
      [&](const Case& smaller) {
        const std::optional<Finding> again = check_alone(smaller, ways, target);
        return again && again->way == finding.way;
      },
      150);
  const std::optional<Finding> last = check_alone(small, ways, target);
  const std::string text =
      fmt::format("// {}: {}\n{}", label, name_of(finding.way), to_text(small));
  const std::filesystem::path folder = std::filesystem::path(HEDDLE_BINARY_FOLDER) / "fuzz";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / (label + ".hd")) << text;
  FAIL_CHECK(label << " fails, " << name_of(finding.way) << ":\n"
                   << finding.message << "\nSmallest form, for tests/fuzz/kept:\n"
                   << text << "It fails so:\n"
                   << (last ? last->message : "not by itself"));
  std::cout.flush();  // a time limit must not swallow it
}

/// Of elements of outputs, how many have no definite value.
struct Openness {
  std::size_t elements = 0, open = 0;
  void add(const CheckedBatch& checked) {
    for (const CheckedBatch::Share& share : checked.shares()) {
      elements += share.elements;
      open += share.ambiguous;
    }
  }
};

bool has_factors(const ir::Graph& graph) {
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.op_name(ir::ValueId(i)).starts_with("linalg.")) return true;
  }
  return false;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST_CASE("graphs that once failed") {
  std::vector<Case> cases;
  std::vector<std::string> names;
  for (const auto& file :
       std::filesystem::directory_iterator(HEDDLE_SOURCE_FOLDER "/tests/fuzz/kept")) {
    if (file.path().extension() != ".hd") continue;
    std::ifstream stream(file.path());
    std::stringstream text;
    text << stream.rdbuf();
    cases.push_back(parse_case(text.str()));
    names.push_back(file.path().filename().string());
  }
  CheckedBatch batch(cases, std::vector<std::vector<Way>>(cases.size(), ways_of(0)), fuzz_target());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::optional<Finding> finding = batch.check(i);
    CHECK_MESSAGE(!finding, names[i] << ", " << (finding ? name_of(finding->way) : "") << ": "
                                     << (finding ? finding->message : ""));
  }
}

/// HEDDLE_FUZZ_SEED makes other graphs; HEDDLE_FUZZ_FIRST and HEDDLE_FUZZ_COUNT pick some of them.
TEST_CASE("random graphs") {
  const std::uint64_t seed = number_from("HEDDLE_FUZZ_SEED", 1);
  const std::uint64_t begin = number_from("HEDDLE_FUZZ_FIRST", 0);
  const std::uint64_t count = begin + number_from("HEDDLE_FUZZ_COUNT", 2304);
  const ir::Target target = fuzz_target();
  Coverage coverage;
  std::size_t elements = 0, ambiguous = 0, switched = 0, other_kernels = 0;
  Openness with_factors;
  std::map<Way, std::size_t> runs;
  int failures = 0;
  double waited = 0, checked = 0;

  const auto make = [&](std::uint64_t first) {
    std::vector<Case> cases;
    std::vector<std::vector<Way>> ways;
    for (std::uint64_t i = first; i < std::min(first + batch_size, count); ++i) {
      cases.push_back(random_case(seed * 1'000'000 + i));
      ways.push_back(ways_of(i));
    }
    return std::make_unique<CheckedBatch>(std::move(cases), std::move(ways), target);
  };
  auto next = std::async(std::launch::async, make, begin);
  for (std::uint64_t first = begin; first < count; first += batch_size) {
    const auto start = std::chrono::steady_clock::now();
    const std::unique_ptr<CheckedBatch> batch = next.get();
    waited += seconds_since(start);
    if (first + batch_size < count) next = std::async(std::launch::async, make, first + batch_size);
    const auto ready = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < batch->size(); ++i) {
      coverage.count(batch->at(i));
      for (const Way way : ways_of(first + i)) {
        ++runs[way];
        if (way == Way::emulated || way == Way::device)
          coverage.count_lowered(batch->at(i), target);
      }
      const std::optional<Finding> finding = batch->check(i);
      if (has_factors(batch->at(i).graph)) with_factors.add(*batch);
      if (!finding) continue;
      const std::string label = fmt::format("graph {} of seed {}", first + i, seed);
      if (++failures <= failures_shown) {
        report(batch->at(i), *finding, label, target);
      } else {
        FAIL_CHECK(label << " fails, " << name_of(finding->way) << ": " << finding->message);
      }
    }
    checked += seconds_since(ready);
    elements += batch->elements();
    ambiguous += batch->ambiguous();
    switched += batch->cases_switched();
    other_kernels += batch->cases_with_other_kernels();
  }
  fmt::print("{}", coverage.table());
  for (const auto& [way, count] : runs) fmt::print("{}: {} graphs; ", name_of(way), count);
  fmt::print(
      "{} of {} elements have no definite value, {} of {} in graphs with factors of matrices; "
      "switches changed the kernels of {} of {} graphs; {:.0f} s of checks, {:.0f} s waiting for "
      "compilers\n",
      ambiguous, elements, with_factors.open, with_factors.elements, other_kernels, switched,
      checked, waited);
  // One graph in six is lowered for a GPU.
  constexpr std::size_t whole_run = 2000, least = 50, least_lowered = 4, least_emulated = 300,
                        least_loops = 500, least_control = 25, least_optimized = 1000;
  if (coverage.graphs() < whole_run) return;
  const std::vector<std::string> rare = coverage.rarer_than(least, least_lowered, least_control);
  CHECK_MESSAGE(rare.empty(), "in too few graphs: " << fmt::format("{}", fmt::join(rare, ", ")));
  CHECK(runs[tests_on_gpu() ? Way::device : Way::emulated] >= least_emulated);
  CHECK(runs[Way::host] >= least_optimized);
  CHECK(coverage.with_loops() >= least_loops);
}

}  // namespace
}  // namespace heddle::test

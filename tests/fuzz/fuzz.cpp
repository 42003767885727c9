#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "heddle/error.h"

#include "runtime/nvrtc.h"
#include "tests/cases/check.h"
#include "tests/fuzz/generate.h"
#include "tests/fuzz/shrink.h"

namespace heddle::test {
namespace {

constexpr std::size_t batch_size = 64;
constexpr int failures_shown = 5;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

ir::Target fuzz_target() { return ir::parse_target("sm_90:h200"); }

/// How many graphs an op stands in.
class Coverage {
 public:
  void count(const ir::Graph& graph) {
    ++graphs_;
    const std::vector<bool> needed = needed_nodes(graph);
    std::vector<bool> seen(ir::op_count);
    for (std::size_t i = 0; i < graph.size(); ++i) {
      if (needed[i]) seen[static_cast<std::size_t>(graph.op(ir::ValueId(i)))] = true;
    }
    for (int op = 0; op < ir::op_count; ++op) {
      if (seen[static_cast<std::size_t>(op)]) ++counts_[op];
    }
  }

  void print() const {
    std::string text = fmt::format("ops of {} random graphs:", graphs_);
    for (int op = 0; op < ir::op_count; ++op) {
      text += op % 5 == 0 ? "\n " : "";
      text += fmt::format(" {:>16} {:<5}", ir::info(static_cast<ir::Op>(op)).name, of(op));
    }
    fmt::print("{}\n", text);
  }

  std::size_t of(int op) const {
    const auto found = counts_.find(op);
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  std::size_t graphs_ = 0;
  std::map<int, std::size_t> counts_;
};

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
                   << (last ? last->message : finding.message)
                   << "\nSmallest form, for tests/fuzz/kept:\n"
                   << text);
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
  const std::vector<Way> ways = {Way::interpreter, Way::host, Way::host_off, Way::emulated};
  CheckedBatch batch(cases, std::vector<std::vector<Way>>(cases.size(), ways), fuzz_target());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::optional<Finding> finding = batch.check(i);
    CHECK_MESSAGE(!finding, names[i] << ", " << (finding ? name_of(finding->way) : "") << ": "
                                     << (finding ? finding->message : ""));
  }
}

TEST_CASE("random graphs") {
  const std::uint64_t seed = number_from("HEDDLE_FUZZ_SEED", 1);
  const std::uint64_t begin = number_from("HEDDLE_FUZZ_FIRST", 0);
  const std::uint64_t count = begin + number_from("HEDDLE_FUZZ_COUNT", 2048);
  const ir::Target target = fuzz_target();
  Coverage coverage;
  std::size_t elements = 0, ambiguous = 0, switched = 0, other_kernels = 0;
  int failures = 0;
  double waited = 0, checked = 0;

  const auto make = [&](std::uint64_t first) {
    std::vector<Case> cases;
    std::vector<std::vector<Way>> ways;
    for (std::uint64_t i = first; i < std::min(first + batch_size, count); ++i) {
      cases.push_back(random_case(seed * 1'000'000 + i));
      ways.push_back({Way::interpreter, Way::host, Way::host_off});
      if (i % 6 == 0) ways.back().push_back(Way::emulated);
      if (i % 64 == 0) ways.back().push_back(Way::executable);
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
      coverage.count(batch->at(i).graph);
      const std::optional<Finding> finding = batch->check(i);
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
  coverage.print();
  fmt::print(
      "{} of {} elements have no definite value; switches changed the kernels of {} of {} "
      "graphs; {:.0f} s of checks, {:.0f} s waiting for compilers\n",
      ambiguous, elements, other_kernels, switched, checked, waited);
}

}  // namespace
}  // namespace heddle::test

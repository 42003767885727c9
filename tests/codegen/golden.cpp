#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include <doctest/doctest.h>

#include "codegen/common/printers.h"
#include "tests/passes/plans.h"
#include "tests/passes/programs.h"

// The kernels of tests/codegen/golden/ are what a person reads and approves: a change of the
// printers or the planners that shows there is looked at. To take the new texts over, run
//   HEDDLE_UPDATE_GOLDEN=1 test_codegen --test-case='printed kernels*'
// and review the difference.

using namespace heddle;
using namespace heddle::test;

namespace {

namespace fs = std::filesystem;

/// The bodies of a program's kernels, without the library's sections and the hash in their names,
/// both of which change with texts that are not shown.
std::string kernels_of(const char* program, const char* target) {
  std::string text;
  const passes::PlannedProgram planned = plan(program, target);
  for (const passes::KernelPlan& kernel : planned.kernels) {
    const bool host = ir::parse_target(target).kind == ir::TargetKind::host;
    const codegen::KernelSource source =
        host ? codegen::print_host(kernel) : codegen::print_cuda(kernel);
    text += "// sections:";
    for (const std::string& section : source.sections) text += ' ' + section;
    const std::string stem = source.name.substr(0, source.name.rfind('_'));
    text += '\n' + std::regex_replace(source.body, std::regex(source.name), stem + "_HASH") + '\n';
  }
  return text;
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("printed kernels are as they were approved") {
  struct Golden {
    const char* file;
    const char* program;
    const char* target;
  };
  const Golden all[] = {
      {"pointwise_chain_cuda.txt", pointwise_chain, cuda_target},
      {"pointwise_chain_host.txt", pointwise_chain, host_target},
      {"softmax_cuda.txt", softmax, cuda_target},
      {"softmax_host.txt", softmax, host_target},
      {"scan_in_company_cuda.txt", scan_in_company, cuda_target},
      {"scan_in_company_host.txt", scan_in_company, host_target},
      {"long_scan_cuda.txt", long_scan, cuda_target},
      {"scan_of_columns_cuda.txt", scan_of_columns, cuda_target},
      {"scan_of_columns_host.txt", scan_of_columns, host_target},
      {"transposed_cuda.txt", transposed, cuda_target},
      {"sum_of_all_cuda.txt", sum_of_all, cuda_target},
      {"concatenate_computed_host.txt", concatenate_computed, host_target},
  };
  const char* update = std::getenv("HEDDLE_UPDATE_GOLDEN");
  for (const auto& [file, program, target] : all) {
    CAPTURE(file);
    const fs::path path = fs::path(HEDDLE_SOURCE_FOLDER) / "tests/codegen/golden" / file;
    const std::string text = kernels_of(program, target);
    if (update != nullptr && std::string_view(update) == "1") {
      std::ofstream(path, std::ios::binary) << text;
    }
    CHECK(text == read(path));
  }
}

TEST_CASE("the same graph prints the same bytes") {
  for (const char* target : {cuda_target, host_target}) {
    for (const char* program : {layernorm, digits, standardize, update_and_use}) {
      const auto first = plan(program, target), second = plan(program, target);
      REQUIRE(first.kernels.size() == second.kernels.size());
      for (std::size_t i = 0; i < first.kernels.size(); ++i) {
        const bool host = target == host_target;
        const auto a =
            host ? codegen::print_host(first.kernels[i]) : codegen::print_cuda(first.kernels[i]);
        const auto b =
            host ? codegen::print_host(second.kernels[i]) : codegen::print_cuda(second.kernels[i]);
        CHECK(a.text() == b.text());
        CHECK(a.name == b.name);
        CHECK(a.name.starts_with(first.kernels[i].name));
      }
    }
  }
}

TEST_CASE("reshapes within reshapes are spelled in as many lines") {
  const auto length = [](int depth) {
    ir::Graph graph;
    const ir::ValueId other = graph.parameter(DType::f32, {6, 10});
    ir::ValueId value = graph.parameter(DType::f32, {6, 10});
    ir::Attributes flat, turned;
    flat.shape = {10, 6};
    turned.axes = {1, 0};
    for (int i = 0; i < depth; ++i)
      value = graph.add(ir::Op::transpose, {graph.add(ir::Op::reshape, {value}, flat)}, turned);
    graph.outputs = {graph.add(ir::Op::add, {value, other})};
    std::size_t printed = 0;
    for (const char* target : {cuda_target, host_target}) {
      const passes::PlannedProgram planned =
          passes::plan_program(graph, {ir::parse_target(target), {}, {}, {}});
      REQUIRE(planned.kernels.size() == 1);
      const bool host = ir::parse_target(target).kind == ir::TargetKind::host;
      const passes::KernelPlan& kernel = planned.kernels[0];
      printed += (host ? codegen::print_host(kernel) : codegen::print_cuda(kernel)).body.size();
      printed += to_string(kernel).size();
    }
    return printed;
  };
  const std::size_t five = length(5), ten = length(10), forty = length(40);
  CAPTURE(five);
  CAPTURE(ten);
  CAPTURE(forty);
  CHECK(forty - ten <= 7 * (ten - five));
}

#include "runtime/report/report.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "heddle/error.h"

#include "codegen/common/source_lines.h"
#include "runtime/compile/compile.h"
#include "runtime/compile/make_modules.h"

namespace heddle::runtime {

namespace {

using codegen::KernelSource;
using passes::Report;
using passes::ReportKernel;

void add_sources(Report& report, const passes::PlannedProgram& planned,
                 const std::vector<KernelSource>& sources) {
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  for (const ir::PrintedNode& node : ir::print_nodes(planned.graph))
    numbers[index_of(node.id)] = node.number;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    ReportKernel& kernel = report.kernels[i];
    kernel.source = sources[i].text();
    kernel.body = codegen::body_line(sources[i]);
    for (const codegen::LineNode& line : codegen::source_lines(sources[i], planned.kernels[i])) {
      const auto number = numbers.find(index_of(line.node));
      if (number != numbers.end()) kernel.lines.push_back({line.line, number->second});
    }
  }
}

/// Adds the source lines that nodes refer to, from files readable on this machine.
void add_user_lines(Report& report) {
  std::map<std::string, std::set<std::uint32_t>> wanted;
  for (const passes::ReportGraph& graph : report.graphs) {
    for (const passes::ReportNode& node : graph.nodes) {
      if (node.location.file != nullptr) wanted[node.location.file].insert(node.location.line);
    }
  }
  for (const auto& [path, lines] : wanted) {
    std::ifstream file(path);
    std::string text;
    for (std::uint32_t number = 1; number <= *lines.rbegin() && std::getline(file, text); ++number)
      if (lines.contains(number)) report.user_lines.push_back({path, number, text});
  }
}

/// Removes duplicate kernels: several steps may launch the same kernel.
std::vector<KernelSource> distinct(const std::vector<KernelSource>& sources) {
  std::vector<KernelSource> once;
  std::set<std::string> known;
  for (const KernelSource& source : sources) {
    if (known.insert(source.name).second) once.push_back(source);
  }
  return once;
}

void add_machine_code(Report& report, const std::vector<KernelSource>& sources,
                      const CompileOptions& options) {
  const KernelCompiler& compiler = compiler_of(report.target);
  const std::vector<ModuleImage> images =
      make_modules(distinct(sources), options, report.target, Lookup::cached);
  report.compiler = compiler.title();
  std::unordered_map<std::string, const ModuleImage*> image_of;
  for (const ModuleImage& image : images) {
    for (const std::string& kernel : image.kernels) image_of[kernel] = &image;
  }
  for (ReportKernel& kernel : report.kernels) {
    const ModuleImage& image = *image_of.at(kernel.name);
    kernel.module = image.entry;
    kernel.resources = compiler.resources(image, kernel.name);
    if (!kernel.resources) report.no_resources = compiler.describe_no_resources(report.target);
  }
}

/// Adds machine code information, or the reason why there is none.
void try_machine_code(Report& report, const std::vector<KernelSource>& sources,
                      const CompileOptions& options) {
  if (sources.empty()) {
    report.no_resources = "The program has no kernels of its own.";
  } else if (compiling_is_forbidden()) {
    report.no_resources = "Registers and memory are not known: HEDDLE_NO_COMPILE=1.";
  } else {
    try {
      add_machine_code(report, sources, options);
    } catch (const Error& error) {
      report.no_resources = fmt::format("Registers and memory are not known: {}", error.what());
    }
  }
}

}  // namespace

Report report_program(const ir::Graph& graph, const CompileOptions& requested,
                      const ir::Target& target, Detail detail) {
  const CompileOptions options = with_environment(requested);
  passes::Reporter reporter(graph);
  const passes::PlanOptions plan = plan_options(options, target);
  passes::PlannedProgram planned = plan_kernels(graph, plan, reporter.observer());
  const std::vector<KernelSource> sources = print_kernels(planned, target);
  Report report = reporter.report(planned, plan);
  add_sources(report, planned, sources);
  add_user_lines(report);
  if (detail == Detail::compiled) try_machine_code(report, sources, options);
  return report;
}

}  // namespace heddle::runtime

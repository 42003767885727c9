#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "heddle/error.h"

#include "codegen/page/page.h"
#include "frontend/cli/command.h"
#include "frontend/cli/inputs.h"
#include "runtime/device/stream.h"
#include "runtime/report/report.h"

namespace heddle::cli {

namespace {

struct ExplainOptions {
  std::string program, target, html;
  bool json = false, dot = false, run = false;
  int repeat = 20;
  InputOptions inputs;
  Modes modes;
};

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw FileError(fmt::format("{}: cannot be written", path));
}

passes::Report report_of(const ExplainOptions& wanted, const ir::Graph& graph) {
  const runtime::CompileOptions modes = wanted.modes.options(graph);
  const bool shows_code = wanted.json || !wanted.html.empty() || wanted.run;
  passes::Report report =
      runtime::report_program(graph, modes, chosen_target(wanted.target),
                              shows_code ? runtime::Detail::compiled : runtime::Detail::plan);
  for (const std::string& size : wanted.inputs.sizes) report.symbols.push_back(parse_size(size));
  if (wanted.run) {
    const std::vector<runtime::Argument> arguments = make_arguments(graph, wanted.inputs);
    runtime::Stream stream = runtime::Stream::current(runtime::current_device());
    runtime::add_run(report, graph, modes, arguments, stream, wanted.repeat);
  }
  return report;
}

int explain(const ExplainOptions& wanted) {
  if (!wanted.run && (!wanted.inputs.given.empty() || wanted.inputs.seed))
    throw ValueError("inputs are only used by explain --run, which runs the program");
  const ir::Graph graph = read_program(wanted.program);
  const passes::Report report = report_of(wanted, graph);
  if (!wanted.html.empty()) write_text(wanted.html, codegen::to_html(report));
  if (wanted.json) {
    fmt::print("{}", passes::to_json(report));
  } else if (wanted.dot) {
    fmt::print("{}", passes::to_dot(report));
  } else if (!wanted.html.empty()) {
    fmt::print("{}\n", wanted.html);
  } else {
    fmt::print("{}", passes::to_text(report));
  }
  return 0;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  const auto wanted = std::make_shared<ExplainOptions>();
  CLI::App* verb = app.add_subcommand("explain",
                                      "Explain a program: passes, groups, fusion barriers with "
                                      "reasons, kernels, memory, bytes moved");
  verb->add_option("program", wanted->program, "A graph in text form; - is standard input")
      ->required()
      ->type_name("PROGRAM.hd");
  verb->add_option(
          "inputs", wanted->inputs.given,
          "With --run: inputs in order, a .npy file for an array, a number for a scalar parameter")
      ->type_name("INPUTS");
  CLI::Option* const target =
      verb->add_option("--target", wanted->target,
                       "The target: sm_90, sm_90:h200, x86-64-v3 ..., or a target's full text; by "
                       "default this machine's device")
          ->type_name("TARGET");
  CLI::Option* const json = verb->add_flag("--json", wanted->json, "Print one JSON object");
  verb->add_flag("--dot", wanted->dot, "Print the graph after the passes for Graphviz")
      ->excludes(json);
  verb->add_option("--html", wanted->html,
                   "Write an HTML page that needs no network, and print its name")
      ->type_name("FILE");
  verb->add_flag("--run", wanted->run,
                 "Also run the program on this machine's device, and show how long each step takes")
      ->excludes(target);
  verb->add_option("--repeat", wanted->repeat,
                   "Number of runs for --run, which reports the median; 20 by default")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  verb->add_option("--random", wanted->inputs.seed,
                   "Fill missing inputs with random numbers from this seed: floats in [0, 1), "
                   "integers in [0, 100)")
      ->type_name("SEED");
  verb->add_option("--size", wanted->inputs.sizes,
                   "Values of symbols, used in expressions and as extents of random inputs: n=1000")
      ->delimiter(',')
      ->type_name("NAME=EXTENT");
  wanted->modes.add_to(*verb);
  verb->callback([&action, wanted] { action = [wanted] { return explain(*wanted); }; });
}

}  // namespace heddle::cli

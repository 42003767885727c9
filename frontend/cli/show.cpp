#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"

#include "frontend/cli/command.h"
#include "passes/pipeline/pipeline.h"
#include "runtime/device/device.h"

namespace heddle::cli {

namespace {

struct ShowOptions {
  std::string program, target, after;
  Modes modes;
};

/// The same for CUDA text; a machine without a GPU shows it for sm_90.
ir::Target chosen_cuda_target(const std::string& name) {
  return name.empty() ? runtime::shown_target("cuda") : chosen_target(name);
}

ir::Graph graph_after(const ir::Graph& graph, const ShowOptions& shown) {
  const runtime::CompileOptions modes = shown.modes.options(graph);
  const passes::PlanOptions options{chosen_target(shown.target), modes.donated, {}, modes.disabled};
  std::optional<ir::Graph> wanted;
  passes::run_graph_passes(graph, options,
                           [&](const passes::GraphPass& pass, bool, const ir::Graph& after) {
                             if (pass.name == shown.after) wanted = after;
                           });
  if (wanted) return *std::move(wanted);
  std::vector<std::string_view> names;
  for (const passes::GraphPass& pass : passes::graph_passes()) names.push_back(pass.name);
  throw ValueError(fmt::format("there is no pass '{}'; the passes are, in order, {}", shown.after,
                               fmt::join(names, ", ")));
}

CLI::App* add_verb(CLI::App& app, const char* name, const char* description,
                   const std::shared_ptr<ShowOptions>& shown) {
  CLI::App* verb = app.add_subcommand(name, description);
  verb->add_option("program", shown->program, "A graph in text form; - is standard input")
      ->required()
      ->type_name("PROGRAM.hd");
  verb->add_option("--target", shown->target,
                   "The target: sm_90, sm_90:h200, x86-64-v3 ..., or a target's full text; by "
                   "default this machine's device")
      ->type_name("TARGET");
  shown->modes.add_to(*verb);
  return verb;
}

}  // namespace

void add_show_verbs(CLI::App& app, Action& action) {
  const auto ir = std::make_shared<ShowOptions>();
  CLI::App* verb = add_verb(app, "ir", "Print the graph, unchanged or after a pass", ir);
  verb->add_option("--after", ir->after, "Print the graph after this pass")->type_name("PASS");
  verb->callback([&action, ir] {
    action = [ir] {
      const ir::Graph graph = read_program(ir->program);
      fmt::print("{}", ir::print(ir->after.empty() ? graph : graph_after(graph, *ir)));
      return 0;
    };
  });

  const auto cuda = std::make_shared<ShowOptions>();
  verb = add_verb(app, "cuda", "Print the generated CUDA C++, or for a host target the host C++",
                  cuda);
  verb->callback([&action, cuda] {
    action = [cuda] {
      const ir::Graph graph = read_program(cuda->program);
      fmt::print("{}", runtime::generated_source(graph, cuda->modes.options(graph),
                                                 chosen_cuda_target(cuda->target)));
      return 0;
    };
  });
}

}  // namespace heddle::cli

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"

#include "frontend/cli/command.h"
#include "passes/pipeline.h"
#include "runtime/device.h"

namespace heddle::cli {

namespace {

struct ShowOptions {
  std::string program, target, after;
  Modes modes;
};

/// The one that was named, else that of the device at hand.
ir::Target chosen_target(const std::string& name) {
  return name.empty() ? runtime::target_of(runtime::current_device()) : ir::parse_target(name);
}

/// The same for CUDA text, which a machine without a GPU shows for sm_90.
ir::Target chosen_cuda_target(const std::string& name) {
  const bool no_gpu = name.empty() && !runtime::current_device().is_cuda();
  return chosen_target(no_gpu ? "sm_90" : name);
}

ir::Graph graph_after(const ir::Graph& graph, const ShowOptions& shown) {
  const auto passes = passes::graph_passes();
  const auto last = std::find_if(passes.begin(), passes.end(), [&](const passes::GraphPass& pass) {
    return pass.name == shown.after;
  });
  if (last == passes.end()) {
    std::vector<std::string_view> names;
    for (const passes::GraphPass& pass : passes) names.push_back(pass.name);
    throw ValueError(fmt::format("there is no pass '{}': the passes are, in order, {}", shown.after,
                                 fmt::join(names, ", ")));
  }
  const runtime::CompileOptions modes = shown.modes.options(graph);
  passes::PlanOptions options{chosen_target(shown.target), modes.donated, {}, modes.disabled};
  ir::Graph current = graph;
  for (const passes::GraphPass& pass :
       passes.first(static_cast<std::size_t>(last - passes.begin()) + 1)) {
    const bool off = std::find(options.disabled.begin(), options.disabled.end(), pass.name) !=
                     options.disabled.end();
    if (!off || pass.required) current = pass.run(current, options);
  }
  return current;
}

CLI::App* add_verb(CLI::App& app, const char* name, const char* description,
                   const std::shared_ptr<ShowOptions>& shown) {
  CLI::App* verb = app.add_subcommand(name, description);
  verb->add_option("program", shown->program, "A graph in text form; - is standard input")
      ->required()
      ->type_name("PROGRAM.hd");
  verb->add_option(
          "--target", shown->target,
          "What to plan for: sm_90, sm_90:h200, x86-64-v3 ..., or a target's full text; by "
          "default the device at hand")
      ->type_name("TARGET");
  shown->modes.add_to(*verb);
  return verb;
}

}  // namespace

void add_show_verbs(CLI::App& app, Action& action) {
  const auto ir = std::make_shared<ShowOptions>();
  CLI::App* verb = add_verb(app, "ir", "Print the graph, as it is or after a pass", ir);
  verb->add_option("--after", ir->after, "The pass to print the graph after")->type_name("PASS");
  verb->callback([&action, ir] {
    action = [ir] {
      const ir::Graph graph = read_program(ir->program);
      fmt::print("{}", ir::print(ir->after.empty() ? graph : graph_after(graph, *ir)));
      return 0;
    };
  });

  const auto cuda = std::make_shared<ShowOptions>();
  verb = add_verb(app, "cuda", "Print the generated CUDA C++; with a host target, the host's C++",
                  cuda);
  verb->callback([&action, cuda] {
    action = [cuda] {
      const ir::Graph graph = read_program(cuda->program);
      fmt::print("{}", runtime::generated_source(graph, cuda->modes.options(graph),
                                                 chosen_cuda_target(cuda->target)));
      return 0;
    };
  });

  const auto plan = std::make_shared<ShowOptions>();
  verb = add_verb(app, "explain", "Print groups, kernels, the reasons for cuts, and bytes moved",
                  plan);
  verb->callback([&action, plan] {
    action = [plan] {
      const ir::Graph graph = read_program(plan->program);
      fmt::print("{}",
                 runtime::explain(graph, plan->modes.options(graph), chosen_target(plan->target)));
      return 0;
    };
  });
}

}  // namespace heddle::cli

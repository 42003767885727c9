#include "passes/explain.h"

#include <algorithm>

#include <fmt/format.h>

#include "passes/plan/analyze.h"
#include "passes/traffic.h"

namespace heddle::passes {

namespace {

/// For each kernel whether it only stands by for a step of the library.
std::vector<bool> kernels_standing_by(const PlannedProgram& planned) {
  std::vector<bool> result(planned.kernels.size());
  for (const Step& step : planned.program.steps) {
    if (step.matmul.stand_by) result[step.matmul.stand_by->kernel.kernel] = true;
  }
  return result;
}

std::string node_text(const Graph& graph, ValueId node) {
  const ir::Location& location = graph.node(node).location;
  const std::string where = location.to_string();
  const Precision precision = graph.attributes(node).precision;
  const std::string chosen =
      precision == Precision::ieee ? "" : fmt::format(" precision={}", name_of(precision));
  return fmt::format("%{} {}{} : {}{}", index_of(node), ir::info(graph.op(node)).name, chosen,
                     to_string(graph.type(node)), where.empty() ? "" : " (" + where + ")");
}

std::string kernel_text(const KernelPlan& plan, const std::string& name) {
  const std::string text = to_string(plan);
  const std::string header = text.substr(0, text.find('\n'));
  return fmt::format("  {}: {}", name.empty() ? plan.name : name,
                     header.substr(header.find(plan.name) + plan.name.size() + 1));
}

}  // namespace

std::string explain(const PlannedProgram& planned) {
  const Graph& graph = planned.graph;
  const std::vector<bool> stands_by = kernels_standing_by(planned);
  std::string text =
      fmt::format("program {}: {} groups, {} kernels\n", graph.name, planned.grouping.groups.size(),
                  std::ranges::count(stands_by, false));
  for (std::size_t i = planned.grouping.groups.size(); i-- > 0;) {
    const Group& group = planned.grouping.groups[i];
    text +=
        fmt::format("group {}{}{}\n", i, group.library ? " library" : "",
                    group.epilogue ? ": " + group.epilogue->description() + " in one step" : "");
    for (auto member = group.members.rbegin(); member != group.members.rend(); ++member) {
      const bool stored =
          std::find(group.stored.begin(), group.stored.end(), *member) != group.stored.end();
      text += fmt::format("    {} {}\n", stored ? "*" : " ", node_text(graph, *member));
    }
  }
  text += "kernels\n";
  for (std::size_t i = 0; i < planned.kernels.size(); ++i) {
    text += fmt::format(
        "{} [{}]{}\n", kernel_text(planned.kernels[i], planned.program.kernel_names[i]),
        planned.kernels[i].family, stands_by[i] ? " stands by, for when the library refuses" : "");
  }
  if (!planned.grouping.cuts.empty()) text += "cuts\n";
  for (const Cut& cut : planned.grouping.cuts) {
    text += fmt::format("  {} does not join group {}: nearest family {}: {}\n",
                        node_text(graph, cut.node), cut.group, cut.family, cut.reason);
  }
  const Traffic bytes = traffic(planned);
  text += fmt::format("bytes moved {}, fewest possible {}", bytes.moved.to_string(),
                      bytes.fewest.to_string());
  if (bytes.moved.is_constant() && bytes.fewest.is_constant() && bytes.fewest.constant() > 0) {
    text += fmt::format(" ({:.2f} times)", static_cast<double>(bytes.moved.constant()) /
                                               static_cast<double>(bytes.fewest.constant()));
  }
  return text + "\n";
}

}  // namespace heddle::passes

#include "passes/explain.h"

#include <algorithm>

#include <fmt/format.h>

#include "passes/plan/analyze.h"
#include "passes/plan/launch.h"
#include "passes/plan/sort.h"

namespace heddle::passes {

namespace {

// Elements of memory that an access touches as its loops run: the product of the extents of those
// that move it, but never more than the array has.
Dim touched(const KernelPlan& plan, const Index& address, Dim whole) {
  std::vector<AtomId> loops;
  plan.space->collect_loops(address, loops);
  Dim count = 1;
  for (const AtomId loop : loops) count *= plan.space->atom(loop).extent;
  if (count.is_constant() && whole.is_constant())
    return std::min(count.constant(), whole.constant());
  return count;
}

// What a kernel touches of one array: over all its accesses, but every element once, for caches
// serve the overlap of shifted reads.
struct Touched {
  std::vector<Index> addresses;
  Dim elements;
};

Dim elements_moved(const Touched& all, Dim whole) {
  if (all.elements.is_constant() && whole.is_constant())
    return std::min(all.elements.constant(), whole.constant());
  return all.addresses.size() > 1 ? whole : all.elements;
}

Dim kernel_bytes(const Graph& graph, const KernelPlan& plan) {
  std::vector<Touched> operands(plan.operands.size());
  const auto whole = [&](int operand) {
    return ir::element_count(graph.shape(plan.operands[operand].value));
  };
  const auto add = [&](int operand, const Index& address) {
    Touched& all = operands[operand];
    if (std::find(all.addresses.begin(), all.addresses.end(), address) != all.addresses.end())
      return;
    all.addresses.push_back(address);
    all.elements += touched(plan, address, whole(operand));
  };
  for (const Instruction& instruction : plan.body) {
    if (instruction.kind == Instruction::Kind::load) add(instruction.operand, instruction.address);
    if (instruction.kind == Instruction::Kind::search) {
      operands[instruction.operand].addresses = {Index{}};
      operands[instruction.operand].elements = whole(instruction.operand);
    }
  }
  for (const Store& store : plan.stores) add(store.operand, store.address);
  Dim bytes;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].addresses.empty()) continue;
    bytes += elements_moved(operands[i], whole(static_cast<int>(i))) *
             Dim(static_cast<std::int64_t>(size_of(plan.operands[i].dtype)));
  }
  for (const Reduction& reduction : plan.reductions) {
    // What tiles tell each other is a state for thousands of elements.
    if (reduction.partials < 0 || plan.look_back) continue;
    const Dim parts = reduction.value >= 0 ? Dim(plan.split) : iterations(plan.inner);
    bytes +=
        iterations(plan.outer) * parts * Dim(static_cast<std::int64_t>(state_bytes(reduction)));
  }
  return bytes;
}

Dim value_bytes(const Graph& graph, ValueId value) { return byte_count(graph.type(value)); }

Dim whole_array_bytes(const Graph& graph, ValueId node) {
  Dim bytes = value_bytes(graph, node);
  for (const ValueId operand : graph.operands(node)) bytes += value_bytes(graph, operand);
  return bytes;
}

/// What a step of the library reads and writes besides what stands by for it.
Dim epilogue_bytes(const Graph& graph, const Group& group) {
  const Epilogue& epilogue = *group.epilogue;
  Dim bytes = value_bytes(graph, group.root);
  for (const ValueId factor : graph.operands(epilogue.product)) bytes += value_bytes(graph, factor);
  if (epilogue.residual) bytes += value_bytes(graph, *epilogue.residual);
  if (epilogue.bias) bytes += value_bytes(graph, *epilogue.bias);
  return bytes;
}

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

Traffic traffic(const PlannedProgram& planned) {
  const Graph& graph = planned.graph;
  Traffic result;
  const std::vector<bool> stands_by = kernels_standing_by(planned);
  for (std::size_t i = 0; i < planned.kernels.size(); ++i) {
    if (!stands_by[i]) result.moved += kernel_bytes(graph, planned.kernels[i]);
  }
  for (const Group& group : planned.grouping.groups) {
    if (group.epilogue)
      result.moved += epilogue_bytes(graph, group);
    else if (group.library)
      result.moved += whole_array_bytes(graph, group.root);
  }
  for (const Step& step : planned.program.steps) {
    if (step.kind == Step::Kind::sort) result.moved += extra_bytes(step.sort);
  }
  const std::vector<std::uint32_t> uses = use_counts(graph);
  for (const ValueId parameter : graph.parameters()) {
    if (uses[index_of(parameter)] > 0 && !graph.attributes(parameter).scalar)
      result.fewest += value_bytes(graph, parameter);
  }
  std::vector<ValueId> written;
  for (const ValueId output : graph.outputs) {
    if (graph.op(output) == ir::Op::parameter ||
        std::find(written.begin(), written.end(), output) != written.end())
      continue;
    written.push_back(output);
    result.fewest += value_bytes(graph, output);
  }
  return result;
}

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

#include "passes/report/report.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/types/capabilities.h"
#include "ir/types/literal.h"
#include "passes/calls/element_loops.h"
#include "passes/pipeline/flops.h"
#include "passes/pipeline/item_plan.h"
#include "passes/program/constants.h"

namespace heddle::passes {

namespace {

/// The numbers of nodes in a graph's text.
class Numbers {
 public:
  explicit Numbers(const std::vector<ir::PrintedNode>& nodes) {
    for (const ir::PrintedNode& node : nodes) by_id_[index_of(node.id)] = node.number;
  }
  std::uint32_t of(ValueId id) const { return by_id_.at(index_of(id)); }
  bool has(ValueId id) const { return by_id_.contains(index_of(id)); }
  /// The numbers of those `ids` that the text contains, without duplicates, in order.
  std::vector<std::uint32_t> of(const std::vector<ValueId>& ids) const {
    std::vector<std::uint32_t> result;
    for (const ValueId id : ids) {
      if (has(id) && std::ranges::find(result, of(id)) == result.end()) result.push_back(of(id));
    }
    return result;
  }

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> by_id_;
};

ReportGraph report_graph(const Graph& graph) {
  ReportGraph result;
  const std::vector<ir::PrintedNode> nodes = ir::print_nodes(graph);
  const Numbers numbers(nodes);
  for (const ir::PrintedNode& printed : nodes) {
    const ir::Node& node = graph.node(printed.id);
    ReportNode& shown = result.nodes.emplace_back();
    shown.number = printed.number;
    shown.label = graph.op_name(printed.id);
    if (node.op == ir::Op::call) {
      const std::string attributes = attributes_text(*graph.attributes(printed.id).call);
      if (!attributes.empty()) shown.label += fmt::format(" {{{}}}", attributes);
    }
    shown.type = to_string(graph.type(printed.id));
    shown.text = printed.text;
    for (const ValueId operand : graph.operands(printed.id))
      shown.operands.push_back(numbers.of(operand));
    shown.location = node.location;
  }
  for (const ValueId output : graph.outputs) result.outputs.push_back(numbers.of(output));
  return result;
}

/// The first line of a plan's text, without family and name.
std::string plan_in_short(const KernelPlan& plan) {
  const std::string text = to_string(plan);
  const std::string header = text.substr(0, text.find('\n'));
  return header.substr(header.find(plan.name) + plan.name.size() + 1);
}

std::string factor_text(const GridExtent& extent) {
  const std::string elements = extent.elements.to_string();
  if (extent.per_block == 1) return elements;
  if (extent.elements.is_constant()) {
    return fmt::format("{}",
                       (extent.elements.constant() + extent.per_block - 1) / extent.per_block);
  }
  const std::string blocks = fmt::format("ceil({} / {})", elements, extent.per_block);
  return extent.most > 0 ? fmt::format("min({}, {})", blocks, extent.most) : blocks;
}

std::string launch_text(const KernelStep& step, bool blocks) {
  std::vector<std::string> factors;
  for (const GridExtent& extent : step.grid) factors.push_back(factor_text(extent));
  const std::string grid = factors.empty() ? "1" : fmt::format("{}", fmt::join(factors, " x "));
  if (!blocks) return fmt::format("range of {}, at least {} per thread", grid, step.host_grain);
  return fmt::format("{} blocks of {} threads{}", grid,
                     static_cast<std::int64_t>(step.block[0]) * step.block[1],
                     step.cluster > 1 ? fmt::format(" in clusters of {}", step.cluster) : "");
}

/// Of a launch of several steps.
std::string together_text(const KernelStep& step) {
  if (step.together == 0) return ", in the launch of an earlier step";
  return step.together > 1 ? fmt::format(", together with the next {} steps", step.together - 1)
                           : "";
}

/// Fills in the parts of a report that follow from a planned program.
class PlanReport {
 public:
  PlanReport(Report& report, const PlannedProgram& planned)
      : report_(report),
        planned_(planned),
        program_(planned.program),
        numbers_(ir::print_nodes(planned.graph)) {}

  void run() {
    report_.inputs = program_.inputs;
    report_.outputs = program_.outputs;
    groups();
    for (const FusionBarrier& cut : planned_.grouping.cuts)
      report_.cuts.push_back({numbers_.of(cut.node), cut.group, cut.family, cut.reason});
    kernels();
    for (const Temporary& one : program_.temporaries)
      report_.temporaries.push_back({one.bytes, one.first_step, one.last_step, {}, false});
    steps();
    report_.traffic = traffic(planned_);
    for (const ReportStep& step : report_.steps) report_.flops += step.flops;
  }

 private:
  void groups() {
    for (std::size_t i = planned_.grouping.groups.size(); i-- > 0;) {
      const Group& group = planned_.grouping.groups[i];
      ReportGroup& shown = report_.groups.emplace_back();
      shown.id = static_cast<std::uint32_t>(i);
      const std::uint32_t owner = planned_.kernel_owner[i];
      shown.library = group.library && !in_items_kernel(owner);
      if (owner != i) shown.owner = owner;
      if (group.epilogue) shown.description = group.epilogue->description();
      shown.members = numbers_.of(group.members);
      std::ranges::reverse(shown.members);
      shown.stored = numbers_.of(group.stored);
    }
  }

  bool in_items_kernel(std::uint32_t owner) const {
    for (std::size_t i = 0; i < planned_.kernels.size(); ++i) {
      if (planned_.kernels[i].items && planned_.group_of_kernel[i] == owner) return true;
    }
    return false;
  }

  ReportGroup& group(std::uint32_t id) { return report_.groups[report_.groups.size() - 1 - id]; }

  void kernels() {
    for (std::uint32_t i = 0; i < planned_.kernels.size(); ++i) {
      const KernelPlan& plan = planned_.kernels[i];
      ReportKernel& kernel = report_.kernels.emplace_back();
      kernel.name = program_.kernel_names[i].empty() ? plan.name : program_.kernel_names[i];
      kernel.family = plan.family;
      kernel.plan = plan_in_short(plan);
      kernel.group = planned_.group_of_kernel[i];
      kernel.nodes =
          !plan.has_loops() ? group(kernel.group).members : numbers_.of(sources_of(plan));
      group(kernel.group).kernels.push_back(i);
    }
    shared_kernels();
  }

  void shared_kernels() {
    std::vector<std::uint32_t> sharers(planned_.shared.size());
    for (std::size_t i = 0; i < planned_.kernels.size(); ++i) {
      if (const auto shared = planned_.shared_kernel(i)) ++sharers[*shared];
    }
    for (const Step& step : program_.steps) {
      for_each_kernel(step, [&](const KernelStep& launch) {
        const auto shared = planned_.shared_kernel(launch.kernel);
        if (!shared) return;
        report_.kernels[launch.kernel].sharers = sharers[*shared];
        report_.kernels[launch.kernel].arguments = arguments_of(launch);
      });
    }
  }

  /// What a kernel takes besides its arrays, as text.
  static std::vector<std::string> arguments_of(const KernelStep& step) {
    std::vector<std::string> arguments;
    for (const Parameter& one : step.parameters) {
      if (one.kind == Parameter::Kind::size) arguments.push_back(one.value.to_string());
      if (one.kind == Parameter::Kind::scalar) arguments.push_back(fmt::format("%{}", one.scalar));
      if (one.kind == Parameter::Kind::constant)
        arguments.push_back(ir::literal_text(one.dtype, one.bits));
    }
    return arguments;
  }

  std::vector<ValueId> sources_of(const KernelPlan& plan) const {
    std::vector<ValueId> sources;
    for (const Instruction& instruction : plan.body) {
      if (instruction.kind != Instruction::Kind::load) sources.push_back(instruction.source);
    }
    for (const Reduction& reduction : plan.reductions) sources.push_back(reduction.source);
    if (plan.items) {
      for (const ItemPhase& phase : plan.items->phases) {
        if (phase.routine) sources.push_back(call_of(planned_.graph, plan, *phase.routine));
      }
    }
    std::ranges::sort(sources);
    return sources;
  }

  void steps() {
    const ConstantPart constants = constant_part(program_);
    for (std::uint32_t i = 0; i < program_.steps.size(); ++i) {
      const Step& step = program_.steps[i];
      ReportStep& shown = report_.steps.emplace_back();
      shown.group = planned_.group_of_step[i];
      shown.uses = uses_of(step);
      shown.once = !constants.empty() && constants.steps[i];
      shown.bytes = step.moved;
      shown.flops = flops(planned_, step);
      describe(step, shown);
      group(shown.group).steps.push_back(i);
    }
  }

  void describe(const Step& step, ReportStep& shown) {
    const bool blocks = ir::capabilities_of(report_.target).blocks;
    const ValueId root = planned_.grouping.groups[shown.group].root;
    if (const KernelStep* const kernel = step.kernel()) {
      shown.kind = "kernel";
      shown.kernels = {kernel->kernel};
      shown.what = report_.kernels[kernel->kernel].name;
      shown.launch = launch_text(*kernel, blocks) + together_text(*kernel);
      shown.shared_bytes = kernel->shared_bytes;
      hold_operands(*kernel);
    } else if (const CallStep* const call = step.call()) {
      shown.kind = call->operation;
      shown.what = call->what;
      shown.why = why_step_by_step(planned_.graph, root, report_.target);
      for_each_kernel(step, [&](const KernelStep& each) { shown.kernels.push_back(each.kernel); });
      if (call->fallback) mark_fallback(*call->fallback);
      for (const CallBuffer& result : call->results) hold(result.buffer, root, false);
      for (const BufferRef& scratch : call->scratch) hold(scratch, root, true);
    } else if (const FillStep* const fill = step.fill()) {
      shown.kind = "zero";
      shown.what = fmt::format("{} bytes with 0", fill->bytes.to_string());
      hold(fill->buffer, root, false);
    }
  }

  void mark_fallback(const Fallback& fallback) {
    for (const Step& step : fallback.steps) {
      for_each_kernel(step, [&](const KernelStep& kernel) {
        report_.kernels[kernel.kernel].is_fallback = true;
      });
    }
  }

  void hold_operands(const KernelStep& step) {
    const KernelPlan& plan = planned_.kernels[step.kernel];
    for (std::size_t i = 0; i < plan.operands.size(); ++i) {
      const KernelOperand& operand = plan.operands[i];
      if (operand.in_item() || !operand.written) continue;
      hold(step.parameters[i].buffer, operand.value, operand.partials >= 0);
    }
  }

  void hold(const BufferRef& buffer, ValueId value, bool scratch) {
    if (buffer.kind != BufferRef::Kind::temporary || !numbers_.has(value)) return;
    ReportTemporary& temporary = report_.temporaries[buffer.index];
    temporary.scratch = scratch;
    const std::uint32_t number = numbers_.of(value);
    if (std::ranges::find(temporary.nodes, number) == temporary.nodes.end())
      temporary.nodes.push_back(number);
  }

  Report& report_;
  const PlannedProgram& planned_;
  const Program& program_;
  Numbers numbers_;
};

}  // namespace

Reporter::Reporter(const Graph& recorded) : current_(recorded) {
  report_.program = recorded.name;
  report_.graphs.push_back(report_graph(recorded));
}

PassObserver Reporter::observer() {
  return [this](const GraphPass& pass, bool ran, const Graph& after) {
    ReportPass shown{std::string(pass.name), std::string(pass.why), pass.required, ran, 0, 0, {}};
    shown.before = shown.after = report_.graphs.size() - 1;
    if (ran) {
      std::vector<ChangedLine> changes = difference(current_, after);
      const bool changed = std::ranges::any_of(changes, [](const ChangedLine& line) {
        return !line.before || !line.after || line.rewired;
      });
      if (changed) {
        shown.after = report_.graphs.size();
        shown.changes = std::move(changes);
        report_.graphs.push_back(report_graph(after));
      }
      current_ = after;
    }
    report_.passes.push_back(std::move(shown));
  };
}

Report Reporter::report(const PlannedProgram& planned, const PlanOptions& options) {
  report_.target = options.target;
  report_.strict = options.strict;
  report_.approximate = options.approximate;
  report_.disabled = options.disabled;
  PlanReport(report_, planned).run();
  return std::move(report_);
}

std::optional<std::int64_t> value_of(const Report& report, Dim dim) {
  std::vector<ir::SymbolId> symbols;
  dim.collect_symbols(symbols);
  for (const ir::SymbolId symbol : symbols) {
    if (std::ranges::find(report.symbols, symbol, &ir::SymbolBinding::symbol) ==
        report.symbols.end())
      return std::nullopt;
  }
  return dim.evaluate(report.symbols);
}

std::optional<Arena> arena_of(const Report& report) {
  std::vector<Temporary> temporaries;
  std::vector<std::int64_t> sizes;
  for (const ReportTemporary& one : report.temporaries) {
    const std::optional<std::int64_t> bytes = value_of(report, one.bytes);
    if (!bytes) return std::nullopt;
    temporaries.push_back({one.bytes, one.first_step, one.last_step});
    sizes.push_back(*bytes);
  }
  return plan_arena(temporaries, sizes);
}

std::optional<double> ratio(Dim numerator, Dim denominator) {
  std::vector<ir::SymbolId> symbols;
  numerator.collect_symbols(symbols);
  denominator.collect_symbols(symbols);
  ir::SymbolBindings ones;
  for (const ir::SymbolId symbol : symbols) ones.push_back({symbol, 1});
  const std::int64_t top = numerator.evaluate(ones), bottom = denominator.evaluate(ones);
  if (bottom == 0) return std::nullopt;
  const std::int64_t common = std::gcd(top, bottom);
  if (!symbols.empty() && numerator * Dim(bottom / common) != denominator * Dim(top / common))
    return std::nullopt;
  return static_cast<double>(top) / static_cast<double>(bottom);
}

std::optional<double> share_of_ceiling(const Report& report, const ReportStep& step) {
  const std::optional<std::int64_t> bytes = value_of(report, step.bytes);
  if (!bytes || !report.run || !step.microseconds || *step.microseconds <= 0) return std::nullopt;
  const double rate = static_cast<double>(*bytes) / (*step.microseconds * 1e-6);
  return rate / report.run->ceiling.bytes_per_second;
}

std::string name_of(const BufferRef& buffer) {
  switch (buffer.kind) {
    case BufferRef::Kind::input:
      return fmt::format("%{}", buffer.index);
    case BufferRef::Kind::output:
      return fmt::format("output {}", buffer.index);
    case BufferRef::Kind::temporary:
      return fmt::format("t{}", buffer.index);
    case BufferRef::Kind::fallback:
      break;
  }
  return fmt::format("fallback {}", buffer.index);
}

}  // namespace heddle::passes

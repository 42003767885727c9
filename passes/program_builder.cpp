#include "passes/program_builder.h"

#include <algorithm>
#include <unordered_map>

#include "heddle/error.h"

#include "ir/span.h"
#include "passes/donate.h"
#include "passes/in_place.h"
#include "passes/lower.h"
#include "passes/matmul.h"
#include "passes/pipeline.h"
#include "passes/plan/analyze.h"
#include "passes/plan/family.h"
#include "passes/plan/launch.h"
#include "passes/plan/long_sum.h"
#include "passes/plan/sort.h"
#include "passes/plan/split.h"
#include "passes/sort.h"
#include "passes/traffic.h"

namespace heddle::passes {

namespace {

class Builder {
 public:
  Builder(PlannedProgram& planned, const PlanOptions& options)
      : planned_(planned), graph_(planned.graph), options_(options), program_(planned.program) {}

  void run() {
    declare_inputs();
    stored_.assign(graph_.size(), false);
    for (const Group& group : planned_.grouping.groups) {
      for (const ValueId value : group.stored) stored_[index_of(value)] = true;
    }
    assign_outputs();
    for (std::size_t i = planned_.grouping.groups.size(); i-- > 0;) {
      const Group& group = planned_.grouping.groups[i];
      const std::size_t first = program_.steps.size();
      add_group(group);
      for (std::size_t k = first; k < program_.steps.size(); ++k) {
        program_.steps[k].moved = bytes_moved(planned_, group, program_.steps[k]);
        program_.steps[k].origins = origins_of(group);
      }
      planned_.group_of_kernel.resize(planned_.kernels.size(), static_cast<std::uint32_t>(i));
      planned_.group_of_step.resize(program_.steps.size(), static_cast<std::uint32_t>(i));
    }
    set_lifetimes();
  }

 private:
  void declare_inputs();
  void assign_outputs();
  void add_group(const Group& group);
  void add_kernel(KernelPlan plan);
  void add_split_kernel(const KernelPlan& plan);
  void add_look_back_kernel(KernelPlan plan);
  void add_matmul(const Group& group);
  void add_epilogue(const Group& group);
  Step product_of(ValueId node);
  void add_zeros(ValueId value);
  void add_sort(const Group& group);
  BufferRef buffer_of(ValueId value);
  std::optional<std::uint32_t> input_of(ValueId value) const;
  bool is_aligned(ValueId value) const;
  BufferRef new_temporary(Dim bytes);
  std::vector<std::uint32_t> origins_of(const Group& group) const;
  void set_lifetimes();

  PlannedProgram& planned_;
  const Graph& graph_;
  const PlanOptions& options_;
  Program& program_;
  std::vector<bool> stored_;
  std::unordered_map<std::uint32_t, BufferRef> buffers_;
  std::vector<BufferRef> partials_;
};

bool is_empty(const ir::Shape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](Dim extent) { return extent == Dim(0); });
}

void Builder::declare_inputs() {
  program_.name = graph_.name;
  program_.facts = graph_.facts;
  for (std::size_t i = 0; i < graph_.parameters().size(); ++i) {
    const ValueId parameter = graph_.parameters()[i];
    ProgramInput input{graph_.type(parameter), graph_.attributes(parameter).scalar, false, 16};
    input.donated = i < options_.donated.size() && options_.donated[i];
    if (i < options_.aligned.size() && !options_.aligned[i])
      input.alignment = static_cast<int>(size_of(input.type.dtype));
    program_.inputs.push_back(std::move(input));
  }
}

void Builder::assign_outputs() {
  // An update in place is in its base's memory; bases come first from the back.
  for (std::size_t i = planned_.grouping.groups.size(); i-- > 0;) {
    const Group& group = planned_.grouping.groups[i];
    if (group.in_place) buffers_[index_of(group.root)] = buffer_of(graph_.operands(group.root)[0]);
  }
  std::unordered_map<std::uint32_t, std::uint32_t> first;
  for (const ValueId output : graph_.outputs) {
    const auto position = static_cast<std::uint32_t>(program_.outputs.size());
    ProgramOutput declared;
    declared.type = graph_.type(output);
    const auto [earlier, is_new] = first.emplace(index_of(output), position);
    if (const auto input = input_of(output)) {
      declared.input = input;
    } else if (!is_new) {
      declared.output = earlier->second;
    } else {
      buffers_[index_of(output)] = {BufferRef::Kind::output, position};
    }
    program_.outputs.push_back(std::move(declared));
  }
}

// The input whose memory the value is in.
std::optional<std::uint32_t> Builder::input_of(ValueId value) const {
  if (graph_.op(value) == ir::Op::parameter && !graph_.attributes(value).scalar)
    return graph_.attributes(value).index;
  const auto found = buffers_.find(index_of(value));
  if (found == buffers_.end() || found->second.kind != BufferRef::Kind::input) return std::nullopt;
  return found->second.index;
}

// Outputs and temporaries are; an update in place is where its input is.
bool Builder::is_aligned(ValueId value) const {
  constexpr int whole_access = 16;
  const std::optional<std::uint32_t> input = input_of(value);
  return !input || program_.inputs[*input].alignment >= whole_access;
}

BufferRef Builder::new_temporary(Dim bytes) {
  program_.temporaries.push_back({bytes, 0, 0});
  return {BufferRef::Kind::temporary, static_cast<std::uint32_t>(program_.temporaries.size()) - 1};
}

BufferRef Builder::buffer_of(ValueId value) {
  // A scalar input is in no memory, so a buffer for it is the output that it is stored to.
  const bool in_memory = graph_.op(value) == ir::Op::parameter && !graph_.attributes(value).scalar;
  if (in_memory) return {BufferRef::Kind::input, graph_.attributes(value).index};
  const auto found = buffers_.find(index_of(value));
  if (found != buffers_.end()) return found->second;
  return buffers_[index_of(value)] = new_temporary(byte_count(graph_.type(value)));
}

void Builder::add_group(const Group& group) {
  if (is_empty(graph_.shape(group.root))) return;
  if (group.epilogue) return add_epilogue(group);
  if (group.library && graph_.op(group.root) == ir::Op::matmul) return add_matmul(group);
  if (group.library) return add_sort(group);
  if (ir::is_scatter(graph_.op(group.root))) add_zeros(group.root);
  KernelPlan plan = lower({graph_, *planned_.grouping.space, stored_}, group);
  for (KernelOperand& operand : plan.operands) {
    operand.aligned = is_aligned(operand.value);
    const Dim bytes = byte_count(graph_.type(operand.value));
    operand.streamed = operand.written && bytes.is_constant() &&
                       bytes.constant() > options_.target.l2_bytes &&
                       options_.target.kind == ir::TargetKind::cuda;
  }
  order_inner_loops(plan, options_.target);
  collapse_loops(plan, *planned_.grouping.space);
  order_loops(plan);
  assign_stages(plan);
  const auto all = families();
  for (std::size_t i = 0; i < all.size(); ++i) {
    // The last, generic, lays any plan over threads: it also runs what a family took that another,
    // switched off, would have run.
    const bool is_last = i + 1 == all.size();
    if ((group.families >> i & 1) == 0 && !is_last) continue;
    KernelPlan trial = plan;
    if (!all[i]->schedule(trial, options_.target)) continue;
    trial.family = all[i]->name();
    if (trial.look_back) return add_look_back_kernel(std::move(trial));
    return trial.split > 1 ? add_split_kernel(trial) : add_kernel(std::move(trial));
  }
  throw InternalError("no family runs the group of " +
                      std::string(info(graph_.op(group.root)).name));
}

/// Operands that share a buffer, which may be one's output and another's input.
void mark_aliased(std::vector<KernelOperand>& operands, const std::vector<Parameter>& parameters) {
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> positions;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const BufferRef& buffer = parameters[i].buffer;
    positions[static_cast<std::uint64_t>(buffer.kind) << 32 | buffer.index].push_back(i);
  }
  for (const auto& [buffer, sharing] : positions) {
    if (sharing.size() > 1) share_memory(operands, sharing);
  }
}

void Builder::add_kernel(KernelPlan plan) {
  plan.index_bits = index_bits(plan);
  if (options_.target.kind == ir::TargetKind::cuda) plan.fold = fold_after(plan);
  plan.name = describe(plan);
  KernelStep step = launch_shape(plan, options_.target);
  const std::int64_t cleared = plan.look_back ? look_back_bytes(plan).flags_a_block : 0;
  step.kernel = static_cast<std::uint32_t>(planned_.kernels.size());
  for (KernelOperand& operand : plan.operands) {
    Parameter parameter;
    parameter.written = operand.written;
    if (operand.flags) parameter.cleared = cleared;
    parameter.buffer =
        operand.partials >= 0 ? partials_[operand.partials] : buffer_of(operand.value);
    step.parameters.push_back(parameter);
  }
  mark_aliased(plan.operands, step.parameters);
  for (const ir::SymbolId symbol : kernel_symbols(plan)) {
    Parameter parameter;
    parameter.kind = Parameter::Kind::size;
    parameter.value = Dim::symbol(symbol);
    step.parameters.push_back(parameter);
  }
  for (const std::uint32_t scalar : kernel_scalars(plan)) {
    Parameter parameter;
    parameter.kind = Parameter::Kind::scalar;
    parameter.scalar = scalar;
    parameter.dtype = program_.inputs[scalar].type.dtype;
    step.parameters.push_back(parameter);
  }
  Step launched;
  launched.kernel = std::move(step);
  program_.steps.push_back(std::move(launched));
  planned_.kernels.push_back(std::move(plan));
  program_.kernel_names.emplace_back();
}

// The first kernel leaves a state a part in memory, the second combines them in order and goes on
// from there.
void Builder::add_split_kernel(const KernelPlan& plan) {
  const Dim outer = iterations(plan.outer);
  std::vector<int> partials;
  for (const Reduction& reduction : plan.reductions) {
    partials.push_back(static_cast<int>(partials_.size()));
    partials_.push_back(
        new_temporary(outer * Dim(plan.split * static_cast<std::int64_t>(state_bytes(reduction)))));
  }
  SplitPlans plans = split_plan(plan, *planned_.grouping.space, partials, options_.target);
  add_kernel(std::move(plans.parts));
  add_kernel(std::move(plans.combine));
}

// Tiles tell each other what they come to through memory, in one launch.
void Builder::add_look_back_kernel(KernelPlan plan) {
  const LookBackBytes bytes = look_back_bytes(plan);
  const auto add = [&](const Reduction& reduction, Dim size, bool flags) {
    KernelOperand operand;
    operand.value = reduction.source;
    operand.dtype = flags ? DType::u64 : reduction.dtype;
    operand.written = operand.aliased = true;
    operand.flags = flags;
    operand.partials = static_cast<int>(partials_.size());
    partials_.push_back(new_temporary(size));
    plan.operands.push_back(operand);
    return static_cast<int>(plan.operands.size()) - 1;
  };
  for (std::size_t i = 0; i < plan.reductions.size(); ++i)
    plan.reductions[i].partials = add(plan.reductions[i], bytes.states[i], false);
  add(plan.reductions.front(), bytes.flags, true);
  add_kernel(std::move(plan));
}

Step Builder::product_of(ValueId node) {
  Step step;
  step.kind = Step::Kind::matmul;
  const bool widens = library_widens(options_.target, options_.strict);
  const LibraryOperands operands = library_operands(graph_, node, widens);
  step.matmul = describe_matmul(graph_, node, widens);
  step.matmul.a = buffer_of(operands.a.value);
  step.matmul.b = buffer_of(operands.b.value);
  return step;
}

void Builder::add_matmul(const Group& group) {
  Step step = product_of(group.root);
  step.matmul.out = buffer_of(group.root);
  program_.steps.push_back(std::move(step));
}

// The library's one step; and for when it refuses, the product by itself and a kernel.
void Builder::add_epilogue(const Group& group) {
  const Epilogue& epilogue = *group.epilogue;
  Step step = product_of(epilogue.product);
  MatmulStep& product = step.matmul;
  product.dtype = graph_.dtype(group.root);
  product.out = buffer_of(group.root);
  product.alpha = epilogue.alpha;
  product.beta = epilogue.beta;
  if (epilogue.residual) product.residual = buffer_of(*epilogue.residual);
  if (epilogue.bias) product.bias = buffer_of(*epilogue.bias);
  product.activation = epilogue.activation;

  const BufferRef alone{BufferRef::Kind::temporary, ~0u};
  buffers_[index_of(epilogue.product)] = alone;
  stored_[index_of(epilogue.product)] = true;
  add_group(*group.stands_by);
  StandBy& stand_by = product.stand_by.emplace();
  stand_by.kernel = std::move(program_.steps.back().kernel);
  program_.steps.pop_back();
  stand_by.dtype = graph_.dtype(epilogue.product);
  stand_by.bytes = byte_count(graph_.type(epilogue.product));
  std::vector<Parameter>& parameters = stand_by.kernel.parameters;
  const auto place = std::ranges::find(parameters, alone, &Parameter::buffer);
  stand_by.product = static_cast<std::uint32_t>(place - parameters.begin());
  place->buffer = product.out;
  program_.steps.push_back(std::move(step));
}

void Builder::add_sort(const Group& group) {
  Step step;
  step.kind = Step::Kind::sort;
  SortStep& sort = step.sort = describe_sort(graph_, group.root);
  sort.keys = buffer_of(whole_operand(graph_, graph_.operands(group.root)[0]));
  sort.out = buffer_of(group.root);
  if (options_.target.kind == ir::TargetKind::cuda) {
    SortPlans plans = plan_sort(sort, options_.target, options_.disabled);
    for (SortKernels::Kernel& kernel : plans.launch.kernels)
      kernel.kernel += static_cast<std::uint32_t>(planned_.kernels.size());
    for (KernelPlan& plan : plans.kernels) {
      plan.space = planned_.grouping.space.get();
      planned_.kernels.push_back(std::move(plan));
      program_.kernel_names.emplace_back();
    }
    sort.kernels = std::move(plans.launch);
  }
  for (const Dim bytes : scratch_bytes(sort)) sort.scratch.push_back(new_temporary(bytes));
  program_.steps.push_back(std::move(step));
}

// What a scatter adds to.
void Builder::add_zeros(ValueId value) {
  Step step;
  step.kind = Step::Kind::zero;
  step.zero = {buffer_of(value), byte_count(graph_.type(value))};
  program_.steps.push_back(std::move(step));
}

std::vector<std::uint32_t> Builder::origins_of(const Group& group) const {
  std::vector<std::uint32_t> origins;
  for (const ValueId member : group.members) {
    const std::uint32_t origin = graph_.node(member).location.node;
    if (origin != ir::Location().node) origins.push_back(origin);
  }
  std::ranges::sort(origins);
  const auto again = std::ranges::unique(origins);
  origins.erase(again.begin(), again.end());
  return origins;
}

void Builder::set_lifetimes() {
  for (Temporary& temporary : program_.temporaries) temporary.first_step = ~0u;
  const auto touch = [&](const BufferRef& buffer, std::uint32_t step) {
    if (buffer.kind != BufferRef::Kind::temporary) return;
    Temporary& temporary = program_.temporaries[buffer.index];
    temporary.first_step = std::min(temporary.first_step, step);
    temporary.last_step = std::max(temporary.last_step, step);
  };
  for (std::uint32_t i = 0; i < program_.steps.size(); ++i) {
    for (const BufferUse& use : uses_of(program_.steps[i])) touch(use.buffer, i);
  }
}

}  // namespace

PlannedProgram plan_program(const Graph& graph, const PlanOptions& options,
                            const PassObserver& observer) {
  PlannedProgram planned;
  // Passes drop nodes that are not needed, whose conditions hold all the same.
  planned.program.requirements = ir::requirements(graph);
  for (ir::Requirement& one : planned.program.requirements) one.location.clear();
  ir::Graph numbered = graph;
  numbered.number_nodes();
  planned.graph = run_graph_passes(numbered, options, observer);
  {
    const ir::Span span(ir::Phase::pass, "group");
    planned.grouping = group(planned.graph, {options.target, options.donated, options.disabled,
                                             options.strict, options.approximate});
  }
  const ir::Span span(ir::Phase::pass, "plan");
  Builder(planned, options).run();
  reuse_donated_inputs(planned);
  if (std::ranges::find(options.disabled, "in_place") == options.disabled.end())
    reuse_dying_temporaries(planned);
  return planned;
}

}  // namespace heddle::passes

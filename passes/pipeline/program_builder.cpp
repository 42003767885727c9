#include "passes/pipeline/program_builder.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/span.h"
#include "ir/calls/control.h"
#include "ir/types/capabilities.h"
#include "passes/calls/bytes.h"
#include "passes/calls/gemm.h"
#include "passes/calls/matmul.h"
#include "passes/fuse/grouping.h"
#include "passes/groups/index_maps.h"
#include "passes/groups/per_element.h"
#include "passes/lower/lower.h"
#include "passes/pipeline/flops.h"
#include "passes/pipeline/item_chains.h"
#include "passes/pipeline/kernel_step.h"
#include "passes/pipeline/memory_reuse.h"
#include "passes/pipeline/pipeline.h"
#include "passes/pipeline/program_buffers.h"
#include "passes/pipeline/traffic.h"
#include "passes/plan/analyze.h"
#include "passes/plan/details.h"
#include "passes/plan/family.h"
#include "passes/plan/launch.h"
#include "passes/plan/long_sum.h"
#include "passes/plan/narrow_integers.h"
#include "passes/plan/shared_iterations.h"
#include "passes/plan/split.h"
#include "passes/plan/sums_about.h"
#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

namespace {

class Builder {
 public:
  Builder(PlannedProgram& planned, const PlanOptions& options)
      : planned_(planned),
        graph_(planned.graph),
        options_(options),
        program_(planned.program),
        buffers_(planned, options) {}

  void run() {
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      const ValueId id{i};
      if (graph_.op(id) == ir::Op::result)
        further_results_.emplace(index_of(graph_.operands(id)[0]), id);
    }
    find_chains();
    for (std::size_t i = planned_.grouping.groups.size(); i-- > 0;) {
      const std::size_t first = program_.steps.size();
      const auto chain = chains_.find(i);
      if (chain != chains_.end()) {
        add_chain(chain->second);
      } else if (planned_.kernel_owner[i] == i) {
        add_group(planned_.grouping.groups[i]);
      }
      for (std::size_t k = first; k < program_.steps.size(); ++k) {
        program_.steps[k].moved = bytes_moved(planned_, program_.steps[k]);
        program_.steps[k].origins =
            origins_of(chain != chains_.end() ? chain->second.groups : std::vector<std::size_t>{i});
      }
      planned_.group_of_kernel.resize(planned_.kernels.size(), static_cast<std::uint32_t>(i));
      planned_.group_of_step.resize(program_.steps.size(), static_cast<std::uint32_t>(i));
    }
    set_lifetimes(program_);
  }

 private:
  class CallSite;

  void find_chains();
  void explain_chains();
  void add_chain(const ItemChain& chain);
  void add_group(const Group& group);
  void describe_operands(KernelPlan& plan) const;
  void add_kernel(KernelPlan plan);
  void add_split_kernel(const KernelPlan& plan);
  void add_look_back_kernel(KernelPlan plan);
  void add_epilogue(const Group& group);
  Fallback fallback_of(const Group& group, GemmCall product);
  void add_call(const Group& group);
  void add_call(CallStep call, Dim moved);
  std::shared_ptr<const Program> add_region(const Graph& region, const PlanOptions& options);
  void add_zeros(ValueId value);
  void begin_writing(ValueId value);
  void add_loops(KernelPlan plan, const Group& group);
  std::vector<std::uint32_t> origins_of(const std::vector<std::size_t>& groups) const;

  PlannedProgram& planned_;
  const Graph& graph_;
  const PlanOptions& options_;
  Program& program_;
  ProgramBuffers buffers_;
  /// Results of calls other than the first, by call.
  std::unordered_multimap<std::uint32_t, ValueId> further_results_;
  std::vector<BufferRef> partials_;
  std::unordered_map<std::size_t, ItemChain> chains_;  ///< by their last group
};

void Builder::find_chains() {
  const bool fuse = std::ranges::find(options_.disabled, "items") == options_.disabled.end();
  chains_ = item_chains({graph_, *planned_.grouping.space, buffers_.stored()}, planned_.grouping,
                        options_.target, options_.strict, fuse);
  std::vector<std::uint32_t>& owners = planned_.kernel_owner;
  owners.resize(planned_.grouping.groups.size());
  std::iota(owners.begin(), owners.end(), 0);
  for (const auto& [last, chain] : chains_) {
    for (const std::size_t group : chain.groups) owners[group] = static_cast<std::uint32_t>(last);
  }
  explain_chains();
}

// Groups of a chain are one kernel: there is no barrier between them. What does not join the call
// of a chain is read from memory by a kernel, not by a library.
void Builder::explain_chains() {
  std::unordered_map<std::uint32_t, std::uint32_t> owner_of_value;
  for (std::size_t i = 0; i < planned_.grouping.groups.size(); ++i) {
    for (const ValueId value : planned_.grouping.groups[i].stored)
      owner_of_value.emplace(index_of(value), planned_.kernel_owner[i]);
  }
  std::vector<FusionBarrier>& cuts = planned_.grouping.cuts;
  std::erase_if(cuts, [&](const FusionBarrier& cut) {
    const auto owner = owner_of_value.find(index_of(cut.node));
    return owner != owner_of_value.end() && owner->second == planned_.kernel_owner[cut.group];
  });
  for (FusionBarrier& cut : cuts) {
    const Group& group = planned_.grouping.groups[cut.group];
    if (!group.library || !chains_.contains(planned_.kernel_owner[cut.group])) continue;
    cut.family = "items";
    cut.reason = fmt::format("the kernel of {} reads it from memory", graph_.op_name(group.root));
  }
}

void Builder::add_chain(const ItemChain& chain) {
  KernelPlan plan = chain.plan;
  describe_operands(plan);
  add_kernel(std::move(plan));
}

/// Sets what is known of the memory of a kernel's arrays.
void Builder::describe_operands(KernelPlan& plan) const {
  // Blocks that share an item store parts of sectors, which should meet in the second cache.
  const bool in_parts = plan.items && plan.items->parts > 1;
  for (KernelOperand& operand : plan.operands) {
    if (operand.in_item()) continue;
    const std::optional<BufferRef> buffer = buffers_.known(operand.value);
    operand.aligned = !buffer || buffers_.is_aligned(*buffer);
    const Dim bytes = byte_count(graph_.type(operand.value));
    operand.streamed = operand.written && !in_parts && bytes.is_constant() &&
                       bytes.constant() > options_.target.l2_bytes &&
                       ir::capabilities_of(options_.target).streaming_stores;
  }
}

void Builder::add_group(const Group& group) {
  if (computes_nothing(graph_, group.root)) return;
  if (buffers_.reshapes_in_place(group)) return;
  if (group.epilogue) return add_epilogue(group);
  if (group.library) return add_call(group);
  if (writes_anywhere(graph_, group.root)) begin_writing(group.root);
  add_loops(lower({graph_, *planned_.grouping.space, buffers_.stored()}, group), group);
}

void Builder::add_loops(KernelPlan plan, const Group& group) {
  describe_operands(plan);
  narrow_integers(plan, options_.target);
  order_inner_loops(plan, options_.target);
  IndexSpace& space = *planned_.grouping.space;
  const auto arrange_loops = [&] {
    collapse_loops(plan, space);
    order_loops(plan);
    assign_stages(plan);
  };
  arrange_loops();
  sum_in_one_pass(plan, space, options_.target);
  if (share_iterations(plan, space, options_.target)) arrange_loops();
  const auto all = families();
  for (std::size_t i = 0; i < all.size(); ++i) {
    // The last family, generic, can schedule any plan. It also takes groups whose own family
    // refuses to schedule them, because a family that is switched off would run them better.
    const bool is_last = i + 1 == all.size();
    if ((group.families >> i & 1) == 0 && !is_last) continue;
    KernelPlan trial = plan;
    if (!all[i]->schedule(trial, options_.target)) continue;
    trial.family = all[i]->name();
    if (trial.look_back) return add_look_back_kernel(std::move(trial));
    return trial.split > 1 ? add_split_kernel(trial) : add_kernel(std::move(trial));
  }
  throw InternalError("no kernel family can run the group of " +
                      std::string(graph_.op_name(group.root)));
}

void Builder::add_kernel(KernelPlan plan) {
  plan.index_bits = index_bits(plan);
  if (ir::capabilities_of(options_.target).blocks) {
    plan.folding = folding_of(plan);
    compensate_exponentials(plan);
  }
  decide_details(plan, options_.target);
  plan.name = describe(plan);
  KernelStep step = kernel_step(plan, buffers_, partials_, options_);
  step.kernel = static_cast<std::uint32_t>(planned_.kernels.size());
  program_.steps.push_back({std::move(step)});
  planned_.kernels.push_back(std::move(plan));
  program_.kernel_names.emplace_back();
}

// The first kernel stores a state for each part. The second combines the states in order and
// computes the rest.
void Builder::add_split_kernel(const KernelPlan& plan) {
  const Dim outer = iterations(plan.outer);
  std::vector<int> partials;
  for (const Reduction& reduction : plan.reductions) {
    partials.push_back(static_cast<int>(partials_.size()));
    partials_.push_back(buffers_.new_temporary(
        outer * Dim(plan.split * static_cast<std::int64_t>(state_bytes(reduction)))));
  }
  SplitPlans plans = split_plan(plan, *planned_.grouping.space, partials, options_.target);
  add_kernel(std::move(plans.parts));
  add_kernel(std::move(plans.combine));
}

// Tiles pass their partial results to each other through memory, within one launch.
void Builder::add_look_back_kernel(KernelPlan plan) {
  const LookBackBytes bytes = look_back_bytes(plan);
  const auto add = [&](const Reduction& reduction, Dim size, bool flags) {
    KernelOperand operand;
    operand.value = reduction.source;
    operand.dtype = flags ? DType::u64 : reduction.dtype;
    operand.written = operand.aliased = true;
    operand.flags = flags;
    operand.partials = static_cast<int>(partials_.size());
    partials_.push_back(buffers_.new_temporary(size));
    plan.operands.push_back(operand);
    return static_cast<int>(plan.operands.size()) - 1;
  };
  for (std::size_t i = 0; i < plan.reductions.size(); ++i)
    plan.reductions[i].partials = add(plan.reductions[i], bytes.states[i], false);
  add(plan.reductions.front(), bytes.flags, true);
  add_kernel(std::move(plan));
}

/// Implements CallBuilder for one call of the program.
class Builder::CallSite final : public CallBuilder {
 public:
  CallSite(Builder& program, ValueId call)
      : CallBuilder(program.graph_, call,
                    {program.options_.target, program.options_.strict, program.options_.counter}),
        program_(program) {}

  CallBuffer array(ValueId value) override {
    return {program_.buffers_.of(value), graph.dtype(value)};
  }
  CallBuffer result(std::size_t index) override {
    const ir::Type& type = graph.result_types(call)[index];
    const std::optional<ValueId> value = index == 0 ? call : further(index);
    const bool wanted = value && program_.buffers_.is_stored(*value);
    return {wanted ? program_.buffers_.of(*value) : scratch(byte_count(type)), type.dtype};
  }
  BufferRef scratch(Dim bytes) override { return program_.buffers_.new_temporary(bytes); }
  std::uint32_t kernel(KernelPlan plan) override {
    plan.space = program_.planned_.grouping.space.get();
    program_.planned_.kernels.push_back(std::move(plan));
    program_.program_.kernel_names.emplace_back();
    return static_cast<std::uint32_t>(program_.planned_.kernels.size()) - 1;
  }
  bool is_aligned(const BufferRef& buffer) const override {
    return program_.buffers_.is_aligned(buffer);
  }
  std::shared_ptr<const Program> body(const ir::Region& region,
                                      const std::vector<BodyInput>& inputs,
                                      const std::vector<bool>& aligned_outputs) override {
    PlanOptions options = program_.options_;
    options.counter = ir::scan_counter(*graph.attributes(call).call);
    options.donated.clear();
    options.aligned.clear();
    options.aligned_outputs = aligned_outputs;
    for (const BodyInput& input : inputs) {
      options.donated.push_back(input.donated);
      options.aligned.push_back(input.aligned);
    }
    return program_.add_region(*region.graph, options);
  }
  const std::vector<std::string>& disabled() const override { return program_.options_.disabled; }

 private:
  std::optional<ValueId> further(std::size_t index) const {
    const auto [begin, end] = program_.further_results_.equal_range(index_of(call));
    for (auto it = begin; it != end; ++it) {
      if (graph.attributes(it->second).index == index) return it->second;
    }
    return std::nullopt;
  }

  Builder& program_;
};

void Builder::add_call(CallStep call, Dim moved) {
  program_.steps.push_back({std::move(call), moved});
}

void Builder::add_call(const Group& group) {
  IndexSpace& space = *planned_.grouping.space;
  const auto lower_region = [&](const Graph& region, const Group& part) {
    KernelPlan plan = lower({region, space, std::vector<bool>(region.size())}, part);
    narrow_integers(plan, options_.target);
    return plan;
  };
  if (std::optional<KernelPlan> plan = call_kernel(graph_, group.root, space, lower_region)) {
    plan->space = &space;
    describe_operands(*plan);
    return add_kernel(*std::move(plan));
  }
  CallSite site(*this, group.root);
  DescribedCall call = describe_call(site);
  add_call(std::move(call.step), call.moved);
}

/// Adds `first` to the numbers of all kernels of a program, and of its regions.
void number_kernels(Program& program, std::uint32_t first) {
  for (Step& step : program.steps) {
    for_each_step(step, [&](Step& each) {
      if (KernelStep* const kernel = each.kernel()) kernel->kernel += first;
      CallStep* const call = each.call();
      if (call == nullptr) return;
      for (KernelStep& kernel : call->kernels) kernel.kernel += first;
      for (std::shared_ptr<const Program>& body : call->bodies) {
        Program copy = *body;
        number_kernels(copy, first);
        body = std::make_shared<const Program>(std::move(copy));
      }
    });
  }
}

/// Plans a region. Its conditions are those of the whole program, which checks them.
std::shared_ptr<const Program> Builder::add_region(const Graph& region,
                                                   const PlanOptions& options) {
  auto planned = std::make_shared<PlannedProgram>(plan_program(region, options));
  number_kernels(planned->program, static_cast<std::uint32_t>(planned_.kernels.size()));
  planned->program.requirements.clear();
  for (Step& step : planned->program.steps) step.origins.clear();
  planned_.kernels.insert(planned_.kernels.end(), planned->kernels.begin(), planned->kernels.end());
  program_.kernel_names.resize(planned_.kernels.size());
  planned->program.kernel_names.clear();
  auto program = std::make_shared<const Program>(planned->program);
  planned_.regions.push_back(std::move(planned));
  return program;
}

void Builder::add_epilogue(const Group& group) {
  const Epilogue& epilogue = *group.epilogue;
  CallSite site(*this, epilogue.product);
  const GemmCall alone = describe_matmul(site);
  GemmCall product = alone;
  product.dtype = graph_.dtype(group.root);
  product.out = buffers_.of(group.root);
  product.alpha = epilogue.alpha;
  product.beta = epilogue.beta;
  if (epilogue.residual) product.residual = buffers_.of(*epilogue.residual);
  if (epilogue.bias) product.bias = buffers_.of(*epilogue.bias);
  product.activation = epilogue.activation;
  CallStep call = to_call(product);
  call.fallback = fallback_of(group, alone);
  call.flops += flops(planned_, call.fallback->steps.back());
  add_call(std::move(call), array_bytes(graph_, group.root, epilogue));
}

// The product without its epilogue, into a buffer of the fallback, then a kernel for the epilogue.
Fallback Builder::fallback_of(const Group& group, GemmCall product) {
  const ValueId node = group.epilogue->product;
  product.out = buffers_.store_in_fallback(node);
  add_group(*group.fallback);
  Fallback fallback;
  fallback.steps = {{to_call(product)}, std::move(program_.steps.back())};
  fallback.buffers = {byte_count(graph_.type(node))};
  program_.steps.pop_back();
  return fallback;
}

/// What a kernel finds in an array of which it may write some elements only.
void Builder::begin_writing(ValueId value) {
  if (!is_user_write(graph_, value) || !graph_.attributes(value).call->get<bool>("initial"))
    return add_zeros(value);
  const ValueId initial = strip_reshapes(graph_, graph_.operands(value).back());
  Group copy;
  copy.root = initial;
  copy.families = ~decltype(copy.families){0};
  copy.stored = {initial};
  copy.outer =
      loops_over(*planned_.grouping.space, graph_.shape(initial), copy.stored_maps.emplace_back());
  KernelPlan plan = lower({graph_, *planned_.grouping.space, buffers_.stored()}, copy);
  for (KernelOperand& operand : plan.operands) {
    if (operand.written) operand.value = value;
  }
  add_loops(std::move(plan), copy);
}

/// The zeros that a scatter accumulates into.
void Builder::add_zeros(ValueId value) {
  program_.steps.push_back({FillStep{buffers_.of(value), byte_count(graph_.type(value))}});
}

std::vector<std::uint32_t> Builder::origins_of(const std::vector<std::size_t>& groups) const {
  std::vector<std::uint32_t> origins;
  for (const std::size_t group : groups) {
    for (const ValueId member : planned_.grouping.groups[group].members) {
      const std::uint32_t origin = graph_.node(member).location.node;
      if (origin != ir::Location().node) origins.push_back(origin);
    }
  }
  std::ranges::sort(origins);
  const auto again = std::ranges::unique(origins);
  origins.erase(again.begin(), again.end());
  return origins;
}

}  // namespace

PlannedProgram plan_program(const Graph& graph, const PlanOptions& options,
                            const PassObserver& observer) {
  PlannedProgram planned;
  // Collected before the passes: they drop unneeded nodes whose conditions must be checked anyway.
  planned.program.requirements = ir::requirements(graph);
  for (ir::Requirement& one : planned.program.requirements) one.location.clear();
  ir::Graph numbered = graph;
  numbered.number_nodes();
  planned.graph = run_graph_passes(numbered, options, observer);
  {
    const ir::Span span(ir::Phase::pass, "group");
    planned.grouping = group(planned.graph, {options.target, options.donated, options.disabled,
                                             options.strict, options.approximate, options.counter});
  }
  const ir::Span span(ir::Phase::pass, "plan");
  Builder(planned, options).run();
  reuse_memory(planned, std::ranges::find(options.disabled, "in_place") == options.disabled.end());
  return planned;
}

}  // namespace heddle::passes

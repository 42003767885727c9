#include "passes/plan/analyze.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <span>

#include <fmt/format.h>

#include "ir/types/capabilities.h"
#include "passes/plan/attention.h"
#include "passes/plan/launch.h"
#include "passes/plan/walk.h"

namespace heddle::passes {

namespace {

/// Calls `visit` with every Index of the plan.
template <class Plan, class Visit>
void for_each_index(Plan& plan, const Visit& visit) {
  for (auto& instruction : plan.body) visit(instruction.address);
  for (auto& store : plan.stores) visit(store.address);
}

bool mergeable(const KernelPlan& plan, const IndexSpace& space, const Loop& first,
               const Loop& second) {
  bool result = true;
  for_each_index(plan, [&](const Index& index) {
    result = result && !space.nested(index, first.atom) && !space.nested(index, second.atom) &&
             space.coefficient(index, first.atom) ==
                 space.coefficient(index, second.atom) * second.extent;
  });
  return result;
}

void merge(KernelPlan& plan, IndexSpace& space, std::vector<Loop>& loops, std::size_t position) {
  const Loop first = loops[position], second = loops[position + 1];
  const Loop merged{space.new_loop(first.extent * second.extent), first.extent * second.extent};
  for_each_index(plan, [&](Index& index) {
    const Dim coefficient = space.coefficient(index, second.atom);
    std::erase_if(index.terms, [&](const IndexTerm& term) {
      return term.atom == first.atom || term.atom == second.atom;
    });
    if (!(coefficient == Dim(0))) index.terms.push_back({merged.atom, coefficient});
  });
  loops[position] = merged;
  loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(position) + 1);
}

void collapse(KernelPlan& plan, IndexSpace& space, std::vector<Loop>& loops) {
  for (std::size_t i = loops.size(); i-- > 1;) {
    if (mergeable(plan, space, loops[i - 1], loops[i])) merge(plan, space, loops, i - 1);
  }
}

}  // namespace

void share_memory(std::vector<KernelOperand>& operands, const std::vector<std::size_t>& positions) {
  const std::size_t first = *std::ranges::min_element(positions);
  const bool one_dtype = std::ranges::all_of(
      positions, [&](std::size_t i) { return operands[i].dtype == operands[first].dtype; });
  for (const std::size_t i : positions) {
    operands[i].aliased = true;
    if (one_dtype && i != first) operands[i].same_as = static_cast<std::int16_t>(first);
  }
}

void collapse_loops(KernelPlan& plan, IndexSpace& space) {
  collapse(plan, space, plan.outer);
  collapse(plan, space, plan.inner);
}

void order_loops(KernelPlan& plan) {
  if (plan.stores.empty()) return;
  const Index& address = plan.stores.front().address;
  std::stable_sort(plan.outer.begin(), plan.outer.end(), [&](const Loop& a, const Loop& b) {
    const Dim left = plan.space->coefficient(address, a.atom),
              right = plan.space->coefficient(address, b.atom);
    if (!left.is_constant() || !right.is_constant()) return false;
    return std::abs(left.constant()) > std::abs(right.constant());
  });
}

namespace {

bool shows_order(const Reduction& reduction, const ir::Target& target) {
  return reduction.scan || ir::finds_index(reduction.op) ||
         (ir::capabilities_of(target).ordered_rows && has_order(reduction));
}

/// The load that reads the most bytes. Among equals, one that is contiguous along the last inner
/// loop is preferred.
const Instruction* largest_load(const KernelPlan& plan) {
  const Instruction* largest = nullptr;
  double most = 0;
  for (const Instruction& instruction : plan.body) {
    if (instruction.kind != Instruction::Kind::load || plan.space->is_by_value(instruction.address))
      continue;
    const double bytes = bytes_read(plan, instruction);
    const bool runs = runs_along(plan, instruction.address, plan.inner.back());
    if (bytes > most || (bytes == most && runs)) largest = &instruction;
    most = std::max(most, bytes);
  }
  return largest;
}

}  // namespace

void order_inner_loops(KernelPlan& plan, const ir::Target& target) {
  if (plan.inner.size() < 2) return;
  if (std::ranges::any_of(plan.reductions,
                          [&](const Reduction& one) { return shows_order(one, target); }))
    return;
  const Instruction* load = largest_load(plan);
  if (load == nullptr) return;
  // An unknown stride counts as long. Loops along which the load reads the same element come first.
  const auto distance = [&](const Loop& loop) {
    constexpr std::int64_t farthest = std::numeric_limits<std::int64_t>::max();
    const std::optional<Dim> step = step_along(plan, load->address, loop);
    if (!step || !step->is_constant()) return farthest - 1;
    return *step == Dim(0) ? farthest : std::abs(step->constant());
  };
  std::ranges::stable_sort(plan.inner, std::greater(), distance);
}

void assign_stages(KernelPlan& plan) {
  std::vector<AtomId> inner;
  for (const Loop& loop : plan.inner) inner.push_back(loop.atom);
  plan.stages = plan.reductions.empty() ? 0 : 1;
  for (Instruction& instruction : plan.body) {
    std::vector<AtomId> loops;
    plan.space->collect_loops(instruction.address, loops);
    instruction.element = std::any_of(loops.begin(), loops.end(), [&](AtomId loop) {
      return std::find(inner.begin(), inner.end(), loop) != inner.end();
    });
    instruction.stage = 0;
    for (const int argument : instruction.arguments) {
      instruction.element |= plan.body[argument].element;
      instruction.stage = std::max(instruction.stage, plan.body[argument].stage);
    }
    if (instruction.reduction < 0) continue;
    Reduction& reduction = plan.reductions[instruction.reduction];
    reduction.stage = 0;
    for (const int needed : needs_of(reduction))
      reduction.stage = std::max(reduction.stage, plan.body[needed].stage);
    // The result of a scan is available in the pass that computes it.
    instruction.element = reduction.scan;
    instruction.stage = reduction.stage + (reduction.scan ? 0 : 1);
    plan.stages = std::max(plan.stages, instruction.stage);
  }
  for (Store& store : plan.stores) {
    store.element = plan.body[store.value].element;
    store.stage = plan.body[store.value].stage;
    std::vector<AtomId> loops;
    plan.space->collect_loops(store.address, loops);
    for (const AtomId loop : loops) {
      store.element |= std::find(inner.begin(), inner.end(), loop) != inner.end();
    }
    if (store.element) plan.stages = std::max(plan.stages, store.stage + 1);
  }
}

std::vector<int> needed(const KernelPlan& plan, const std::vector<int>& roots, bool element_only,
                        const std::vector<bool>& known) {
  std::vector<bool> asked(plan.body.size());
  for (const int root : roots) asked[root] = true;
  std::vector<int> result;
  for (std::size_t i = plan.body.size(); i-- > 0;) {
    const Instruction& one = plan.body[i];
    if (!asked[i] || (!known.empty() && known[i]) || (element_only && !one.element)) continue;
    result.push_back(static_cast<int>(i));
    for (const int argument : one.arguments) asked[argument] = true;
  }
  std::reverse(result.begin(), result.end());
  return result;
}

int index_bits(const KernelPlan& plan) {
  // Rounding up to whole blocks, and a thread's last step, may exceed the end before the bounds
  // check.
  constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max() - (std::int64_t{1} << 22);
  const auto fits = [&](const Dim& dim) { return dim.is_constant() && dim.constant() < limit; };
  if (!fits(iterations(plan.outer)) || !fits(iterations(plan.inner))) return 64;
  if (plan.parts_of && !fits(*plan.parts_of)) return 64;
  bool result = fits(iterations(plan.outer) * Dim(plan.threads_per_row));
  if (plan.items) {
    for (const ItemPhase& phase : plan.items->phases)
      result = result && fits(iterations(phase.batch) * iterations(phase.loops));
  }
  std::set<AtomId> seen;
  const std::function<void(const Index&)> look_at = [&](const Index& index) {
    const auto range = plan.space->range(index);
    result = result && range && range->minimum > -limit && range->maximum < limit;
    for (const IndexTerm& term : index.terms) {
      const Atom& atom = plan.space->atom(term.atom);
      if (atom.kind == Atom::Kind::loop || !seen.insert(term.atom).second) continue;
      result = result && fits(atom.divisor);
      look_at(atom.numerator);
    }
  };
  for_each_index(plan, look_at);
  if (plan.attention) {
    for (const Index& address : row_addresses(plan)) look_at(address);
    for (const std::optional<Index>& bound : {plan.attention->begin, plan.attention->end}) {
      if (bound) look_at(*bound);
    }
  }
  return result ? 32 : 64;
}

Dim steps_around(const KernelPlan& plan, const Instruction& instruction, Dim unknown) {
  Dim steps = 1;
  for (int loop = instruction.step_of; loop >= 0;) {
    const ElementLoop& one = plan.element_loops[static_cast<std::size_t>(loop)];
    steps *= one.length.value_or(unknown);
    loop = plan.body[one.instruction].step_of;
  }
  return steps;
}

bool walks_memory(const KernelPlan& plan) {
  return std::ranges::any_of(plan.element_loops,
                             [](const ElementLoop& loop) { return loop.atom.has_value(); });
}

Dim iterations(const std::vector<Loop>& loops) {
  Dim product = 1;
  for (const Loop& loop : loops) product *= loop.extent;
  return product;
}

ElementLoop renumbered(ElementLoop loop, const std::function<int(int)>& number) {
  loop.instruction = number(loop.instruction);
  if (loop.condition >= 0) loop.condition = number(loop.condition);
  for (std::vector<int>* const list : {&loop.initial, &loop.steps, &loop.next})
    std::ranges::transform(*list, list->begin(), number);
  return loop;
}

const Reduction* segmented(const KernelPlan& plan) {
  const bool is_segmented = !plan.reductions.empty() && plan.reductions.front().first >= 0;
  return is_segmented ? &plan.reductions.front() : nullptr;
}

std::vector<Loop> segment_loops(const KernelPlan& plan) {
  const Reduction* const reduction = segmented(plan);
  if (reduction == nullptr) return {};
  std::vector<AtomId> found;
  for (const int i : needed(plan, {reduction->first}, false))
    plan.space->collect_loops(plan.body[i].address, found);
  std::vector<Loop> loops;
  std::ranges::copy_if(plan.outer, std::back_inserter(loops), [&](const Loop& loop) {
    return std::ranges::find(found, loop.atom) != found.end();
  });
  return loops;
}

bool follows_segment(const KernelPlan& plan) {
  const Reduction* const segment = segmented(plan);
  if (segment == nullptr || plan.outer.size() != 1) return false;
  const Instruction &first = plan.body[segment->first], &last = plan.body[segment->last];
  const Instruction& begin = plan.body[first.arguments[0]];
  const Instruction& end = plan.body[last.arguments[0]];
  const auto is_read = [](const Instruction& one) {
    return one.kind == Instruction::Kind::load && !one.guarded;
  };
  if (!is_read(begin) || !is_read(end) || begin.operand != end.operand) return false;
  const std::optional<Dim> step = step_along(plan, begin.address, plan.outer[0]);
  if (!step) return false;
  Index next = begin.address;
  next.offset = next.offset + *step;
  return next == end.address && first.end == last.end;
}

Dim row_length(const KernelPlan& plan) {
  constexpr std::int64_t likely = 16;
  const Dim inner = iterations(plan.inner), segments = iterations(segment_loops(plan));
  if (segmented(plan) == nullptr) return inner;
  if (!inner.is_constant() || !segments.is_constant()) return likely;
  return std::max<std::int64_t>(inner.constant() / std::max<std::int64_t>(segments.constant(), 1),
                                1);
}

Dim elements_of(const KernelPlan& plan) {
  const std::vector<Loop> walked = segment_loops(plan);
  Dim elements = iterations(plan.inner);
  for (const Loop& loop : plan.outer) {
    const bool in_segments =
        std::ranges::any_of(walked, [&](const Loop& one) { return one.atom == loop.atom; });
    if (!in_segments) elements *= loop.extent;
  }
  return elements;
}

std::vector<int> needs_of(const Reduction& reduction) {
  std::vector<int> needs;
  if (reduction.value >= 0) needs.push_back(reduction.value);
  for (const int other : {reduction.begins, reduction.first, reduction.last}) {
    if (other >= 0) needs.push_back(other);
  }
  return needs;
}

std::vector<int> needs_of(const Store& store) {
  std::vector<int> needs = {store.value};
  if (store.guard >= 0) needs.push_back(store.guard);
  needs.insert(needs.end(), store.positions.begin(), store.positions.end());
  return needs;
}

std::optional<Dim> step_along(const KernelPlan& plan, const Index& address, const Loop& loop) {
  if (plan.space->is_by_value(address)) return std::nullopt;
  if (plan.space->nested(address, loop.atom)) return std::nullopt;
  return plan.space->coefficient(address, loop.atom);
}

std::vector<bool> varying_along(const KernelPlan& plan, const Loop& loop) {
  std::vector<bool> varying(plan.body.size());
  for (std::size_t i = 0; i < plan.body.size(); ++i) {
    const Instruction& instruction = plan.body[i];
    std::vector<AtomId> loops;
    plan.space->collect_loops(instruction.address, loops);
    varying[i] =
        instruction.reduction >= 0 || std::ranges::find(loops, loop.atom) != loops.end() ||
        std::ranges::any_of(instruction.arguments, [&](int argument) { return varying[argument]; });
  }
  return varying;
}

std::optional<Dim> step_along(const KernelPlan& plan, const Instruction& load, const Loop& loop) {
  if (plan.space->nested(load.address, loop.atom)) return std::nullopt;
  const std::span<const int> in_address = std::span(load.arguments).subspan(load.guarded ? 1 : 0);
  if (!in_address.empty()) {
    const std::vector<bool> varying = varying_along(plan, loop);
    if (std::ranges::any_of(in_address, [&](int argument) { return varying[argument]; }))
      return std::nullopt;
  }
  return plan.space->coefficient(load.address, loop.atom);
}

namespace {

int widest_of(const KernelOperand& operand, const Index& address, const Loop& loop,
              const std::optional<Dim>& step, int limit) {
  if (!operand.aligned || !step || !(*step == Dim(1))) return 1;
  int width = limit;
  while (width > 1) {
    bool fits = address.offset.divisible_by(width);
    for (const IndexTerm& term : address.terms) {
      if (term.atom != loop.atom) fits &= term.coefficient.divisible_by(width);
    }
    if (fits) return width;
    width /= 2;
  }
  return 1;
}

}  // namespace

int vector_width(const KernelPlan& plan, const KernelOperand& operand, const Index& address,
                 const Loop& loop, int limit) {
  return widest_of(operand, address, loop, step_along(plan, address, loop), limit);
}

namespace {

/// Whether an index is less than `bound` for all elements of an aligned vector, or for none.
bool is_split_between_vectors(const Index& index, const Loop& loop, const Dim& bound, int width) {
  return (bound - index.offset).divisible_by(width) &&
         std::ranges::all_of(index.terms, [&](const IndexTerm& term) {
           return term.atom == loop.atom ? term.coefficient == Dim(1)
                                         : term.coefficient.divisible_by(width);
         });
}

/// Whether a condition is the same for all elements of an aligned vector along the loop.
bool is_same_in_vectors(const KernelPlan& plan, int condition, const Loop& loop, int width,
                        const std::vector<bool>& varying) {
  if (width == 1 || !varying[condition]) return true;
  const Instruction& one = plan.body[condition];
  if (one.kind == Instruction::Kind::apply) {
    return std::ranges::all_of(one.arguments, [&](int argument) {
      return is_same_in_vectors(plan, argument, loop, width, varying);
    });
  }
  return one.kind == Instruction::Kind::within && one.step == Dim(1) &&
         !plan.space->nested(one.address, loop.atom) && !plan.space->is_by_value(one.address) &&
         is_split_between_vectors(one.address, loop, one.begin, width) &&
         is_split_between_vectors(one.address, loop, one.end, width);
}

}  // namespace

int vector_width(const KernelPlan& plan, const Instruction& load, const Loop& loop, int limit) {
  int width = widest_of(plan.operands[load.operand], load.address, loop,
                        step_along(plan, load, loop), limit);
  if (!load.guarded || width == 1) return width;
  const std::vector<bool> varying = varying_along(plan, loop);
  while (!is_same_in_vectors(plan, load.arguments[0], loop, width, varying)) width /= 2;
  return width;
}

std::string describe(const KernelPlan& plan) {
  std::string name = "hd";
  if (plan.attention) return fmt::format("hd_attention_{}", name_of(plan.attention->dtype));
  int words = 0;
  std::string last;
  if (plan.items) {
    for (const ItemPhase& phase : plan.items->phases) {
      if (phase.routine)
        name += '_' + phase.routine->function.substr(0, phase.routine->function.find('<'));
    }
  }
  for (const Instruction& instruction : plan.body) {
    std::string word;
    if (instruction.kind == Instruction::Kind::apply) word = ir::info(instruction.op).name;
    if (instruction.kind == Instruction::Kind::search) word = ir::info(instruction.op).name;
    if (instruction.kind == Instruction::Kind::cast) word = "cast";
    if (instruction.kind == Instruction::Kind::loop) word = "loop";
    if (instruction.kind == Instruction::Kind::user)
      word = instruction.function->get<std::string>("name");
    if (instruction.reduction >= 0) word = ir::info(plan.reductions[instruction.reduction].op).name;
    if (word.empty() || word == last) continue;
    last = word;
    if (++words <= 5) name += '_' + word;
  }
  for (const Reduction& reduction : plan.reductions) {
    if (plan.split == 1) break;
    name += '_' + std::string(ir::info(reduction.op).name);
    ++words;
  }
  if (words == 0 && !plan.items) name += "_copy";
  if (words > 5) name += "_etc";
  return name + '_' +
         std::string(name_of(plan.stores.empty()
                                 ? plan.reductions.front().dtype
                                 : plan.operands[plan.stores.front().operand].dtype));
}

}  // namespace heddle::passes

#include "passes/lower/element_loops.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/calls/calls.h"
#include "ir/calls/control.h"
#include "passes/groups/per_element.h"

namespace heddle::passes {

namespace {

/// Equal for calls that differ only in which carry is their result.
std::string key_of(const ir::CallData& call, const std::vector<int>& operands,
                   const std::vector<ElementLoops::Sequence>& sequences, int enclosing) {
  std::string key = fmt::format("{} in {}: {}", fmt::join(operands, " "), enclosing,
                                call.get<std::int64_t>("carries"));
  if (ir::is_counted(call)) key += fmt::format(" times {}", ir::scan_length(call).to_string());
  if (call.get<bool>("reverse")) key += " reversed";
  for (const ElementLoops::Sequence& one : sequences)
    key += fmt::format(" p{}[{}]", one.operand, text_of(one.address));
  for (const ir::Region& region : call.regions) key += ' ' + region.hash.hex();
  return key;
}

}  // namespace

int ElementLoops::add(const ir::CallData& call, const std::vector<int>& operands,
                      const std::vector<Sequence>& sequences, ValueId source) {
  const int loop = loop_of(call, operands, sequences, source);
  const ElementLoop& made = plan_.element_loops[static_cast<std::size_t>(loop)];
  const auto carry = static_cast<std::size_t>(call.get<std::int64_t>("result"));
  Instruction result =
      Instruction::of(Instruction::Kind::looped, plan_.body[made.initial[carry]].dtype);
  result.loop = loop;
  result.carry = static_cast<int>(carry);
  result.arguments = {made.instruction};
  return push(std::move(result), enclosing_, source);
}

int ElementLoops::add_stacked(const ir::CallData& call, const std::vector<int>& operands,
                              const std::vector<Sequence>& sequences, int operand, Index address,
                              ValueId source) {
  const int loop = loop_of(call, operands, sequences, source);
  const auto result = static_cast<std::size_t>(call.get<std::int64_t>("result"));
  ElementLoop& made = plan_.element_loops[static_cast<std::size_t>(loop)];
  made.atom = atom_of(made);
  const int value = made.next[result];
  Instruction put = Instruction::of(Instruction::Kind::put, plan_.body[value].dtype);
  put.operand = operand;
  put.address = std::move(address);
  put.arguments = {value};
  made.steps.push_back(push(std::move(put), loop, source));
  return made.instruction;
}

AtomId ElementLoops::step_of(Dim length, IndexSpace& space) {
  const auto found = std::ranges::find(step_atoms_, length, &std::pair<Dim, AtomId>::first);
  if (found != step_atoms_.end()) return found->second;
  return step_atoms_.emplace_back(length, space.new_loop(length)).second;
}

AtomId ElementLoops::atom_of(const ElementLoop& loop) const {
  return std::ranges::find(step_atoms_, *loop.length, &std::pair<Dim, AtomId>::first)->second;
}

int ElementLoops::loop_of(const ir::CallData& call, const std::vector<int>& operands,
                          const std::vector<Sequence>& sequences, ValueId source) {
  const std::string key = key_of(call, operands, sequences, enclosing_);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  return known_[key] = add_loop(call, operands, sequences, source);
}

int ElementLoops::add_loop(const ir::CallData& call, const std::vector<int>& operands,
                           const std::vector<Sequence>& sequences, ValueId source) {
  const int loop = static_cast<int>(plan_.element_loops.size());
  const auto carries = static_cast<std::size_t>(call.get<std::int64_t>("carries"));
  const auto split = operands.end() - static_cast<std::ptrdiff_t>(carries);
  plan_.element_loops.emplace_back();
  ElementLoop made;
  made.initial.assign(split, operands.end());
  if (ir::is_counted(call)) made.length = ir::scan_length(call);
  made.reverse = call.get<bool>("reverse");
  const int outside = std::exchange(enclosing_, loop);
  std::vector<int> arguments(operands.begin(), split);
  std::size_t decided = 0;  // instructions before this one are needed for the condition
  for (std::size_t k = 0; k < carries; ++k) {
    Instruction carried =
        Instruction::of(Instruction::Kind::carried, plan_.body[made.initial[k]].dtype);
    carried.loop = loop;
    carried.carry = static_cast<int>(k);
    carried.arguments = made.initial;
    arguments.push_back(push(std::move(carried), loop, source));
  }
  for (const Sequence& sequence : sequences) {
    Instruction load = Instruction::of(Instruction::Kind::load, sequence.dtype);
    load.operand = sequence.operand;
    load.address = sequence.address;
    arguments.push_back(push(std::move(load), loop, source));
  }
  if (made.length) {
    Instruction step = Instruction::of(Instruction::Kind::step, DType::i64);
    step.loop = loop;
    arguments.insert(arguments.begin(), push(std::move(step), loop, source));
  } else {
    made.condition = add_region(*call.regions.front().graph, arguments, loop, source).front();
    decided = plan_.body.size();
  }
  made.next = add_region(*call.regions.back().graph, arguments, loop, source);
  if (!sequences.empty()) made.atom = atom_of(made);
  for (std::size_t i = 0; i < plan_.body.size(); ++i) {
    if (plan_.body[i].step_of != loop) continue;
    made.steps.push_back(static_cast<int>(i));
    if (i < decided) ++made.decided;
  }
  enclosing_ = outside;
  Instruction statement = Instruction::of(Instruction::Kind::loop, DType::i64);
  statement.loop = loop;
  statement.arguments = used_from_outside(plan_, made);
  made.instruction = push(std::move(statement), outside, source);
  plan_.element_loops[static_cast<std::size_t>(loop)] = std::move(made);
  return loop;
}

std::vector<int> ElementLoops::add_region(const ir::Graph& region,
                                          const std::vector<int>& arguments, int step_of,
                                          ValueId source) {
  std::vector<int> instructions(region.size());
  const std::vector<ValueId>& parameters = region.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    instructions[index_of(parameters[i])] = arguments[i];
  for (std::size_t i = 0; i < region.size(); ++i) {
    const auto node = static_cast<ValueId>(i);
    const ir::Op op = region.op(node);
    if (op == ir::Op::parameter) continue;
    std::vector<int> operands;
    for (const ValueId operand : region.operands(node))
      operands.push_back(instructions[index_of(operand)]);
    if (is_user_map(region, node)) {
      Instruction call = Instruction::of(Instruction::Kind::user, region.dtype(node));
      call.function = region.attributes(node).call;
      call.arguments = std::move(operands);
      instructions[i] = push(std::move(call), step_of, source);
      continue;
    }
    if (op == ir::Op::call) {
      instructions[i] = add(*region.attributes(node).call, operands, {}, source);
      continue;
    }
    Instruction one = Instruction::of(Instruction::Kind::apply, region.dtype(node));
    one.op = op;
    one.arguments = std::move(operands);
    if (op == ir::Op::cast) one.kind = Instruction::Kind::cast;
    if (op == ir::Op::constant) {
      one.kind = Instruction::Kind::constant;
      one.bits = region.attributes(node).bits;
    }
    instructions[i] = push(std::move(one), step_of, source);
  }
  std::vector<int> results;
  for (const ValueId output : region.outputs) results.push_back(instructions[index_of(output)]);
  return results;
}

int ElementLoops::push(Instruction instruction, int step_of, ValueId source) {
  instruction.step_of = step_of;
  instruction.source = source;
  plan_.body.push_back(std::move(instruction));
  return static_cast<int>(plan_.body.size()) - 1;
}

std::vector<int> used_from_outside(const KernelPlan& plan, const ElementLoop& loop) {
  std::vector<int> used = loop.initial;
  const auto add = [&](int i) {
    if (std::ranges::find(loop.steps, i) == loop.steps.end()) used.push_back(i);
  };
  for (const int step : loop.steps) std::ranges::for_each(plan.body[step].arguments, add);
  std::ranges::for_each(loop.next, add);
  if (loop.condition >= 0) add(loop.condition);
  std::ranges::sort(used);
  const auto rest = std::ranges::unique(used);
  used.erase(rest.begin(), rest.end());
  return used;
}

}  // namespace heddle::passes

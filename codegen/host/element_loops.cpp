#include <algorithm>
#include <bit>
#include <cstddef>

#include "codegen/host/printer.h"
#include "passes/plan/analyze.h"
#include "passes/plan/families.h"

namespace heddle::codegen {

using passes::ElementLoop;
using passes::Instruction;
using passes::Loop;
using passes::Store;

namespace {

bool is_cheap(const Instruction& instruction) {
  return instruction.kind == Instruction::Kind::constant ||
         instruction.kind == Instruction::Kind::scalar;
}

/// How many elements' loops run together. If their steps use memory, what they read and store in a
/// step should be long runs, but the lanes' arrays must stay in a cache and fit a small stack.
int lanes_of(const passes::KernelPlan& plan) {
  constexpr std::size_t few = 8, most = passes::most_looped_together, all = 128 << 10;
  if (!passes::walks_memory(plan)) return 64;
  std::size_t bytes = 1;
  for (const Instruction& one : plan.body) {
    if (one.kind != Instruction::Kind::loop || one.step_of >= 0) continue;
    for (const int carried : plan.element_loops[static_cast<std::size_t>(one.loop)].initial)
      bytes += size_of(plan.body[static_cast<std::size_t>(carried)].dtype);
    for (const int used : one.arguments) {
      const Instruction& value = plan.body[static_cast<std::size_t>(used)];
      if (!is_cheap(value)) bytes += size_of(value.dtype);
    }
  }
  return static_cast<int>(std::clamp(std::bit_floor(all / bytes), few, most));
}

}  // namespace

/// Prints the elements of the run [first, stop), whose kernel has element loops. The loops of
/// several neighbours run together, step by step, so that the compiler can use vectors.
void HostPrinter::looped_elements(const Loop& along, const char* first, const char* stop,
                                  const std::vector<int>& roots) {
  const std::string variable = body_.loop_variable(along.atom);
  const int lanes = lanes_of(plan_);
  const auto open_lanes = [&] {
    out_.open("for (Index {0} = part; {0} < part_stop; ++{0})", variable);
  };
  body_.lane = fmt::format("{} - part", variable);
  out_.open("for (Index part = {}; part < {}; part += {})", first, stop, lanes);
  out_.line("const Index part_stop = {1} - part < {0} ? {1} : part + {0};", lanes, stop);
  const std::vector<bool> outside = body_.declared;
  for (const int instruction : body_.needed_for(roots, false)) {
    const Instruction& one = plan_.body[static_cast<std::size_t>(instruction)];
    if (one.kind != Instruction::Kind::loop) continue;
    begin_lanes(one, open_lanes);
    run_lanes(one, open_lanes);
    body_.declared[static_cast<std::size_t>(instruction)] = true;
  }
  open_lanes();
  declare_all(body_.needed_for(roots, false));
  for (const Store& store : plan_.stores) this->store(store);
  out_.close();
  out_.close();
  body_.declared = outside;
  body_.lane.clear();
}

/// Declares an array with one element a lane.
void HostPrinter::declare_lanes(int instruction, const std::string& name) {
  const DType dtype = plan_.body[static_cast<std::size_t>(instruction)].dtype;
  body_.need(is_complex(dtype) ? "host_complex_lanes" : "host_lanes");
  out_.line("Lanes<{}, {}> {};", body_.variable_type(instruction), lanes_of(plan_), name);
}

/// Declares arrays of the loop's carries and of the other values that it uses, one element a lane.
void HostPrinter::begin_lanes(const Instruction& statement,
                              const std::function<void()>& open_lanes) {
  const ElementLoop& loop = plan_.element_loops[static_cast<std::size_t>(statement.loop)];
  for (std::size_t k = 0; k < loop.initial.size(); ++k)
    declare_lanes(loop.initial[k], Body::carry(statement.loop, k));
  std::vector<int> kept;
  for (const int used : statement.arguments) {
    if (is_cheap(plan_.body[static_cast<std::size_t>(used)])) continue;
    kept.push_back(used);
    declare_lanes(used, fmt::format("kept{}_{}", statement.loop, used));
  }
  if (!loop.length) out_.line("unsigned char active{}[{}];", statement.loop, lanes_of(plan_));
  open_lanes();
  declare_all(body_.needed_for(statement.arguments, false));
  for (std::size_t k = 0; k < loop.initial.size(); ++k) {
    out_.line("{}.set({}, v{});", Body::carry(statement.loop, k), body_.lane, loop.initial[k]);
  }
  for (const int used : kept)
    out_.line("kept{0}_{1}.set({2}, v{1});", statement.loop, used, body_.lane);
  if (!loop.length) out_.line("active{}[{}] = 1;", statement.loop, body_.lane);
  out_.close();
}

/// Prints the steps of the lanes. In a loop with a condition, lanes that have ended keep their
/// carries.
void HostPrinter::run_lanes(const Instruction& statement, const std::function<void()>& open_lanes) {
  const ElementLoop& loop = plan_.element_loops[static_cast<std::size_t>(statement.loop)];
  if (loop.length) {
    body_.open_steps(statement.loop);
  } else {
    out_.line("unsigned char any{} = 1;", statement.loop);
    out_.open("while (any{} != 0)", statement.loop);
    out_.line("any{} = 0;", statement.loop);
  }
  open_lanes();
  for (const int used : statement.arguments) {
    if (is_cheap(plan_.body[static_cast<std::size_t>(used)])) {
      declare_all({used});
    } else {
      out_.line("const {} v{} = kept{}_{}.get({});", body_.variable_type(used), used,
                statement.loop, used, body_.lane);
    }
  }
  const auto decided = loop.steps.begin() + static_cast<std::ptrdiff_t>(loop.decided);
  declare_all({loop.steps.begin(), decided});
  if (!loop.length) {
    out_.line("const unsigned char goes_on = active{}[{}] & (v{} ? 1 : 0);", statement.loop,
              body_.lane, loop.condition);
    out_.line("active{}[{}] = goes_on;", statement.loop, body_.lane);
    out_.line("any{} |= goes_on;", statement.loop);
    // A loop within the step may never end for the values of a lane that has ended.
    const bool has_loops = std::ranges::any_of(loop.steps, [&](int step) {
      return plan_.body[static_cast<std::size_t>(step)].kind == Instruction::Kind::loop;
    });
    if (has_loops) out_.line("if (goes_on == 0) continue;");
  }
  declare_all({decided, loop.steps.end()});
  for (std::size_t k = 0; k < loop.initial.size(); ++k) {
    const std::string carry = Body::carry(statement.loop, k);
    if (loop.length) {
      out_.line("{}.set({}, v{});", carry, body_.lane, loop.next[k]);
    } else {
      body_.need(ir::Op::select, plan_.body[static_cast<std::size_t>(loop.next[k])].dtype);
      out_.line("{0}.set({1}, op::select(goes_on != 0, v{2}, {0}.get({1})));", carry, body_.lane,
                loop.next[k]);
    }
  }
  out_.close();
  out_.close();
}

}  // namespace heddle::codegen

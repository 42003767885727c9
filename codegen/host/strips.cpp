#include <algorithm>
#include <ranges>

#include "codegen/host/printer.h"

namespace heddle::codegen {

using passes::Instruction;
using passes::Loop;
using passes::Store;

namespace {

constexpr int strip = 512;  // elements, whose floats stay in the first cache

bool moves_bits(const Instruction& instruction) {
  if (instruction.kind == Instruction::Kind::cast) return false;
  if (instruction.kind != Instruction::Kind::apply) return true;
  switch (instruction.op) {
    case ir::Op::select:
    case ir::Op::negative:
    case ir::Op::absolute:
    case ir::Op::fabs:
    case ir::Op::conjugate:
    case ir::Op::real:
      return true;
    default:
      return false;
  }
}

/// Extremes are found by the order of bits.
bool takes_bits(const passes::Reduction& reduction) {
  return reduction.op == ir::Op::min || reduction.op == ir::Op::max ||
         ir::finds_place(reduction.op);
}

}  // namespace

/// Whether neighbours along the loop are neighbours in memory, whose place the loops alone tell.
bool HostPrinter::is_run(const passes::Index& address, const Loop& loop) const {
  return std::ranges::all_of(
             address.terms,
             [&](const passes::IndexTerm& term) {
               return plan_.space->atom(term.atom).kind == passes::Atom::Kind::loop &&
                      (term.atom != loop.atom || term.coefficient == passes::Dim(1));
             }) &&
         std::ranges::any_of(address.terms,
                             [&](const passes::IndexTerm& term) { return term.atom == loop.atom; });
}

/// Stores of halves that are computed rather than moved.
std::vector<const Store*> HostPrinter::narrowed_stores(const std::vector<const Store*>& stores,
                                                       const Loop& loop) const {
  std::vector<bool> computed(plan_.body.size());
  for (std::size_t i = 0; i < plan_.body.size(); ++i) {
    const Instruction& one = plan_.body[i];
    computed[i] = !moves_bits(one) ||
                  (one.kind == Instruction::Kind::apply &&
                   std::ranges::any_of(one.arguments, [&](int k) { return computed[k]; }));
  }
  std::vector<const Store*> result;
  for (const Store* one : stores) {
    if (!one->combine && plan_.operands[one->operand].dtype == DType::f16 && computed[one->value] &&
        is_run(one->address, loop))
      result.push_back(one);
  }
  return result;
}

/// Loads of halves whose numbers are asked for: by arithmetic, sums, or the stores in `narrowed`.
std::vector<int> HostPrinter::widened_loads(const std::vector<int>& instructions,
                                            const std::vector<const Store*>& narrowed,
                                            const Loop& loop) const {
  std::vector<bool> asked(plan_.body.size());
  for (const Store* one : narrowed) asked[one->value] = true;
  for (const passes::Reduction& reduction : plan_.reductions) {
    if (reduction.value >= 0 && !takes_bits(reduction)) asked[reduction.value] = true;
  }
  std::vector<int> result;
  for (const int i : std::views::reverse(instructions)) {
    const Instruction& one = plan_.body[i];
    if (asked[i] || !moves_bits(one)) {
      for (const int argument : one.arguments) asked[argument] = true;
    }
    if (one.kind == Instruction::Kind::load && one.dtype == DType::f16 && asked[i] &&
        !one.guarded && is_run(one.address, loop))
      result.push_back(i);
  }
  return result;
}

/// Strips of the run [first, stop), in which halves are widened and narrowed together; `walk`
/// prints what goes over one.
void HostPrinter::strips(const std::vector<int>& instructions,
                         const std::vector<const Store*>& stores, const Loop& loop,
                         const std::function<void(const char* first, const char* stop)>& walk) {
  const std::vector<const Store*> narrowed = narrowed_stores(stores, loop);
  const std::vector<int> loads = widened_loads(instructions, narrowed, loop);
  if (loads.empty() && narrowed.empty()) return walk("first", "stop");
  body_.need("half_strips");
  const std::string variable = body_.loop_variable(loop.atom);
  out_.open("for (Index strip = first; strip < stop; strip += {})", strip);
  out_.line("const Index strip_stop = stop - strip < {0} ? stop : strip + {0};", strip);
  for (const int i : loads) {
    const Instruction& load = plan_.body[i];
    out_.line("{}float w{}[{}];", aligned, i, strip);
    out_.open("");
    out_.line("const Index {} = strip;", variable);
    out_.line("op::widen_all(w{}, p{} + ({}), strip_stop - strip);", i, load.operand,
              body_.index(load.address));
    out_.close();
    widened_[i] = fmt::format("w{}[{} - strip]", i, variable);
  }
  for (const Store* one : narrowed) {
    const std::string name = fmt::format("y{}", one - plan_.stores.data());
    out_.line("{}float {}[{}];", aligned, name, strip);
    narrowed_[one] = fmt::format("{}[{} - strip]", name, variable);
  }
  walk("strip", "strip_stop");
  for (const Store* one : narrowed) {
    out_.open("");
    out_.line("const Index {} = strip;", variable);
    out_.line("op::narrow_all(p{} + ({}), y{}, strip_stop - strip);", one->operand,
              body_.index(one->address), one - plan_.stores.data());
    out_.close();
  }
  out_.close();
  widened_.clear();
  narrowed_.clear();
}

}  // namespace heddle::codegen

#include "passes/pipeline/touched_elements.h"

#include <algorithm>
#include <optional>

namespace heddle::passes {

namespace {

/// The buffer whose memory it is.
BufferRef owner_of(const Program& program, BufferRef buffer) {
  while (buffer.kind == BufferRef::Kind::output) {
    const ProgramOutput& output = program.outputs[buffer.index];
    if (output.input) return {BufferRef::Kind::input, *output.input};
    if (!output.output) break;
    buffer.index = *output.output;
  }
  return buffer;
}

class KernelTouches {
 public:
  KernelTouches(const PlannedProgram& planned, const KernelStep& step)
      : program_(planned.program), plan_(planned.kernels[step.kernel]), step_(step) {}

  std::vector<TouchedElements> find() {
    if (!plan_.has_loops() || plan_.items || plan_.space == nullptr) {
      for (std::size_t i = 0; i < step_.parameters.size(); ++i) add_all(i);
      return std::move(found_);
    }
    known_.assign(plan_.operands.size(), false);
    for (const Instruction& one : plan_.body) read(one);
    for (const Store& store : plan_.stores) {
      if (store.by_value) {
        add_all(static_cast<std::size_t>(store.operand));
      } else {
        add(store.operand, store.address, true);
      }
    }
    // States of reductions, and flags.
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (!known_[i]) add_all(i);
    }
    return std::move(found_);
  }

 private:
  void read(const Instruction& one) {
    using Kind = Instruction::Kind;
    if (one.kind == Kind::load) return add(one.operand, one.address, false);
    if (one.kind == Kind::search || one.kind == Kind::array || one.kind == Kind::put)
      add_all(static_cast<std::size_t>(one.operand));
  }

  TouchedElements& add(std::size_t operand, bool written) {
    if (operand < known_.size()) known_[operand] = true;
    TouchedElements& touched = found_.emplace_back();
    touched.buffer = owner_of(program_, step_.parameters[operand].buffer);
    touched.written = written;
    return touched;
  }

  void add_all(std::size_t operand) {
    const Parameter& parameter = step_.parameters[operand];
    if (parameter.kind != Parameter::Kind::buffer) return;
    add(operand, parameter.written).all = true;
  }

  void add(int operand, const Index& address, bool written) {
    TouchedElements& touched = add(static_cast<std::size_t>(operand), written);
    touched.element_bytes = static_cast<int>(size_of(plan_.operands[operand].dtype));
    touched.all = !set_places(touched, address);
  }

  /// False if the places are not known before the kernel runs.
  bool set_places(TouchedElements& touched, const Index& address) const {
    if (!address.offset.is_constant()) return false;
    touched.begin = address.offset.constant() * touched.element_bytes;
    return std::ranges::all_of(address.terms, [&](const IndexTerm& term) {
      const Atom& atom = plan_.space->atom(term.atom);
      if (atom.kind != Atom::Kind::loop || !atom.extent.is_constant() ||
          !term.coefficient.is_constant())
        return false;
      touched.loops.push_back(
          {term.coefficient.constant() * touched.element_bytes, atom.extent.constant()});
      return true;
    });
  }

  const Program& program_;
  const KernelPlan& plan_;
  const KernelStep& step_;
  std::vector<bool> known_;  ///< by operand
  std::vector<TouchedElements> found_;
};

}  // namespace

std::vector<TouchedElements> touched_by(const PlannedProgram& planned, const Step& step) {
  if (const KernelStep* const kernel = step.kernel()) return KernelTouches(planned, *kernel).find();
  std::vector<TouchedElements> touched;
  for (const BufferUse& use : uses_of(step)) {
    TouchedElements& one = touched.emplace_back();
    one.buffer = owner_of(planned.program, use.buffer);
    one.written = use.written;
    one.all = true;
  }
  return touched;
}

}  // namespace heddle::passes

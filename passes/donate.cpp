#include "passes/donate.h"

#include <algorithm>
#include <optional>

namespace heddle::passes {

namespace {

/// Kernels store to outputs in vectors, counting on an address that memory from the pool has.
constexpr int output_alignment = 16;

Dim bytes_of(const ir::Type& type) {
  return ir::element_count(type.shape) * Dim(static_cast<std::int64_t>(size_of(type.dtype)));
}

class Donation {
 public:
  explicit Donation(PlannedProgram& planned) : planned_(planned), program_(planned.program) {}

  void run() {
    for (std::uint32_t output = 0; output < program_.outputs.size(); ++output) {
      if (program_.outputs[output].input || program_.outputs[output].output) continue;
      for (std::uint32_t input = 0; input < program_.inputs.size(); ++input) {
        if (fits(input, output)) {
          reuse(input, output);
          break;
        }
      }
    }
  }

 private:
  bool is_taken(std::uint32_t input) const {
    return std::any_of(program_.outputs.begin(), program_.outputs.end(),
                       [&](const ProgramOutput& output) { return output.input == input; });
  }

  std::optional<std::size_t> only_writer(const BufferRef& buffer) const {
    std::optional<std::size_t> writer;
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      const Step& step = program_.steps[i];
      bool writes = step.kind == Step::Kind::matmul && step.matmul.out == buffer;
      for (const Parameter& parameter : step.kernel.parameters)
        writes |= parameter.written && parameter.buffer == buffer;
      if (!writes) continue;
      if (writer || step.kind != Step::Kind::kernel) return std::nullopt;
      writer = i;
    }
    return writer;
  }

  bool fits(std::uint32_t input, std::uint32_t output) const {
    const ProgramInput& candidate = program_.inputs[input];
    if (!candidate.donated || candidate.scalar || is_taken(input)) return false;
    if (candidate.alignment < output_alignment) return false;
    if (!(bytes_of(candidate.type) == bytes_of(program_.outputs[output].type))) return false;
    const BufferRef from{BufferRef::Kind::input, input}, to{BufferRef::Kind::output, output};
    const std::optional<std::size_t> writer = only_writer(to);
    // A run that fails may be repeated, so the input is only overwritten when nothing can fail any
    // more.
    if (!writer || *writer + 1 != program_.steps.size()) return false;
    const KernelStep& step = program_.steps[*writer].kernel;
    const KernelPlan& plan = planned_.kernels[step.kernel];
    if (plan.mapping != Mapping::elements) return false;
    std::optional<Index> stored;
    for (const Store& store : plan.stores) {
      if (step.parameters[store.operand].buffer == to) stored = store.address;
    }
    return stored &&
           std::all_of(plan.body.begin(), plan.body.end(), [&](const Instruction& instruction) {
             if (instruction.kind != Instruction::Kind::load ||
                 !(step.parameters[instruction.operand].buffer == from))
               return true;
             return instruction.address == *stored &&
                    instruction.dtype == program_.outputs[output].type.dtype;
           });
  }

  void reuse(std::uint32_t input, std::uint32_t output) {
    const BufferRef from{BufferRef::Kind::input, input}, to{BufferRef::Kind::output, output};
    for (Step& step : program_.steps) {
      bool mentions_output = false;
      for (Parameter& parameter : step.kernel.parameters) {
        if (parameter.kind != Parameter::Kind::buffer || !(parameter.buffer == to)) continue;
        parameter.buffer = from;
        mentions_output = true;
      }
      for (BufferRef* buffer : {&step.matmul.a, &step.matmul.b, &step.matmul.out, &step.copy.source,
                                &step.copy.destination}) {
        if (*buffer == to) *buffer = from;
      }
      if (!mentions_output) continue;
      KernelPlan& plan = planned_.kernels[step.kernel.kernel];
      for (std::size_t k = 0; k < plan.operands.size(); ++k) {
        if (step.kernel.parameters[k].buffer == from) plan.operands[k].aliased = true;
      }
    }
    program_.outputs[output].input = input;
  }

  PlannedProgram& planned_;
  Program& program_;
};

}  // namespace

void reuse_donated_inputs(PlannedProgram& planned) { Donation(planned).run(); }

}  // namespace heddle::passes

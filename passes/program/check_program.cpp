#include "passes/program/check_program.h"

#include <algorithm>

#include "heddle/error.h"

namespace heddle::passes {

namespace {

void require(bool holds, const char* what) {
  if (!holds) throw ParseError(std::string("program: ") + what);
}

class Checker {
 public:
  explicit Checker(const Program& program) : Checker(program, program.kernel_names.size()) {}
  /// `kernels`: how many the whole program has.
  Checker(const Program& program, std::size_t kernels) : program_(program), kernels_(kernels) {}

  void run() const {
    for (const ProgramInput& input : program_.inputs)
      require(input.alignment > 0, "an input's alignment is not positive");
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
      const ProgramOutput& output = program_.outputs[i];
      require(output.alignment > 0, "an output's alignment is not positive");
      if (output.input)
        require(*output.input < program_.inputs.size(), "an output refers to an unknown input");
      if (output.output)
        require(*output.output < i, "an output refers to an output that does not come before it");
    }
    for (const Temporary& temporary : program_.temporaries) {
      require(temporary.first_step <= temporary.last_step &&
                  temporary.last_step < program_.steps.size(),
              "a temporary refers to unknown steps");
    }
    for (const ir::Requirement& one : program_.requirements)
      require(one.breach <= ir::Requirement::Breach::bytes, "a requirement has an unknown kind");
    for (const Step& each : program_.steps) step(each, nullptr);
    launches_of_many();
  }

 private:
  /// Steps that are launched together have the same kernel, and rows in its table.
  void launches_of_many() const {
    const KernelStep* first = nullptr;
    std::uint32_t missing = 0;
    for (const Step& each : program_.steps) {
      const KernelStep* const kernel = each.kernel();
      const bool follows = kernel != nullptr && kernel->together == 0;
      require(follows == (missing > 0), "a launch of several steps lacks steps");
      if (follows) {
        require(fit_one_table(*first, *kernel), "steps of different kernels are one launch");
        --missing;
      } else if (kernel != nullptr) {
        require(kernel->together <= std::max(kernel->table_rows, 1u),
                "a launch has more steps than its table has rows");
        first = kernel;
        missing = kernel->together - 1;
      }
    }
    require(missing == 0, "a launch of several steps lacks steps");
  }
  bool fit_one_table(const KernelStep& a, const KernelStep& b) const {
    const std::vector<std::string>& names = program_.kernel_names;
    return a.kernel < names.size() && b.kernel < names.size() &&
           names[a.kernel] == names[b.kernel] && a.table_rows == b.table_rows &&
           a.parameters.size() == b.parameters.size();
  }

  void array_input(std::uint32_t index) const {
    require(index < program_.inputs.size() && !program_.inputs[index].scalar,
            "an array refers to an unknown array input");
  }
  void scalar_input(std::uint32_t index) const {
    require(index < program_.inputs.size() && program_.inputs[index].scalar,
            "a scalar refers to an unknown scalar input");
  }

  void buffer(const BufferRef& buffer, const Fallback* fallback) const {
    switch (buffer.kind) {
      case BufferRef::Kind::input:
        return array_input(buffer.index);
      case BufferRef::Kind::output:
        return require(buffer.index < program_.outputs.size(),
                       "a buffer refers to an unknown output");
      case BufferRef::Kind::temporary:
        return require(buffer.index < program_.temporaries.size(),
                       "a buffer refers to an unknown temporary");
      case BufferRef::Kind::fallback:
        return require(fallback != nullptr && buffer.index < fallback->buffers.size(),
                       "a buffer refers to an unknown buffer of a fallback");
    }
    require(false, "a buffer has an unknown kind");
  }

  void kernel(const KernelStep& kernel, const Fallback* fallback) const {
    require(kernel.kernel < kernels_, "a step launches an unknown kernel");
    require(
        kernel.block[0] > 0 && kernel.block[1] > 0 && kernel.cluster > 0 && kernel.host_grain > 0,
        "a launch has no threads");
    require(kernel.table_rows * (kernel.parameters.size() + 1) * sizeof(ir::ElementBits) <=
                most_table_bytes,
            "a table of launches is larger than a kernel's parameters may be");
    for (const GridExtent& extent : kernel.grid)
      require(extent.per_block > 0 && extent.most >= 0, "a grid has an invalid extent");
    for (const Parameter& parameter : kernel.parameters) {
      switch (parameter.kind) {
        case Parameter::Kind::buffer:
          buffer(parameter.buffer, fallback);
          require(parameter.cleared >= 0, "a buffer has a negative size to clear");
          continue;
        case Parameter::Kind::scalar:
          scalar_input(parameter.scalar);
          continue;
        case Parameter::Kind::size:
        case Parameter::Kind::constant:
          continue;
      }
      require(false, "a parameter has an unknown kind");
    }
  }

  void call(const CallStep& call, const Fallback* fallback) const {
    for (const CallBuffer& operand : call.operands) buffer(operand.buffer, fallback);
    for (const CallBuffer& result : call.results) buffer(result.buffer, fallback);
    for (const BufferRef& scratch : call.scratch) buffer(scratch, fallback);
    for (const KernelStep& each : call.kernels) {
      require(each.kernel < kernels_, "a call launches an unknown kernel");
    }
    for (const CallAlias& alias : call.aliases) {
      require(alias.result < call.results.size() && alias.operand < call.operands.size(),
              "a call's alias refers to an unknown operand or result");
    }
    for (const std::shared_ptr<const Program>& body : call.bodies) {
      require(body->kernel_names.empty(), "a region has kernels of its own");
      Checker(*body, kernels_).run();
    }
    for (const auto& [name, value] : call.values.all()) {
      const auto* const factor = std::get_if<Factor>(&value);
      if (factor != nullptr && factor->scalar) scalar_input(*factor->scalar);
    }
    if (!call.fallback) return;
    require(fallback == nullptr, "a fallback has a fallback");
    for (const Step& each : call.fallback->steps) {
      step(each, &*call.fallback);
      require(each.kernel() == nullptr || each.kernel()->together == 1,
              "a launch of a fallback has several steps");
    }
  }

  void step(const Step& step, const Fallback* fallback) const {
    if (step.kernel() != nullptr) kernel(*step.kernel(), fallback);
    if (step.call() != nullptr) call(*step.call(), fallback);
    if (step.fill() != nullptr) buffer(step.fill()->buffer, fallback);
  }

  const Program& program_;
  std::size_t kernels_;
};

}  // namespace

void check_program(const Program& program) { Checker(program).run(); }

}  // namespace heddle::passes

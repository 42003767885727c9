#include "passes/donate.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "passes/kernel_uses.h"

namespace heddle::passes {

namespace {

/// Kernels store to outputs in vectors, counting on an address that memory from the pool has.
constexpr int output_alignment = 16;

/// A run that fails may be repeated, so inputs are only overwritten when nothing can fail any more:
/// by the last step, which is all that has to be looked at in detail.
class Donation {
 public:
  explicit Donation(PlannedProgram& planned) : planned_(planned), program_(planned.program) {}

  void run() {
    if (program_.steps.empty()) return;
    if (program_.steps.back().kind == Step::Kind::matmul)
      return reuse_residual(program_.steps.back().matmul);
    if (program_.steps.back().kind != Step::Kind::kernel) return;
    if (last_plan().mapping != Mapping::elements) return;
    if (!find_candidates()) return;
    uses_.emplace(last_step(), last_plan());
    find_written_before();
    for (std::uint32_t output = 0; output < program_.outputs.size(); ++output) {
      if (program_.outputs[output].input || program_.outputs[output].output) continue;
      const KernelUses::Uses& uses = uses_->of({BufferRef::Kind::output, output});
      if (uses.stored != nullptr && !written_before_[output]) find_input(output, uses);
    }
  }

 private:
  /// A library reads an element of the residual before it writes in its place, but elements of its
  /// other operands at any time.
  void reuse_residual(MatmulStep& step) {
    if (!step.residual || step.residual->kind != BufferRef::Kind::input ||
        step.out.kind != BufferRef::Kind::output)
      return;
    const BufferRef residual = *step.residual, out = step.out;
    if (step.a == residual || step.b == residual || step.bias == residual) return;
    if (!find_candidates()) return;
    const auto found = candidates_.find(byte_count(program_.outputs[out.index].type));
    if (found == candidates_.end() ||
        std::ranges::find(found->second, residual.index) == found->second.end())
      return;
    step.out = residual;
    program_.outputs[out.index].input = residual.index;
    // The kernel that stands by reads each element where it writes, too.
    KernelStep& kernel = step.stand_by->kernel;
    std::vector<std::size_t> sharing;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      Parameter& parameter = kernel.parameters[i];
      if (parameter.kind != Parameter::Kind::buffer || i == step.stand_by->product) continue;
      if (parameter.buffer == out) parameter.buffer = residual;
      if (parameter.buffer == residual) sharing.push_back(i);
    }
    share_memory(planned_.kernels[kernel.kernel].operands, sharing);
    kernel.parameters[step.stand_by->product].buffer = step.out;
  }

  KernelStep& last_step() { return program_.steps.back().kernel; }
  KernelPlan& last_plan() { return planned_.kernels[last_step().kernel]; }

  /// Donated inputs by their bytes, in order, and whether there are any.
  bool find_candidates() {
    std::vector<bool> taken(program_.inputs.size());
    for (const ProgramOutput& output : program_.outputs) {
      if (output.input) taken[*output.input] = true;
    }
    for (std::uint32_t i = 0; i < program_.inputs.size(); ++i) {
      const ProgramInput& input = program_.inputs[i];
      if (!input.donated || input.scalar || taken[i] || input.alignment < output_alignment)
        continue;
      candidates_[byte_count(input.type)].push_back(i);
    }
    return !candidates_.empty();
  }

  /// Outputs that an earlier step writes too are not the last step's alone.
  void find_written_before() {
    written_before_.resize(program_.outputs.size());
    for (std::size_t i = 0; i + 1 < program_.steps.size(); ++i) {
      for (const BufferUse& use : uses_of(program_.steps[i])) {
        if (use.written && use.buffer.kind == BufferRef::Kind::output)
          written_before_[use.buffer.index] = true;
      }
    }
  }

  void find_input(std::uint32_t output, const KernelUses::Uses& uses) {
    const auto found = candidates_.find(byte_count(program_.outputs[output].type));
    if (found == candidates_.end()) return;
    std::vector<std::uint32_t>& inputs = found->second;
    const auto input = std::ranges::find_if(inputs, [&](std::uint32_t candidate) {
      return is_read_where(*uses.stored, program_.outputs[output].type.dtype,
                           uses_->of({BufferRef::Kind::input, candidate}));
    });
    if (input == inputs.end()) return;
    reuse(*input, output, uses);
    inputs.erase(input);
  }

  void reuse(std::uint32_t input, std::uint32_t output, const KernelUses::Uses& uses) {
    KernelPlan& plan = last_plan();
    for (const std::size_t place : uses.places)
      last_step().parameters[place].buffer = {BufferRef::Kind::input, input};
    std::vector<std::size_t> sharing = uses.places;
    const auto& read = uses_->of({BufferRef::Kind::input, input}).places;
    sharing.insert(sharing.end(), read.begin(), read.end());
    share_memory(plan.operands, sharing);
    program_.outputs[output].input = input;
  }

  PlannedProgram& planned_;
  Program& program_;
  std::unordered_map<Dim, std::vector<std::uint32_t>, DimHasher> candidates_;
  std::optional<KernelUses> uses_;    ///< of the last step
  std::vector<bool> written_before_;  ///< per output
};

}  // namespace

void reuse_donated_inputs(PlannedProgram& planned) { Donation(planned).run(); }

}  // namespace heddle::passes

#include "passes/pipeline/memory_reuse.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "passes/pipeline/kernel_uses.h"
#include "passes/program/constants.h"

namespace heddle::passes {

namespace {

class Reuse {
 public:
  Reuse(PlannedProgram& planned, bool temporaries)
      : planned_(planned),
        program_(planned.program),
        temporaries_(temporaries),
        constants_(constant_part(planned.program).results) {}

  void run() {
    find_first_uses_of_outputs();
    for (std::uint32_t i = 0; i < program_.steps.size(); ++i) {
      Step& step = program_.steps[i];
      const bool is_last = i + 1 == program_.steps.size();
      if (const KernelStep* const kernel = step.kernel()) visit(*kernel, i, is_last);
      if (const CallStep* const call = step.call()) visit(*call, i, is_last);
    }
    if (replacements_.empty()) return;
    join_lifetimes();
    replace_buffers();
  }

 private:
  /// Buffers that a step may overwrite, by size in bytes, in the order in which they are tried.
  using BySize = std::unordered_map<Dim, std::vector<BufferRef>, DimHasher>;

  void find_first_uses_of_outputs() {
    first_uses_.assign(program_.outputs.size(), ~0u);
    for (std::uint32_t i = 0; i < program_.steps.size(); ++i) {
      for (const BufferUse& use : uses_of(program_.steps[i])) {
        if (use.buffer.kind != BufferRef::Kind::output) continue;
        std::uint32_t& first = first_uses_[use.buffer.index];
        first = std::min(first, i);
      }
    }
  }

  void visit(const KernelStep& step, std::uint32_t number, bool is_last) {
    KernelPlan& plan = planned_.kernels[step.kernel];
    if (plan.mapping != Mapping::elements) return;
    const KernelUses uses(step, plan);
    BySize memory = is_last ? donated_inputs() : BySize();
    if (temporaries_ && plan.reductions.empty()) add_dying(memory, step, uses, number);
    if (memory.empty()) return;
    for (const Store& store : plan.stores) {
      const BufferRef made = step.parameters[store.operand].buffer;
      if (!begins_at(made, number) || !is_written_whole(store, uses.of(made))) continue;
      const DType dtype = plan.operands[store.operand].dtype;
      const auto taken = take(memory, made, [&](const BufferRef& candidate) {
        return is_read_where(store, dtype, uses.of(candidate));
      });
      if (!taken) continue;
      mark_shared(step, *taken, made);
      share(*taken, made);
    }
  }

  void visit(const CallStep& call, std::uint32_t number, bool is_last) {
    if (call.aliases.empty()) return;
    BySize memory = is_last ? donated_inputs() : BySize();
    if (temporaries_) add_dying(memory, call, number);
    for (const CallAlias& alias : call.aliases) {
      const BufferRef made = call.results[alias.result].buffer;
      if (!begins_at(made, number)) continue;
      const BufferRef& operand = call.operands[alias.operand].buffer;
      // If the call has another operand in the same memory, it may read that at any time.
      const bool is_alone = std::ranges::count(call.operands, operand, &CallBuffer::buffer) == 1;
      const auto taken = take(memory, made, [&](const BufferRef& candidate) {
        return is_alone && candidate == operand;
      });
      if (!taken) continue;
      if (call.fallback) {
        for (const Step& step : call.fallback->steps) {
          if (const KernelStep* const kernel = step.kernel()) mark_shared(*kernel, *taken, made);
        }
      }
      share(*taken, made);
    }
  }

  /// A failed run may be repeated, so an input may be overwritten only by the last step, after
  /// which nothing can fail.
  BySize donated_inputs() const {
    std::vector<bool> returned(program_.inputs.size());
    for (const ProgramOutput& output : program_.outputs) {
      if (output.input) returned[*output.input] = true;
    }
    BySize memory;
    for (std::uint32_t i = 0; i < program_.inputs.size(); ++i) {
      const ProgramInput& input = program_.inputs[i];
      if (!input.donated || input.scalar || returned[i] || input.alignment < whole_access) continue;
      memory[byte_count(input.type)].push_back({BufferRef::Kind::input, i});
    }
    return memory;
  }

  /// Whether no later step, nor a later call, needs the buffer's content.
  bool dies_at(const BufferRef& buffer, std::uint32_t number) const {
    return buffer.kind == BufferRef::Kind::temporary &&
           program_.temporaries[buffer.index].last_step == number &&
           (constants_.empty() || !constants_[buffer.index]);
  }

  /// Adds the temporaries that this kernel only reads, and that no later step uses.
  void add_dying(BySize& memory, const KernelStep& step, const KernelUses& uses,
                 std::uint32_t number) const {
    for (std::size_t i = 0; i < step.parameters.size(); ++i) {
      const Parameter& parameter = step.parameters[i];
      if (parameter.kind != Parameter::Kind::buffer || !dies_at(parameter.buffer, number)) continue;
      const KernelUses::Uses& own = uses.of(parameter.buffer);
      const bool is_read = !parameter.written && own.stored == nullptr && !own.loads.empty();
      if (is_read && own.places.front() == i)
        memory[bytes_of(parameter.buffer)].push_back(parameter.buffer);
    }
  }

  void add_dying(BySize& memory, const CallStep& call, std::uint32_t number) const {
    for (const CallAlias& alias : call.aliases) {
      const BufferRef& operand = call.operands[alias.operand].buffer;
      if (!dies_at(operand, number) || std::ranges::count(call.scratch, operand) > 0) continue;
      std::vector<BufferRef>& known = memory[bytes_of(operand)];
      if (std::ranges::find(known, operand) == known.end()) known.push_back(operand);
    }
  }

  /// Whether the buffer has its own memory, no earlier step uses it, and it may take the place of
  /// another one: kernels access temporaries and outputs in vectors, as their alignment allows.
  bool begins_at(const BufferRef& made, std::uint32_t number) const {
    if (made.kind == BufferRef::Kind::output) {
      const ProgramOutput& output = program_.outputs[made.index];
      return first_uses_[made.index] == number && !output.input && !output.output &&
             output.alignment >= whole_access;
    }
    return made.kind == BufferRef::Kind::temporary &&
           program_.temporaries[made.index].first_step == number;
  }

  static bool is_written_whole(const Store& store, const KernelUses::Uses& own) {
    return !store.combine && store.guard < 0 && store.positions.empty() && own.loads.empty() &&
           own.places.size() == 1;
  }

  Dim bytes_of(const BufferRef& buffer) const {
    return buffer.kind == BufferRef::Kind::output ? byte_count(program_.outputs[buffer.index].type)
                                                  : program_.temporaries[buffer.index].bytes;
  }

  /// Removes and returns the first candidate of the same size as `made` for which `fits` is true.
  /// Only an output may use the memory of an input.
  template <class Fits>
  std::optional<BufferRef> take(BySize& memory, const BufferRef& made, const Fits& fits) const {
    const auto found = memory.find(bytes_of(made));
    if (found == memory.end()) return std::nullopt;
    const auto taken = std::ranges::find_if(found->second, [&](const BufferRef& candidate) {
      const bool is_input = candidate.kind == BufferRef::Kind::input;
      return (!is_input || made.kind == BufferRef::Kind::output) && fits(candidate);
    });
    if (taken == found->second.end()) return std::nullopt;
    const BufferRef buffer = *taken;
    found->second.erase(taken);
    return buffer;
  }

  void mark_shared(const KernelStep& step, const BufferRef& a, const BufferRef& b) {
    std::vector<std::size_t> sharing;
    for (std::size_t i = 0; i < step.parameters.size(); ++i) {
      const Parameter& parameter = step.parameters[i];
      if (parameter.kind == Parameter::Kind::buffer &&
          (parameter.buffer == b || parameter.buffer == a))
        sharing.push_back(i);
    }
    if (sharing.size() > 1) share_memory(planned_.kernels[step.kernel].operands, sharing);
  }

  /// Makes `made` use `memory`. An output in an input's memory becomes an alias of the input. A
  /// temporary is replaced by the buffer made in its memory.
  void share(const BufferRef& memory, const BufferRef& made) {
    if (memory.kind == BufferRef::Kind::input) {
      program_.outputs[made.index].input = memory.index;
      replacements_.emplace(made, memory);
    } else {
      replacements_.emplace(memory, made);
    }
  }

  /// Follows the replacements of a buffer: the buffer made in a temporary's memory may be replaced
  /// too.
  BufferRef latest(BufferRef buffer) const {
    for (auto next = replacements_.find(buffer); next != replacements_.end();
         next = replacements_.find(buffer)) {
      buffer = next->second;
    }
    return buffer;
  }

  void join_lifetimes() {
    for (std::uint32_t i = 0; i < program_.temporaries.size(); ++i) {
      const BufferRef last = latest({BufferRef::Kind::temporary, i});
      if (last.kind != BufferRef::Kind::temporary) continue;
      Temporary& joined = program_.temporaries[last.index];
      joined.first_step = std::min(joined.first_step, program_.temporaries[i].first_step);
    }
  }

  void replace_buffers() {
    std::vector<std::uint32_t> numbers;
    std::vector<Temporary> left;
    for (std::uint32_t i = 0; i < program_.temporaries.size(); ++i) {
      numbers.push_back(static_cast<std::uint32_t>(left.size()));
      if (!replacements_.contains({BufferRef::Kind::temporary, i}))
        left.push_back(program_.temporaries[i]);
    }
    program_.temporaries = std::move(left);
    const auto replace = [&](BufferRef& buffer, bool) {
      buffer = latest(buffer);
      if (buffer.kind == BufferRef::Kind::temporary) buffer.index = numbers[buffer.index];
    };
    for (Step& step : program_.steps)
      for_each_step(step, [&](Step& each) { for_each_buffer(each, replace); });
  }

  PlannedProgram& planned_;
  Program& program_;
  const bool temporaries_;
  const std::vector<bool> constants_;  ///< temporaries that calls share; empty if there are none
  std::vector<std::uint32_t> first_uses_;  ///< for each output, its first step
  std::unordered_map<BufferRef, BufferRef, BufferRefHasher> replacements_;
};

}  // namespace

void reuse_memory(PlannedProgram& planned, bool temporaries) { Reuse(planned, temporaries).run(); }

}  // namespace heddle::passes

#include "passes/in_place.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "passes/kernel_uses.h"

namespace heddle::passes {

namespace {

template <class Function>
void for_each_buffer(KernelStep& step, const Function& function) {
  for (Parameter& parameter : step.parameters) {
    if (parameter.kind == Parameter::Kind::buffer) function(parameter.buffer);
  }
}

template <class Function>
void for_each_buffer(MatmulStep& step, const Function& function) {
  for (BufferRef* buffer : {&step.a, &step.b, &step.out}) function(*buffer);
  if (step.residual) function(*step.residual);
  if (step.bias) function(*step.bias);
  if (step.stand_by) for_each_buffer(step.stand_by->kernel, function);
}

template <class Function>
void for_each_buffer(Step& step, const Function& function) {
  switch (step.kind) {
    case Step::Kind::kernel:
      return for_each_buffer(step.kernel, function);
    case Step::Kind::matmul:
      return for_each_buffer(step.matmul, function);
    case Step::Kind::sort:
      for (BufferRef* buffer : {&step.sort.keys, &step.sort.out}) function(*buffer);
      for (BufferRef& scratch : step.sort.scratch) function(scratch);
      return;
    case Step::Kind::zero:
      return function(step.zero.buffer);
  }
}

class Sharing {
 public:
  explicit Sharing(PlannedProgram& planned)
      : planned_(planned), program_(planned.program), heirs_(program_.temporaries.size()) {}

  void run() {
    find_first_uses_of_outputs();
    for (std::uint32_t i = 0; i < program_.steps.size(); ++i) {
      if (program_.steps[i].kind != Step::Kind::kernel) continue;
      KernelPlan& plan = planned_.kernels[program_.steps[i].kernel.kernel];
      if (plan.mapping == Mapping::elements && plan.reductions.empty()) visit(i, plan);
    }
    if (!found_) return;
    join_lifetimes();
    replace_buffers();
  }

 private:
  using BySize = std::unordered_map<Dim, std::vector<std::uint32_t>, DimHasher>;

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

  void visit(std::uint32_t number, KernelPlan& plan) {
    const KernelStep& step = program_.steps[number].kernel;
    const KernelUses uses(step, plan);
    BySize dying = dying_at(number, uses);
    if (dying.empty()) return;
    for (const Store& store : plan.stores) {
      const BufferRef& made = step.parameters[store.operand].buffer;
      if (!begins_at(made, number, store, uses)) continue;
      const auto found = dying.find(bytes_of(made));
      if (found == dying.end()) continue;
      std::vector<std::uint32_t>& temporaries = found->second;
      const DType dtype = plan.operands[store.operand].dtype;
      const auto place = std::ranges::find_if(temporaries, [&](std::uint32_t candidate) {
        return is_read_where(store, dtype, uses.of({BufferRef::Kind::temporary, candidate}));
      });
      if (place == temporaries.end()) continue;
      share(*place, made, uses, plan);
      temporaries.erase(place);
    }
  }

  /// The temporaries that the kernel is the last to use, and only reads, in order.
  BySize dying_at(std::uint32_t number, const KernelUses& uses) const {
    BySize dying;
    const std::vector<Parameter>& parameters = program_.steps[number].kernel.parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Parameter& parameter = parameters[i];
      if (parameter.kind != Parameter::Kind::buffer ||
          parameter.buffer.kind != BufferRef::Kind::temporary) {
        continue;
      }
      const Temporary& temporary = program_.temporaries[parameter.buffer.index];
      const KernelUses::Uses& own = uses.of(parameter.buffer);
      const bool is_read = !parameter.written && own.stored == nullptr && !own.loads.empty();
      if (is_read && own.places.front() == i && temporary.last_step == number)
        dying[temporary.bytes].push_back(parameter.buffer.index);
    }
    return dying;
  }

  /// Whether the buffer is memory of its own that nobody has used before this store writes it
  /// whole.
  bool begins_at(const BufferRef& made, std::uint32_t number, const Store& store,
                 const KernelUses& uses) const {
    const KernelUses::Uses& own = uses.of(made);
    if (store.combine || store.guard >= 0 || !store.positions.empty() || !own.loads.empty() ||
        own.places.size() > 1) {
      return false;
    }
    if (made.kind == BufferRef::Kind::input) return false;
    return number == (made.kind == BufferRef::Kind::output
                          ? first_uses_[made.index]
                          : program_.temporaries[made.index].first_step);
  }

  Dim bytes_of(const BufferRef& buffer) const {
    return buffer.kind == BufferRef::Kind::output ? byte_count(program_.outputs[buffer.index].type)
                                                  : program_.temporaries[buffer.index].bytes;
  }

  void share(std::uint32_t temporary, const BufferRef& made, const KernelUses& uses,
             KernelPlan& plan) {
    heirs_[temporary] = made;
    found_ = true;
    std::vector<std::size_t> sharing = uses.of(made).places;
    const auto& read = uses.of({BufferRef::Kind::temporary, temporary}).places;
    sharing.insert(sharing.end(), read.begin(), read.end());
    share_memory(plan.operands, sharing);
  }

  /// An heir may have one itself, made by a later step.
  BufferRef last_heir(BufferRef buffer) const {
    while (buffer.kind == BufferRef::Kind::temporary && heirs_[buffer.index])
      buffer = *heirs_[buffer.index];
    return buffer;
  }

  void join_lifetimes() {
    for (std::uint32_t i = 0; i < heirs_.size(); ++i) {
      const BufferRef heir = last_heir({BufferRef::Kind::temporary, i});
      if (!heirs_[i] || heir.kind != BufferRef::Kind::temporary) continue;
      Temporary& joined = program_.temporaries[heir.index];
      joined.first_step = std::min(joined.first_step, program_.temporaries[i].first_step);
    }
  }

  /// Temporaries that have an heir are gone afterwards.
  void replace_buffers() {
    std::vector<std::uint32_t> numbers;
    std::vector<Temporary> left;
    for (std::size_t i = 0; i < heirs_.size(); ++i) {
      numbers.push_back(static_cast<std::uint32_t>(left.size()));
      if (!heirs_[i]) left.push_back(program_.temporaries[i]);
    }
    program_.temporaries = std::move(left);
    const auto replace = [&](BufferRef& buffer) {
      buffer = last_heir(buffer);
      if (buffer.kind == BufferRef::Kind::temporary) buffer.index = numbers[buffer.index];
    };
    for (Step& step : program_.steps) for_each_buffer(step, replace);
  }

  PlannedProgram& planned_;
  Program& program_;
  std::vector<std::uint32_t> first_uses_;        ///< per output, the step
  std::vector<std::optional<BufferRef>> heirs_;  ///< per temporary, what lies in its memory then
  bool found_ = false;
};

}  // namespace

void reuse_dying_temporaries(PlannedProgram& planned) { Sharing(planned).run(); }

}  // namespace heddle::passes

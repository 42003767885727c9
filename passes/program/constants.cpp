#include "passes/program/constants.h"

#include <algorithm>

namespace heddle::passes {

namespace {

bool is_constant(const Parameter& parameter) {
  return parameter.kind != Parameter::Kind::scalar &&
         (parameter.kind != Parameter::Kind::size || parameter.value.is_constant());
}

/// Whether a step's work does not depend on a call's arguments, apart from its buffers. Calls may
/// fail, or keep a state of their own.
bool is_constant(const Step& step) {
  if (const FillStep* const fill = step.fill()) return fill->bytes.is_constant();
  const KernelStep* const kernel = step.kernel();
  return kernel != nullptr &&
         std::ranges::all_of(kernel->parameters,
                             [](const auto& one) { return is_constant(one); }) &&
         std::ranges::all_of(kernel->grid,
                             [](const auto& one) { return one.elements.is_constant(); });
}

class Finder {
 public:
  explicit Finder(const Program& program) : program_(program) {
    for (const Temporary& temporary : program.temporaries)
      part_.temporaries.push_back(temporary.bytes.is_constant());
    for (const Step& step : program.steps) {
      part_.steps.push_back(is_constant(step));
      uses_.push_back(uses_of(step));
    }
  }

  ConstantPart run() {
    if (std::ranges::none_of(part_.steps, [](bool constant) { return constant; })) return {};
    for (bool changed = true; changed;) changed = drop_steps() || drop_temporaries();
    return find_results() ? std::move(part_) : ConstantPart();
  }

 private:
  bool is_constant_buffer(const BufferRef& buffer) const {
    return buffer.kind == BufferRef::Kind::temporary && part_.temporaries[buffer.index];
  }

  /// Drops steps that use other memory. Returns whether there were any.
  bool drop_steps() {
    bool changed = false;
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      if (!part_.steps[i]) continue;
      part_.steps[i] = std::ranges::all_of(
          uses_[i], [&](const BufferUse& use) { return is_constant_buffer(use.buffer); });
      changed |= !part_.steps[i];
    }
    return changed;
  }

  /// Drops temporaries that other steps write, or read before the last write.
  bool drop_temporaries() {
    bool changed = false;
    std::vector<bool> read(part_.temporaries.size());
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      for (const BufferUse& use : uses_[i]) {
        if (!is_constant_buffer(use.buffer)) continue;
        const std::uint32_t temporary = use.buffer.index;
        const bool is_overwritten = use.written && (!part_.steps[i] || read[temporary]);
        if (is_overwritten) part_.temporaries[temporary] = false;
        changed |= is_overwritten;
        if (!part_.steps[i]) read[temporary] = true;
      }
    }
    return changed;
  }

  /// Finds the temporaries that other steps read, and those that constant steps write. Returns
  /// whether there are some, and not too many.
  bool find_results() {
    std::vector<bool> written(part_.temporaries.size());
    part_.results.assign(part_.temporaries.size(), false);
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      for (const BufferUse& use : uses_[i]) {
        if (!is_constant_buffer(use.buffer)) continue;
        (part_.steps[i] ? written : part_.results)[use.buffer.index] = true;
      }
    }
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < written.size(); ++i) {
      part_.temporaries[i] = part_.temporaries[i] && written[i];
      part_.results[i] = part_.results[i] && written[i];
      if (part_.results[i]) bytes += program_.temporaries[i].bytes.constant();
    }
    return 0 < bytes && bytes <= most_constant_bytes;
  }

  const Program& program_;
  std::vector<std::vector<BufferUse>> uses_;  ///< of each step
  ConstantPart part_;
};

}  // namespace

ConstantPart constant_part(const Program& program) { return Finder(program).run(); }

}  // namespace heddle::passes

#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "passes/pipeline/program_builder.h"

namespace heddle::passes {

/// Which memory each value of a program is in, as its steps are made: an input, an output or a
/// temporary.
class ProgramBuffers {
 public:
  /// Declares the program's inputs and outputs, and decides which values are made in outputs.
  ProgramBuffers(PlannedProgram& planned, const PlanOptions& options);

  /// By value: whether it is in memory, not only within a kernel.
  const std::vector<bool>& stored() const { return stored_; }
  bool is_stored(ValueId value) const { return stored_[index_of(value)]; }
  /// The memory that a value is in, if that is decided yet.
  std::optional<BufferRef> known(ValueId value) const;
  /// The memory that a value is in: a temporary if nothing else was decided.
  BufferRef of(ValueId value);
  /// Whether the group only reshapes an array, within the memory that it is in.
  bool reshapes_in_place(const Group& group);
  /// Temporaries are aligned.
  bool is_aligned(const BufferRef& buffer) const;
  BufferRef new_temporary(Dim bytes);
  /// Stores a value in the only buffer of a call's fallback.
  BufferRef store_in_fallback(ValueId value);
  const ir::Type& input_type(std::uint32_t input) const { return program_.inputs[input].type; }

 private:
  void declare_inputs();
  void declare_outputs();
  bool only_reshapes(const Group& group) const;
  void store_reshapes_where_made();
  void make_in_outputs();
  std::optional<std::uint32_t> input_of(ValueId value) const;

  const PlannedProgram& planned_;
  const Graph& graph_;
  const PlanOptions& options_;
  Program& program_;
  std::vector<bool> stored_;
  std::unordered_map<std::uint32_t, BufferRef> buffers_;
};

/// Says, once all steps are made, which of them use each temporary first and last. Steps that are
/// launched together use their temporaries at the same time.
void set_lifetimes(Program& program);

}  // namespace heddle::passes

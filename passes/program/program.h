#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heddle/precision.h"

#include "ir/graph/graph.h"
#include "passes/program/step.h"

namespace heddle::passes {

/// A temporary buffer. It is live from its first step to its last, inclusive. All temporaries share
/// one arena.
struct Temporary {
  Dim bytes;
  std::uint32_t first_step = 0, last_step = 0;
};

/// Bytes of the widest access of a kernel. Memory is aligned to this unless it says otherwise.
inline constexpr int whole_access = 16;

struct ProgramInput {
  ir::Type type;
  bool scalar = false;   ///< passed by value
  bool donated = false;  ///< the program may overwrite its memory
  /// Of the address, in bytes, as kernels assume it: whole_access, or the size of an element.
  int alignment = whole_access;
};

struct ProgramOutput {
  ir::Type type;
  /// The input that shares the output's memory: donated and updated in place, or returned
  /// unchanged.
  std::optional<std::uint32_t> input;
  /// The earlier output that is the same array.
  std::optional<std::uint32_t> output;
  int alignment = whole_access;  ///< of memory of its own, as ProgramInput::alignment
};

/// The executable program: steps in order, over inputs, outputs and temporaries. Contains
/// everything that the runtime needs. Kernels are given by the names of their modules, without
/// their texts. Serialised by to_json and program_from_json.
struct Program {
  std::string name;
  std::vector<ProgramInput> inputs;
  std::vector<ProgramOutput> outputs;
  std::vector<Temporary> temporaries;
  std::vector<ir::SymbolFact> facts;
  std::vector<ir::Requirement> requirements;  ///< of the graph before the passes
  std::vector<std::string> kernel_names;
  std::vector<Step> steps;
};

/// The offset of each temporary in the arena, for given sizes.
struct Arena {
  std::vector<std::int64_t> offsets;  ///< bytes, multiples of 256
  std::int64_t bytes = 0;
};
/// Places temporaries so that those live at the same step do not overlap. `sizes[i]` is the size of
/// temporary i in bytes. Tries a few orders, places each temporary at the lowest free offset, and
/// returns the smallest arena. Deterministic.
Arena plan_arena(const std::vector<Temporary>& temporaries, const std::vector<std::int64_t>& sizes);

std::string to_json(const Program& program);
/// Inverse of to_json. Throws ParseError.
Program program_from_json(std::string_view text);

}  // namespace heddle::passes

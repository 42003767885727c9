#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heddle/precision.h"

#include "ir/graph/graph.h"
#include "passes/program/step.h"

namespace heddle::passes {

/// A temporary lives from its first step to its last, both included. All share one arena.
struct Temporary {
  Dim bytes;
  std::uint32_t first_step = 0, last_step = 0;
};

struct ProgramInput {
  ir::Type type;
  bool scalar = false;   ///< passed by value
  bool donated = false;  ///< the program may write its memory
  int alignment = 16;    ///< bytes that kernels rely on: 16, or the element size
};

struct ProgramOutput {
  ir::Type type;
  /// The output is that input's memory: donated and updated in place, or passed through unchanged.
  std::optional<std::uint32_t> input;
  /// The output is the same array as that earlier one.
  std::optional<std::uint32_t> output;
};

/// Ordered steps over inputs, outputs and temporaries: all that the runtime needs. Serializes with
/// to_json / from_json, and names its kernels' modules, not their text.
struct Program {
  std::string name;
  std::vector<ProgramInput> inputs;
  std::vector<ProgramOutput> outputs;
  std::vector<Temporary> temporaries;
  std::vector<ir::SymbolFact> facts;
  std::vector<ir::Requirement> requirements;  ///< of the graph as it was before the passes
  std::vector<std::string> kernel_names;
  std::vector<Step> steps;
};

/// Where each temporary starts in the arena, for concrete sizes.
struct Arena {
  std::vector<std::int64_t> offsets;  ///< bytes, multiples of 256
  std::int64_t bytes = 0;
};
/// Places temporaries so that two that live at the same step do not overlap. `sizes[i]` is
/// temporary i's bytes. Deterministic: the smallest arena of a few orders, each value at the lowest
/// offset that fits.
Arena plan_arena(const std::vector<Temporary>& temporaries, const std::vector<std::int64_t>& sizes);

std::string to_json(const Program& program);
/// Throws ParseError.
Program program_from_json(std::string_view text);

}  // namespace heddle::passes

#pragma once

#include <memory>
#include <vector>

#include "ir/base/hash.h"
#include "runtime/execute/executable.h"

namespace heddle::runtime {

/// A program for a graph, which may be one for graphs of other extents too.
struct SiteProgram {
  std::shared_ptr<const Executable> executable;
  std::vector<Argument> extras;  ///< arguments that it takes behind the graph's own
  /// What it was made of, for CallerLines; null where that is the graph itself.
  std::shared_ptr<const ir::Graph> general;
};

/// Executable::get() for a graph that one place of the user's program has recorded. A place that
/// has met two graphs which only differ in extents and numbers makes of the next a program for all
/// of them, with symbols for extents and scalar arguments for constants, where inference can tell
/// that they fit. Its sums may run in another order than those of a program for the extents alone.
/// One that goes on making programs is named once in a warning, with what has changed. The switch
/// "symbols" (CompileOptions::disabled) keeps to a program for each graph.
SiteProgram program_at(const ir::Hash128& site, const ir::Graph& graph,
                       const CompileOptions& options, const Device& device);

/// Nothing will be recorded at the place any more.
void forget_place(const ir::Hash128& site);

/// Programs that a place may make before the warning.
inline constexpr int many_programs = 16;

}  // namespace heddle::runtime

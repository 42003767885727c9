#pragma once

#include <memory>
#include <vector>

#include "ir/base/hash.h"
#include "runtime/execute/executable.h"

namespace heddle::runtime {

/// A program for a graph. It may serve graphs with other extents too.
struct SiteProgram {
  std::shared_ptr<const Executable> executable;
  std::vector<Argument> extras;  ///< arguments that it takes after the graph's own
  /// The graph that it was compiled from, for CallerLocations; null if that is the graph itself.
  std::shared_ptr<const ir::Graph> general;
};

/// Executable::get() for a graph recorded at one call site of the user's program. When a call site
/// has recorded two graphs that differ only in extents and numbers, the next such graph gets a
/// program for all of them, with symbols for extents and scalar arguments for constants, if
/// inference can prove that it is valid. Its reductions may add in another order than those of a
/// program for fixed extents. A call site that keeps making programs is reported once in a warning,
/// with the difference. If "symbols" is disabled (CompileOptions::disabled), every graph gets its
/// own program.
SiteProgram executable_for_site(const ir::Hash128& site, const ir::Graph& graph,
                                const CompileOptions& options, const Device& device);

/// Discards the state of a call site that will record nothing more.
void forget_call_site(const ir::Hash128& site);

/// Number of programs that a call site may make before the warning.
inline constexpr int many_programs = 16;

}  // namespace heddle::runtime

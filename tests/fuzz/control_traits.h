#pragma once

#include <set>
#include <span>
#include <string>

#include "ir/graph/graph.h"

namespace heddle::test {

/// What every graph with control.scan, control.while or control.switch has.
inline constexpr const char* loop_or_branch = "loop or branch";

/// The names that add_control_traits adds.
std::span<const char* const> control_traits();

/// Adds what a loop or branch and its regions have, for these values of the graph's symbols.
/// Nothing for other calls.
void add_control_traits(const ir::CallData& call, const ir::SymbolBindings& bindings,
                        std::set<std::string>& traits);

}  // namespace heddle::test

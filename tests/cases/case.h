#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/graph.h"
#include "runtime/execute/executable.h"

namespace heddle::test {

/// A graph with everything that one run of it needs.
struct Case {
  ir::Graph graph;
  ir::SymbolBindings bindings;
  std::vector<ir::HostArray> inputs;  ///< in parameter order, scalars 0-d
  runtime::CompileOptions options;    ///< strict, donated, aligned; `disabled` says what `off` is
};

/// The shape with its symbols bound.
ir::Shape bound(const ir::Shape& shape, const ir::SymbolBindings& bindings);

/// The graph's text under comment lines that say the rest. An input is given by its seed where it
/// is moderate_sample's of one, else by its bytes.
std::string to_text(const Case& one);
/// Inverse of to_text. Throws ParseError.
Case parse_case(std::string_view text);

/// The nodes that an output needs.
std::vector<bool> needed_nodes(const ir::Graph& graph);

}  // namespace heddle::test

#pragma once

#include <string_view>

#include "frontend/graph/record.h"

namespace heddle::frontend {

/// Operands of a search in their common dtype; bool is converted to u8.
struct Searched {
  NodeRef sorted, values;
};
/// ShapeError unless `sorted` is 1-d.
Searched promoted_search(std::string_view op, const Operand& sorted, const Operand& values);

}  // namespace heddle::frontend
